package host

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/permissions"
)

// telling is what a call tells about itself, as [pipeline.Teller] has it. The zero value
// belongs to a call without listeners.
type telling struct{ *sender }

var _ pipeline.Teller = telling{}

// Queued tells [EventQueued].
func (l telling) Queued(input json.RawMessage) {
	if l.sender != nil {
		l.event(Event{Kind: EventQueued, Input: input, Line: l.shown.Queued()})
	}
}

// Decided tells [EventDecided].
func (l telling) Decided(operation string, d permissions.Decision) {
	if l.sender == nil {
		return // before d is put on the heap
	}
	told := d
	l.event(Event{Kind: EventDecided, Capability: operation, Decision: &told})
}

// Hooks tells [EventHook], [EventMessage] and [EventStop].
func (l telling) Hooks(o *hooks.Outcome) {
	for i := range o.Records {
		l.event(Event{Kind: EventHook, Hook: &o.Records[i], Err: o.Records[i].Err, Elapsed: l.elapsed()})
	}
	for _, text := range o.Messages {
		l.event(Event{Kind: EventMessage, Reason: text})
	}
	if o.Stop {
		l.event(Event{Kind: EventStop, Reason: o.StopReason})
	}
}

// Rewritten tells [EventRewritten].
func (l telling) Rewritten(input json.RawMessage) {
	if l.sender != nil {
		l.event(Event{Kind: EventRewritten, Input: input, Line: l.shown.Queued()})
	}
}

// Started tells [EventStarted].
func (l telling) Started() {
	if l.sender == nil {
		return
	}
	waited := l.elapsed()
	l.event(Event{Kind: EventStarted, Line: l.shown.Use(), Elapsed: waited})
	l.started.Store(int64(waited))
}

// Capability tells [EventCapability].
func (l telling) Capability(name string, err error) {
	l.event(Event{Kind: EventCapability, Capability: name, Err: err, Elapsed: l.elapsed()})
}

// Persisted tells [EventPersisted].
func (l telling) Persisted(stored *results.Stored) {
	l.event(Event{Kind: EventPersisted, Stored: stored, Elapsed: l.elapsed()})
}

// Changed tells [EventChanged].
func (l telling) Changed(change *abi.Change, err error) {
	l.event(Event{Kind: EventChanged, Change: change, Err: err})
}

// Finished tells [EventFinished], once.
func (l telling) Finished(r abi.ToolResult, ran bool) {
	if l.sender == nil || l.finished {
		return
	}
	l.finished = true
	l.progress.End()
	elapsed, running := l.elapsed(), time.Duration(0)
	if ran {
		running = elapsed
	}
	told := r // only here, so that r need not be on the heap
	l.event(Event{Kind: EventFinished, Line: l.endedLine(&told), Elapsed: elapsed, Result: &told, Clocks: (*Clocks)(l.watch.Read(running))})
}

// Discarded tells [EventDiscarded].
func (l telling) Discarded(effects []permissions.Access) {
	l.event(Event{Kind: EventDiscarded, Effects: effects, Elapsed: l.elapsed()})
}

// Left tells [EventResult].
func (l telling) Left(r abi.ToolResult) {
	if l.sender != nil {
		l.event(Event{Kind: EventResult, Line: l.endedLine(&r), Result: &r, Elapsed: l.elapsed()})
	}
}

// Replaced tells [EventReplaced].
func (l telling) Replaced(r abi.ToolResult, stored *results.Stored) {
	l.event(Event{Kind: EventReplaced, Result: &r, Stored: stored, Elapsed: l.elapsed()})
}

// Stopped tells [EventStop].
func (l telling) Stopped(reason string) { l.event(Event{Kind: EventStop, Reason: reason}) }

// Abandoned tells [EventAbandoned].
func (l telling) Abandoned() { l.event(Event{Kind: EventAbandoned, Elapsed: l.elapsed()}) }

// warn tells the operator.
func (l telling) warn(format string, args ...any) {
	l.Report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(format, args...)}})
}

// tellingOf is what a call tells.
func tellingOf(t pipeline.Teller) telling {
	l, _ := t.(telling) // there are no others
	return l
}
