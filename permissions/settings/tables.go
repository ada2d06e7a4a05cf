package settings

import (
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Unlimited, for a number of characters, is no bound, and unlimited its name in
// files.
const (
	Unlimited = -1
	unlimited = "unlimited"
)

// The least and most that bounds may be set to.
const (
	// MaxConcurrent is the most calls that may be let run at once.
	MaxConcurrent = 1000
	// maxBound is the most of everything else that is counted.
	maxBound = 1_000_000_000
	// maxKeep is the longest that sessions and their histories may be kept.
	maxKeep = 10 * 365 * 24 * time.Hour
	// minHistory and maxHistory bound the size of a session's history.
	minHistory, maxHistory = 1 << 20, 1 << 40
	// minRotate and maxRotate bound the size of one file of the log.
	minRotate, maxRotate = 16 << 10, 1 << 30
)

// How much of the inputs of calls is logged.
const (
	LogHash     = "hash"
	LogRedacted = "redacted"
	LogFull     = "full"
)

// What of a long result a preview shows.
const (
	PreviewStart = "start"
	PreviewEnd   = "end"
	PreviewBoth  = "both"
)

// Results is the table [results]: what results may take of a model's context.
type Results struct {
	// MaxChars bounds one result where its tool has no smaller limit, and
	// MaxTurnChars all of one turn, in code points, or Unlimited.
	MaxChars, MaxTurnChars Key[int]
	// Strategy is one of the Preview constants.
	Strategy Key[string]
	// Duplicates has a result that an earlier one says already replaced by a
	// reference to it.
	Duplicates Key[bool]
	// Tools are for single tools, by name.
	Tools map[string]ToolResults
}

// ToolResults is a table [results.tools.NAME]: the word on one tool.
type ToolResults struct {
	// MaxChars takes the place of the tool's own limit.
	MaxChars Key[int]
	Strategy Key[string]
}

// What lets calls run side by side.
const (
	// ByLocks is that they do not touch the same.
	ByLocks = "locks"
	// ByBatch is that they are safe, and next to each other.
	ByBatch = "batch"
)

// How far the failure of a call reaches whose tool has the trait cascade.
const (
	CascadeBatch = "batch"
	CascadeTurn  = "turn"
	CascadeOff   = "off"
)

// Scheduler is the table [scheduler]: when calls run.
type Scheduler struct {
	// Mode is ByLocks or ByBatch.
	Mode Key[string]
	// MaxConcurrent bounds the calls of a turn that run at once, MaxCalls those of
	// all sessions of a process, and MaxPerPlugin those of one plugin among them.
	MaxConcurrent, MaxCalls, MaxPerPlugin Key[int]
	// Cascade is one of the Cascade constants.
	Cascade Key[string]
}

// The lists of tools that have names.
const (
	PresetFull    = "full"
	PresetMinimal = "minimal"
)

// When tools are listed by name alone.
const (
	DeferAuto   = "auto"
	DeferAlways = "always"
	DeferNever  = "never"
)

// Tools is the table [tools]: which tools models are told of.
type Tools struct {
	// Preset is one of the Preset constants, and Only are names of tools. At most
	// one of them is set.
	Preset Key[string]
	Only   Key[[]string]
	// Also are names of tools that are off by default. Projects have no say in it.
	Also Key[[]string]
	// Defer is one of the Defer constants.
	Defer Key[string]
	// DeferOverTools and DeferOverChars are how many tools, or code points of their
	// definitions, are too many to tell of.
	DeferOverTools, DeferOverChars Key[int]
}

// What models keep their work with.
const (
	// KindTasks are tasks that agents share: TaskCreate, TaskGet, TaskUpdate and TaskList.
	KindTasks = "tasks"
	// KindTodo is a list of todos of each agent: TodoWrite.
	KindTodo = "todo"
)

// Tasks is the table [tasks]: lists of work.
type Tasks struct {
	// Kind is one of the Kind constants; not set is KindTasks. Models are never offered
	// both.
	Kind Key[string]
}

// Sessions is the table [sessions]: where sessions keep what they must find
// again. Projects have no say in it.
type Sessions struct {
	// Directory is absolute, or begins with ~/ in a [File].
	Directory Key[string]
	// Keep is for how long the folder of a session nobody uses is kept.
	Keep Key[time.Duration]
	// History keeps what files were before tools write them, HistoryKeep for how
	// long, and HistoryMax how much of it for each session, compressed. HistoryExcept are
	// names of directories in which the changes of commands are not kept.
	History       Key[bool]
	HistoryKeep   Key[time.Duration]
	HistoryMax    Key[abi.Size]
	HistoryExcept Key[[]string]
}

// fill takes all but the directory, which is looked up first.
func (s *Sessions) fill(f Sessions) {
	s.Keep, s.History = s.Keep.Or(f.Keep), s.History.Or(f.History)
	s.HistoryKeep, s.HistoryMax = s.HistoryKeep.Or(f.HistoryKeep), s.HistoryMax.Or(f.HistoryMax)
	s.HistoryExcept = s.HistoryExcept.Or(f.HistoryExcept)
}

// Storage is the table [storage]: what of the user's state is forgotten. Projects have no say
// in it.
type Storage struct {
	// Keep is for how long what nobody uses is kept; of sessions, [Sessions] may say otherwise.
	Keep Key[time.Duration]
	// Max is how many bytes sessions, and caches, may have before what was used least recently
	// goes.
	Max Key[abi.Size]
}

func (s *Storage) fill(f Storage) { s.Keep, s.Max = s.Keep.Or(f.Keep), s.Max.Or(f.Max) }

// Telemetry is the table [telemetry]: who is sent traces and metrics. Projects
// have no say in it.
type Telemetry struct {
	// Endpoint is the OTLP receiver's URL, without the path of a signal.
	Endpoint Key[string]
	// Headers are HTTP headers to send, each with the name of the environment
	// variable that holds its value. The value itself never stands in settings.
	Headers Key[map[string]string]
	// Content records inputs and results of calls too, which may hold anything.
	Content Key[bool]
}

// Network is the table [network]: how this process reaches what it connects to itself, such
// as MCP servers and judges. Projects have no say in it.
type Network struct {
	// Proxy is the URL of a proxy of HTTP.
	Proxy Key[string]
}

// Where tokens of MCP servers are kept.
const (
	StoreFile    = "file"
	StoreKeyring = "keyring"
)

// Credentials is the table [credentials]: where tokens are kept. Projects have no say in it.
type Credentials struct {
	// Store is one of the Store constants.
	Store Key[string]
}

// fill takes what is not set from a file that weighs less.
func (r *Results) fill(f Results) {
	r.MaxChars, r.MaxTurnChars = r.MaxChars.Or(f.MaxChars), r.MaxTurnChars.Or(f.MaxTurnChars)
	r.Strategy, r.Duplicates = r.Strategy.Or(f.Strategy), r.Duplicates.Or(f.Duplicates)
	for name, t := range f.Tools {
		if r.Tools == nil {
			r.Tools = make(map[string]ToolResults)
		}
		mine := r.Tools[name]
		r.Tools[name] = ToolResults{MaxChars: mine.MaxChars.Or(t.MaxChars), Strategy: mine.Strategy.Or(t.Strategy)}
	}
}

func (s *Scheduler) fill(f Scheduler) {
	s.Mode, s.Cascade = s.Mode.Or(f.Mode), s.Cascade.Or(f.Cascade)
	s.MaxConcurrent, s.MaxCalls = s.MaxConcurrent.Or(f.MaxConcurrent), s.MaxCalls.Or(f.MaxCalls)
	s.MaxPerPlugin = s.MaxPerPlugin.Or(f.MaxPerPlugin)
}

func (t *Tools) fill(f Tools) {
	if !t.Preset.Set && !t.Only.Set { // they say the same in two ways
		t.Preset, t.Only = f.Preset, f.Only
	}
	t.Also, t.Defer = t.Also.Or(f.Also), t.Defer.Or(f.Defer)
	t.DeferOverTools, t.DeferOverChars = t.DeferOverTools.Or(f.DeferOverTools), t.DeferOverChars.Or(f.DeferOverChars)
}

// fill takes the endpoint with its headers: they are for nobody else.
func (t *Telemetry) fill(f Telemetry) {
	if !t.Endpoint.Set {
		t.Endpoint, t.Headers = f.Endpoint, f.Headers
	}
	t.Content = t.Content.Or(f.Content)
}
