package stream

import (
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/permissions"
)

// Reporter makes the lines of one turn out of its events.
type Reporter struct {
	// Answerable says that questions are answered over the stream.
	Answerable bool
	// Logs asks for the lines that tools log. How many there are the limits of plugins
	// bound (log_lines).
	Logs bool

	turn     int
	began    time.Time
	recorder message.Recorder
	done     Done
}

// NewReporter reports on a turn that begins now, or began with its first event.
func NewReporter(turn int) *Reporter { return &Reporter{turn: turn, began: time.Now()} }

// Line is the line for an event, to be written as JSON, or nil where it has none.
func (r *Reporter) Line(e host.Event) any {
	r.began = earlier(r.began, e.Time)
	if r.done.Session == "" {
		r.done.From = fromOf(e) // of the turn itself, which begins first
	}
	record, isResult := r.recorder.Add(e)
	if isResult {
		return r.result(e, record)
	}
	head, about, from := r.head(e), aboutOf(e), fromOf(e)
	switch e.Kind {
	case host.EventQueued:
		return Queued{head, about, from}
	case host.EventStarted:
		return Started{head, about, from}
	case host.EventFinished:
		if e.Server.Name != "" {
			return finished(head, about, from, e.Result)
		}
	case host.EventProgress:
		return Progress{head, about, e.Progress.Progress, e.Progress.Tail, e.Progress.Lines, e.Progress.Bytes, from}
	case host.EventLog:
		if r.Logs {
			return Log{head, about, e.Log.Level, cut(e.Log.Message), from}
		}
	case host.EventGit:
		return gitEventOf(head, e)
	case host.EventQuestion:
		return r.question(head, about, from, e.Question)
	case host.EventAnswered:
		a := Answered{Head: head, About: about, Question: e.Question.ID, Answer: e.Answer, From: from}
		if e.Err != nil {
			a.Cause = e.Err.Error()
		}
		return a
	case host.EventPersisted:
		return Persisted{head, about, e.Stored, from}
	case host.EventDiscarded:
		r.done.Calls++
		r.done.Discarded++
		return Discarded{head, about, accesses(e.Effects), from}
	case host.EventInterruptible:
		return Interruptible{head, e.Interruptible, from}
	case host.EventStop:
		r.done.Stop = e.Reason
	case host.EventOutput:
		r.done.Output = e.Output
	}
	return ofSession(head, e)
}

// maxLog bounds the message of a [Log], in bytes.
const maxLog = 16 << 10

func cut(message string) string {
	if len(message) <= maxLog {
		return message
	}
	return strings.ToValidUTF8(message[:maxLog], "") + "…"
}

// earlier is the earlier of two times; an event without one has none.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

func (r *Reporter) head(e host.Event) Head {
	kind := string(e.Kind)
	if e.Kind == host.EventQuestion && e.Question.Approval != nil {
		kind = "permission"
	}
	return Head{kind, now(e.Time), r.turn, milliseconds(e.Elapsed)}
}

func (r *Reporter) result(e host.Event, record message.Record) Result {
	line := Result{Head: r.head(e), Record: record, From: fromOf(e), Title: e.Title, Display: e.Line, OfServer: serverOf(e), State: message.StateOf(e.Result), Stored: e.Stored}
	if e.Result.Error != nil && !oneOf(string(line.State), string(message.StateOK), string(message.StateFailed)) {
		line.Cause = e.Result.Error.Error()
	}
	if e.Kind == host.EventResult {
		r.done.Calls++
		*r.count(line.State)++
	}
	return line
}

// finished is the line for the end of a server's call.
func finished(head Head, about About, from From, result *abi.ToolResult) Finished {
	line := Finished{Head: head, About: about, State: message.StateOf(result), From: from}
	if result.Error != nil {
		line.Code, line.Cause = result.Error.Code, cut(result.Error.Error())
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

// question is the line for a question, or nil where it is of a kind that has none.
func (r *Reporter) question(head Head, about About, from From, q *host.Question) any {
	line := Question{
		Head: head, About: about, Question: q.ID, Kind: q.Kind, Answerable: r.Answerable, Plugin: q.Plugin, Worker: q.Worker, From: from,
	}
	switch {
	case q.Approval != nil:
		p := r.permission(head, about, q.Approval)
		p.From = from
		return p
	case q.Form != nil:
		line.Message, line.Schema = q.Form.Message, q.Form.Schema
	case q.URL != nil:
		line.Message, line.URL = q.URL.Message, q.URL.URL
	case q.Choice != nil || q.Plan != nil:
		line.Choice, line.Plan = q.Choice, q.Plan
	default:
		return nil
	}
	return line
}

func (r *Reporter) permission(head Head, about About, a *host.Approval) Permission {
	p := Permission{
		Head: head, About: about, Approval: a.ID, Answerable: r.Answerable, Plugin: a.Plugin, Worker: a.Worker, Capability: a.Capability,
		Input: a.Input, Accesses: accesses(a.Accesses), Grounds: Grounds{Reasons: a.Reasons, Preview: a.Preview},
		Offers: a.Remember, DenyEndsTurn: a.DenyEndsTurn,
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

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
