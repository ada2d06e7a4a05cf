package settings

import (
	"net/url"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// File is what one settings file says, or what a command line or a session does
// that stands in no file.
type File struct {
	// Kind is whose settings these are.
	Kind permissions.SourceKind
	// Path is the file; empty for settings that stand in none.
	Path string

	Deny, Ask, Allow []Rule
	// Mode is the mode that a session begins in.
	Mode Key[permissions.Mode]
	// Directories are additional working directories, as written.
	Directories []Key[string]
	// Isolation is what walls plugins that are not built in run behind.
	Isolation    Key[abi.Isolation]
	PluginConfig PluginConfig
	// Hooks are in the order of the file, event by event.
	Hooks     []Hook
	Judge     *Judge
	Log       Log
	Approvals Approvals
	Results   Results
	Scheduler Scheduler
	Tools     Tools
	Tasks     Tasks
	Sessions  Sessions
	Storage   Storage
	Telemetry Telemetry
	Shell     Shell
	Sandbox   Sandbox
	// Servers are MCP servers by name.
	Servers     map[string]Server
	Network     Network
	Credentials Credentials
	// Policy is what only a policy may say.
	Policy Policy

	// Notes are what its writer may not expect of it.
	Notes []permissions.Warning
}

// source is a place in the file; line 0 is the file as a whole.
func (f *File) source(line int) permissions.Source {
	return permissions.Source{Kind: f.Kind, File: f.Path, Line: line}
}

func (f *File) note(line int, message string) {
	f.Notes = append(f.Notes, permissions.Warning{Source: f.source(line), Message: message})
}

// Key is a setting with where it was made.
type Key[T any] struct {
	Value T
	// Set says that the setting was made at all.
	Set    bool
	Source permissions.Source
}

// Or returns the setting, or another where it was not made.
func (k Key[T]) Or(other Key[T]) Key[T] {
	if k.Set {
		return k
	}
	return other
}

// Rule is an entry of a list of rules.
type Rule struct {
	// Text is the rule, such as Bash(git status:*).
	Text string
	// Match and NotMatch are the rule's own examples: calls that it must bind,
	// and calls that it must not.
	Match, NotMatch []string
	// Expires is when the rule no longer counts; the zero time is never.
	Expires time.Time
	// Line is its line in the file; 0 is unknown.
	Line int
}

// Rules returns rules that stand in no file.
func Rules(texts ...string) []Rule {
	out := make([]Rule, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}

// expired reports whether the rule counts no longer.
func (r *Rule) expired(now time.Time) bool { return !r.Expires.IsZero() && !now.Before(r.Expires) }

// Event is what a hook is run at.
type Event string

// The events.
const (
	PreToolUse         Event = "PreToolUse"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	TaskCreated        Event = "TaskCreated"
	TaskCompleted      Event = "TaskCompleted"
	WorktreeCreated    Event = "WorktreeCreated"
	WorktreeRemoved    Event = "WorktreeRemoved"
)

// Events lists the events.
func Events() []Event {
	return []Event{PreToolUse, PostToolUse, PostToolUseFailure, TaskCreated, TaskCompleted, WorktreeCreated, WorktreeRemoved}
}

// The limits of a hook's time.
const (
	DefaultHookTimeout = 60 * time.Second
	MaxHookTimeout     = 10 * time.Minute
)

// Hook is a command that is run at an event.
type Hook struct {
	Event Event
	// Matcher says for which tools: an exact name, names separated by |, or a
	// glob. Empty is all.
	Matcher string
	// Command is the program and its arguments. One that was written as a string
	// is given to sh -c.
	Command []string
	// Timeout is how long it may take, at most [MaxHookTimeout].
	Timeout time.Duration
	// Env names the environment variables that it gets beside the usual ones.
	Env    []string
	Source permissions.Source
}

// The wire formats that a judge may be spoken to in.
const (
	ProviderAnthropic = "anthropic"
	ProviderOpenAI    = "openai"
)

// What a judge gets where the settings do not say.
const (
	DefaultJudgeTimeout   = 30 * time.Second
	MaxJudgeTimeout       = 10 * time.Minute
	DefaultJudgeMaxTokens = 2048
	MaxJudgeMaxTokens     = 1 << 16
)

// Judge is a model that is asked in mode auto about what rules leave open.
type Judge struct {
	// Provider is [ProviderAnthropic] or [ProviderOpenAI].
	Provider string
	// BaseURL is where the model's API is, https but for the machine itself; nil
	// is the provider's usual place.
	BaseURL *url.URL
	Model   string
	// APIKeyEnv names the environment variable that holds the key; empty is none.
	// The key itself never stands in settings.
	APIKeyEnv string
	Timeout   time.Duration
	// MaxTokens bounds the model's answer.
	MaxTokens int
	Source    permissions.Source
}

// Log is where decisions are written down. Projects have no say in it.
type Log struct {
	// Directory is absolute, or begins with ~/ in a [File].
	Directory Key[string]
	// Required refuses calls whose decision cannot be written down. Any source
	// may demand it, none may waive it for another.
	Required Key[bool]
	// Inputs is how much of the inputs of calls is logged: hash, redacted or full.
	Inputs Key[string]
	// RotateAt and RotateAfter are the size and the age at which a new file begins, Keep and
	// Max how long, and how many bytes of, the files before it are kept.
	RotateAt    Key[abi.Size]
	RotateAfter Key[time.Duration]
	Keep        Key[time.Duration]
	Max         Key[abi.Size]
}

// fill takes all but the directory, which is looked up first, and what is demanded.
func (l *Log) fill(f Log) {
	l.Inputs, l.RotateAt, l.RotateAfter = l.Inputs.Or(f.Inputs), l.RotateAt.Or(f.RotateAt), l.RotateAfter.Or(f.RotateAfter)
	l.Keep, l.Max = l.Keep.Or(f.Keep), l.Max.Or(f.Max)
}

// AlwaysTo is where "allow always" writes its rule.
type AlwaysTo string

// The places. AlwaysToNone offers no "always" at all.
const (
	AlwaysToSession      AlwaysTo = "session"
	AlwaysToProjectLocal AlwaysTo = "project-local"
	AlwaysToProject      AlwaysTo = "project"
	AlwaysToUser         AlwaysTo = "user"
	AlwaysToNone         AlwaysTo = "none"
)

// Approvals are how a person is asked. Projects have no say in it.
type Approvals struct {
	// Timeout is how long a question waits before it counts as denied; 0 is
	// without end.
	Timeout Key[time.Duration]
	// AlwaysTo is what is proposed first where a person allows always.
	AlwaysTo Key[AlwaysTo]
	// DenyEndsTurn says that a plain no of the person ends the main agent's turn.
	DenyEndsTurn Key[bool]
}

// Policy is what only a policy may say.
type Policy struct {
	// OnlyRules makes allow rules of other sources grant nothing.
	OnlyRules Key[bool]
	// OnlyHooks leaves out the hooks of other sources.
	OnlyHooks Key[bool]
	// OnlyServers leaves out the MCP servers of other sources.
	OnlyServers Key[bool]
	// ForbidModes are modes that nobody may use.
	ForbidModes []Key[permissions.Mode]
	// RequireLog refuses calls whose decision cannot be written down.
	RequireLog Key[bool]
}

// projects reports whether a source is what a repository brings.
func projects(kind permissions.SourceKind) bool {
	return kind == permissions.SourceProject || kind == permissions.SourceProjectLocal
}
