package stream

import (
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/results"
	"github.com/toolquay/toolquay/permissions"
)

// Head is what every line of a report begins with.
type Head struct {
	// Type says which line it is: the types below, in lower case.
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	// Turn counts the turns of a stream, from 1.
	Turn int `json:"turn"`
	// ElapsedMS is the time since the call was queued, with a Started; since the turn
	// began, with a Done; and else since the call's tool began to run. It is in
	// milliseconds.
	ElapsedMS float64 `json:"elapsed_ms"`
}

// About says which call a line is about. Title is one line for people.
type About struct {
	ToolUseID string `json:"tool_use_id"`
	Tool      string `json:"tool"`
	Title     string `json:"title,omitempty"`
}

// Started says that a call's tool runs.
type Started struct {
	Head
	About
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
	// Capability is set where the call runs already: the operation it wants done.
	Capability string          `json:"capability,omitempty"`
	Input      json.RawMessage `json:"input"`
	Accesses   []Access        `json:"accesses"`
	// Reason is why it is asked. Preview and Offers are as in [host.Approval].
	Reason  string       `json:"reason,omitempty"`
	Preview string       `json:"preview,omitempty"`
	Offers  []host.Offer `json:"offers,omitempty"`
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

	Title string        `json:"title,omitempty"`
	State message.State `json:"state"`
	// Cause is why it was not run to its end, where it was denied, cancelled or
	// interrupted.
	Cause string `json:"cause,omitempty"`
	// Stored is where the whole of it lies, if it was replaced.
	Stored *results.Stored `json:"stored,omitempty"`
}

// Persisted says that a result was too long, and where the whole of it lies.
type Persisted struct {
	Head
	About

	Stored *results.Stored `json:"stored"`
}

// Discarded says that a call has no result, its message being void, and what it
// had done by then.
type Discarded struct {
	Head
	About

	Effects []Access `json:"effects"`
}

// Interruptible says whether an interrupt would now end all that runs.
type Interruptible struct {
	Head

	Interruptible bool `json:"interruptible"`
}

// Message is a hook's word to the person.
type Message struct {
	Head
	About

	Message string `json:"message"`
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

// Reporter makes the lines of one turn out of its events.
type Reporter struct {
	// Answerable says that permissions are answered over the stream.
	Answerable bool

	turn     int
	began    time.Time
	recorder message.Recorder
	done     Done
}

// NewReporter reports on a turn that begins now.
func NewReporter(turn int) *Reporter { return &Reporter{turn: turn, began: time.Now()} }

// Line is the line for an event, to be written as JSON, or nil where it has none.
func (r *Reporter) Line(e host.Event) any {
	record, isResult := r.recorder.Add(e)
	if isResult {
		return r.result(e, record)
	}
	head, about := r.head(e), About{e.CallID, e.Tool, e.Title}
	switch e.Kind {
	case host.EventStarted:
		return Started{head, about}
	case host.EventProgress:
		return Progress{head, about, e.Progress.Progress, e.Progress.Tail, e.Progress.Lines, e.Progress.Bytes}
	case host.EventNeedsApproval:
		return r.permission(head, about, e.Approval)
	case host.EventPersisted:
		return Persisted{head, about, e.Stored}
	case host.EventDiscarded:
		r.done.Calls++
		r.done.Discarded++
		return Discarded{head, about, accesses(e.Effects)}
	case host.EventInterruptible:
		return Interruptible{head, e.Interruptible}
	case host.EventMessage:
		return Message{head, about, e.Reason}
	case host.EventStop:
		r.done.Stop = e.Reason
	}
	return nil
}

func (r *Reporter) head(e host.Event) Head {
	kind := string(e.Kind)
	if e.Kind == host.EventNeedsApproval {
		kind = "permission"
	}
	return Head{kind, now(e.Time), r.turn, milliseconds(e.Elapsed)}
}

func (r *Reporter) result(e host.Event, record message.Record) Result {
	line := Result{Head: r.head(e), Record: record, Title: e.Title, State: message.StateOf(e.Result), Stored: e.Stored}
	if e.Result.Error != nil && !oneOf(string(line.State), string(message.StateOK), string(message.StateFailed)) {
		line.Cause = e.Result.Error.Error()
	}
	if e.Kind == host.EventResult {
		r.done.Calls++
		*r.count(line.State)++
	}
	return line
}

// count is the counter of a state.
func (r *Reporter) count(s message.State) *int {
	switch s {
	case message.StateOK:
		return &r.done.OK
	case message.StateDenied:
		return &r.done.Denied
	case message.StateCancelled:
		return &r.done.Cancelled
	case message.StateInterrupted:
		return &r.done.Interrupted
	}
	return &r.done.Failed
}

func (r *Reporter) permission(head Head, about About, a *host.Approval) Permission {
	p := Permission{
		Head: head, About: about, Approval: a.ID, Answerable: r.Answerable, Plugin: a.Plugin, Capability: a.Capability,
		Input: a.Input, Accesses: accesses(a.Accesses), Preview: a.Preview, Offers: a.Offers,
	}
	if a.Decision != nil {
		p.Reason = a.Decision.Reason()
	}
	return p
}

func accesses(list []permissions.Access) []Access {
	out := make([]Access, len(list))
	for i, a := range list {
		out[i] = Access{Kind: a.Kind, Target: a.Target}
		if a.Real != a.Target {
			out[i].Real = a.Real
		}
	}
	return out
}

// Done is the last line. The model's reason to stop is empty where it is not known;
// discarded says that its message was void.
func (r *Reporter) Done(stopReason string, discarded bool) Done {
	d := r.done
	d.Head = Head{"done", now(time.Now()), r.turn, milliseconds(time.Since(r.began))}
	d.StopReason, d.GoOn = stopReason, d.Stop == "" && !discarded
	return d
}

// now is a time as lines have it: in UTC, to the microsecond.
func now(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
