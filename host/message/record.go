package message

import (
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// Record is everything about one result, as one JSON object.
type Record struct {
	ToolUseID string `json:"tool_use_id"`
	Tool      string `json:"tool,omitempty"`
	IsError   bool   `json:"is_error"`
	// Code says what kind of error it was, where that is known.
	Code       abi.Code        `json:"code,omitempty"`
	Content    []Block         `json:"content"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Changes    []abi.Change    `json:"changes,omitempty"`
	Messages   []abi.Message   `json:"messages,omitempty"`
	Meta       json.RawMessage `json:"meta,omitempty"`
	// Queued, Started and Ended are when the call came, when its tool began,
	// and when it ended; nil where that is not known or did not happen.
	Queued  *time.Time `json:"queued,omitempty"`
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
}

// NewRecord is the record of a result without its times.
func NewRecord(r abi.ToolResult) Record {
	rec := Record{
		ToolUseID: r.ToolUseID, IsError: r.IsError, Content: Blocks(r.Content), Structured: r.Structured,
		Changes: r.Changes, Messages: r.Messages, Meta: r.Meta,
	}
	if r.Error != nil {
		rec.Code = r.Error.Code
	}
	return rec
}

// Recorder makes records out of a turn's events. The zero value is ready for
// use; it serves one turn.
type Recorder struct {
	times map[int]*Record
}

// Add takes the next event, and returns a record with the last one of a call. A
// second record of the same call, at the end of the turn, takes the place of the
// first: see [host.EventReplaced].
func (r *Recorder) Add(e host.Event) (Record, bool) {
	at := r.times[e.Index]
	if at == nil {
		if r.times == nil {
			r.times = make(map[int]*Record)
		}
		at = new(Record)
		r.times[e.Index] = at
	}
	switch e.Kind {
	case host.EventQueued:
		at.Queued = &e.Time
	case host.EventStarted:
		at.Started = &e.Time
	case host.EventFinished:
		at.Ended = &e.Time
	case host.EventResult, host.EventReplaced:
		rec := NewRecord(*e.Result)
		rec.Tool, rec.Queued, rec.Started, rec.Ended = e.Tool, at.Queued, at.Started, at.Ended
		return rec, true
	}
	return Record{}, false
}

// State is what became of a call.
type State string

// The states of a result.
const (
	StateOK     State = "ok"
	StateFailed State = "failed"
	// StateDenied: by a rule or a person, for want of a person to ask or of a grant.
	StateDenied State = "denied"
	// StateCancelled: ended from outside, or never begun; by the failure of another
	// call, the end of the session, or of the process.
	StateCancelled State = "cancelled"
	// StateInterrupted: the same because the user wrote something new.
	StateInterrupted State = "interrupted"
)

// StateOf is the state of a result.
func StateOf(r *abi.ToolResult) State {
	if !r.IsError {
		return StateOK
	}
	if r.Error != nil {
		switch r.Error.Code {
		case abi.CodeDenied, abi.CodeNeedsApproval, abi.CodeNotGranted:
			return StateDenied
		case abi.CodeCancelled:
			return StateCancelled
		case abi.CodeInterrupted:
			return StateInterrupted
		}
	}
	return StateFailed
}
