package stream

import (
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/permissions"
)

// Protocol is the version of the lines that go out and of those that are taken as
// [JSONL]. It grows only where something that is said today would mean something
// else. New types of line, keys and words may come without that, so who reads the
// lines passes over what it does not know.
const Protocol = 1

// Opening is the first line of a report.
type Opening struct {
	Type     string    `json:"type"` // session
	Time     time.Time `json:"time"`
	Protocol int       `json:"protocol"`
	// Version is the program's.
	Version string `json:"version"`
	// Session is the session's id, to go on in it another time.
	Session string `json:"session"`
	Cwd     string `json:"cwd"`
	// Tools are the names of the tools that are offered.
	Tools []string `json:"tools"`
}

// NewOpening opens the report of a session, by a program of some version.
func NewOpening(s *host.Session, version string) Opening {
	o := Opening{"session", now(time.Now()), Protocol, version, s.ID(), s.Cwd(), []string{}}
	states, err := s.Tools(host.FormatAnthropic)
	if err != nil {
		return o // which of them cannot be told, a call of it says
	}
	for _, t := range states {
		if t.NotOffered == nil {
			o.Tools = append(o.Tools, t.Name)
		}
	}
	return o
}

// Tools says that the tools have changed that can be called from the next turn on.
type Tools struct {
	Type string    `json:"type"` // tools
	Time time.Time `json:"time"`

	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// newTools is the line for a [host.EventTools].
func newTools(e host.Event) Tools {
	return Tools{"tools", now(e.Time), e.Tools.Added, e.Tools.Changed, e.Tools.Removed}
}

// Plugin says that a plugin cannot be used. It is of no turn, and comes behind the opening
// for those that are there then, and later for those that come or change.
type Plugin struct {
	Type string    `json:"type"` // plugin
	Time time.Time `json:"time"`

	Plugin  string `json:"plugin"`
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// NewPlugin is the line for a [host.EventPlugin].
func NewPlugin(e host.Event) Plugin {
	return Plugin{"plugin", now(e.Time), e.Plugin.Name, e.Plugin.Path, e.Plugin.Err.Error()}
}

// Task says that a background task of the session began or ended. It is of no turn.
type Task struct {
	Type string    `json:"type"` // task
	Time time.Time `json:"time"`
	About

	Task *capability.TaskInfo `json:"task"`

	From
}

// GitEvent says what a command did that is worth knowing of, such as a commit. Turn is 0
// where the command did it in the background, after its call had ended.
type GitEvent struct {
	Head
	About

	Program string                  `json:"program"` // git, gh, glab or curl
	Event   capability.GitEventKind `json:"deed"`
	Commit  string                  `json:"commit,omitempty"`
	Branch  string                  `json:"branch,omitempty"`
	Remote  string                  `json:"remote,omitempty"`
	Subject string                  `json:"subject,omitempty"`
	Number  int                     `json:"number,omitempty"`
	URL     string                  `json:"url,omitempty"`
	Forced  bool                    `json:"forced,omitempty"`

	From
}

func gitEventOf(head Head, e host.Event) GitEvent {
	d := e.Git
	return GitEvent{
		Head: head, About: aboutOf(e), Program: d.Program, Event: d.Kind, Commit: d.Commit, Branch: d.Branch, Remote: d.Remote,
		Subject: d.Subject, Number: d.Number, URL: d.URL, Forced: d.Forced, From: fromOf(e),
	}
}

// Head is what the lines of a turn begin with.
type Head struct {
	// Type says which line it is: the types below, in lower case.
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	// Turn counts the turns of a stream, from 1.
	Turn int `json:"turn"`
	// ElapsedMS is the time since the call was queued, with a Started; since the turn
	// began, with a Done; and else since the call's tool began to run. It is in
	// milliseconds. A Result has the time until it left, which may have been for a call
	// before it: how long the call itself took is from its started to its ended.
	ElapsedMS float64 `json:"elapsed_ms"`
}

// About says which call a line is about. Title is one line for people, and Display another
// one, which the tool words: what the call does, in a Queued, a Started, a Permission and a Question;
// how far it has come, in a Progress; what came of it or why nothing did, in a Finished. It is
// safe to show, behind the tool's name.
type About struct {
	ToolUseID string `json:"tool_use_id"`
	Tool      string `json:"tool"`
	Title     string `json:"title,omitempty"`
	Display   string `json:"display,omitempty"`
	OfServer
}

// OfServer says which MCP server a call's tool is of, and that server's own name for it. Both
// are left out where it is of none.
type OfServer struct {
	Server     string `json:"server,omitempty"`
	ServerTool string `json:"server_tool,omitempty"`
}

// From says in which session it happens, and who makes the calls of the turn.
type From struct {
	Session string `json:"session"`
	host.Caller
}

func aboutOf(e host.Event) About { return About{e.CallID, e.Tool, e.Title, e.Line, serverOf(e)} }

func serverOf(e host.Event) OfServer { return OfServer{e.Server.Name, e.Server.Tool} }

func fromOf(e host.Event) From { return From{e.Session, e.Caller} }

// Queued says that a call waits for its turn. Display says what it will do.
type Queued struct {
	Head
	About
	From
}

// Started says that a call's tool runs.
type Started struct {
	Head
	About
	From
}

// Finished says that a call to an MCP server has ended, while its result may still wait for
// those before it. Calls of other tools have none. Code and Cause are as in [Result], but for
// Cause, which a failure has too.
type Finished struct {
	Head
	About

	State message.State `json:"state"`
	Code  abi.Code      `json:"code,omitempty"`
	Cause string        `json:"cause,omitempty"`

	From
}

// Progress is how far a call has come. Output is what it has put out since its last
// one, Tail the end of all of it, which Lines and Bytes count.
type Progress struct {
	Head
	About
	abi.Progress

	Tail  string `json:"tail,omitempty"`
	Lines int64  `json:"lines,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`

	From
}

// Log is a line that a call's tool logged, or the host about it. These come where
// [Reporter].Logs asks for them.
type Log struct {
	Head
	About

	// Level is debug, info, warn or error.
	Level string `json:"level"`
	// Message has at most maxLog bytes; of more the end is cut.
	Message string `json:"message"`

	From
}

// Permission is a question to the person: may this call do this?
type Permission struct {
	Head
	About

	// Approval is the question's id, for the [Answer]. Answerable says that the
	// stream takes one; else somebody else is asked.
	Approval   string `json:"approval"`
	Answerable bool   `json:"answerable"`
	Plugin     string `json:"plugin,omitempty"`
	Worker     string `json:"worker,omitempty"`
	// Capability is set where the call runs already: the operation it wants done.
	Capability string          `json:"capability,omitempty"`
	Input      json.RawMessage `json:"input"`
	Accesses   []Access        `json:"accesses"`
	Grounds

	Offers []host.RememberOption `json:"offers,omitempty"` // as Remember in [host.Approval]
	// DenyEndsTurn says that the user wants a person's plain no to end the turn: where
	// a person answers, the [Answer] says so with EndTurn.
	DenyEndsTurn bool `json:"deny_ends_turn,omitempty"`

	From
}

// Question asks the person for more than a permission: to fill in a form, to open a URL, to
// choose, or to accept a plan. All of it is the tool's, so show which tool asks.
type Question struct {
	Head
	About

	// Question is its id, for the [Answer]. Answerable is as in [Permission].
	Question   string            `json:"question"`
	Kind       host.QuestionKind `json:"kind"`
	Answerable bool              `json:"answerable"`
	Plugin     string            `json:"plugin,omitempty"`
	Worker     string            `json:"worker,omitempty"`
	Message    string            `json:"message,omitempty"`
	// Schema is of a form, as in [host.Form], and URL what is to be opened.
	Schema json.RawMessage `json:"schema,omitempty"`
	URL    string          `json:"url,omitempty"`
	// Choice and Plan are as in [host.Choice] and [host.PlanQuestion].
	Choice *host.Choice       `json:"choice,omitempty"`
	Plan   *host.PlanQuestion `json:"plan,omitempty"`

	From
}

// Answered says that a [Question] is over: with an answer, or without, and then why. It does
// not come where the call has its result before.
type Answered struct {
	Head
	About

	Question string      `json:"question"`
	Answer   host.Answer `json:"answer,omitempty"`
	Cause    string      `json:"cause,omitempty"`

	From
}

// Grounds are why it is asked. Reason is the strongest one; Reasons and Preview are as in
// [host.Approval].
type Grounds struct {
	Reason  string   `json:"reason,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	Preview string   `json:"preview,omitempty"`
}

// Access is one effect of a call. Real is where a path really lies, if elsewhere.
type Access struct {
	Kind   permissions.AccessKind `json:"kind"`
	Target string                 `json:"target"`
	Real   string                 `json:"real,omitempty"`
}

// Result is a call's result, or as a line of the type "replaced" what takes its
// place: the results of the turn were too much together.
type Result struct {
	Head
	message.Record

	Title string `json:"title,omitempty"`
	// Display is what came of the call, or why nothing did, in one line; see [About].
	Display string `json:"display,omitempty"`
	OfServer

	State message.State `json:"state"`
	// Cause is why it was not run to its end, where it was denied, cancelled or
	// interrupted.
	Cause string `json:"cause,omitempty"`
	// Stored is where the whole of it lies, if it was replaced.
	Stored *host.StoredResult `json:"stored,omitempty"`

	From
}

// Persisted says that a result was too long, and where the whole of it lies.
type Persisted struct {
	Head
	About

	Stored *host.StoredResult `json:"stored"`

	From
}

// Discarded says that a call has no result, its message being void, and what it
// had done by then.
type Discarded struct {
	Head
	About

	Effects []Access `json:"effects"`

	From
}

// Interruptible says whether an interrupt would now end all that runs.
type Interruptible struct {
	Head

	Interruptible bool `json:"interruptible"`

	From
}

// Message is a word to the person: a hook's, or with a Status the model's.
type Message struct {
	Head
	About

	Message string `json:"message"`
	// Status, Attachments and SentAt are as in [capability.Said].
	Status      string                      `json:"status,omitempty"`
	Attachments []capability.SaidAttachment `json:"attachments,omitempty"`
	SentAt      time.Time                   `json:"sent_at,omitzero"`
	// Plugin is the one whose tool says it.
	Plugin string `json:"plugin,omitempty"`

	From
}

// Done ends a turn.
type Done struct {
	Head

	Calls       int `json:"calls"`
	OK          int `json:"ok"`
	Failed      int `json:"failed"`
	Denied      int `json:"denied"`
	Cancelled   int `json:"cancelled"`
	Interrupted int `json:"interrupted"`
	Discarded   int `json:"discarded"`
	// GoOn says that the results are for the model to go on with. It is false where
	// the turn was discarded, or Stop says why not.
	GoOn bool   `json:"go_on"`
	Stop string `json:"stop,omitempty"`
	// StopReason is why the model stopped, in the words of its API.
	StopReason string `json:"stop_reason,omitempty"`
	// Output is the structured output of the turn, if it has one.
	Output json.RawMessage `json:"output,omitempty"`

	From
}

// Fault is a part of the input that could not be read, and was passed over. It has
// no turn of its own and may cost a call, which then has no result.
type Fault struct {
	Type string    `json:"type"` // error
	Time time.Time `json:"time"`
	// Line is the input's, counted from 1.
	Line      int      `json:"line"`
	Code      abi.Code `json:"code"`
	Message   string   `json:"message"`
	ToolUseID string   `json:"tool_use_id,omitempty"`
	Tool      string   `json:"tool,omitempty"`
}

// NewFault is the fault that an item tells of.
func NewFault(i Item) Fault {
	return Fault{
		Type: "error", Time: now(time.Now()), Line: i.Line, Code: abi.CodeOf(i.Err), Message: i.Err.Error(),
		ToolUseID: i.Call.ID, Tool: i.Call.Name,
	}
}

// now is a time as lines have it: in UTC, to the microsecond.
func now(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
