package host

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
)

// telling is how a call tells about itself. A nil one is of a call that nobody listens
// to, and tells nothing.
type telling struct {
	turn  *openTurn
	index int
	id    string
	// name and title are what is known of the call by now.
	name, title string

	queued   time.Time
	started  atomic.Int64 // nanoseconds after queued
	watch    *turn.Stopwatch
	progress *turn.Progress
	finished bool // that it finished was told
}

// Telling is as [pipeline.Turn] has it.
func (t *openTurn) Telling(index int, use *abi.ToolUse) pipeline.Teller {
	if !t.told() {
		return (*telling)(nil)
	}
	l := &telling{turn: t, index: index, id: use.ID, name: use.Name, queued: time.Now()}
	l.watch = turn.NewStopwatch(l.queued)
	l.progress = turn.NewProgress(func(p *turn.Told) {
		l.event(Event{Kind: EventProgress, Progress: (*Progress)(p), Elapsed: l.elapsed()})
	})
	return l
}

var _ pipeline.Teller = (*telling)(nil)

func (l *telling) event(e Event) {
	if l == nil {
		return
	}
	e.Index, e.CallID, e.Tool, e.Title = l.index, l.id, l.name, l.title
	l.turn.event(e)
}

// elapsed is the time since the call started, or before that since it was queued.
func (l *telling) elapsed() time.Duration {
	if l == nil {
		return 0
	}
	return time.Since(l.queued) - time.Duration(l.started.Load())
}

// Listens implements [pipeline.Teller], as the methods below do.
func (l *telling) Listens() bool { return l != nil }

// About sets what the call is called.
func (l *telling) About(name, title string) {
	if l != nil {
		l.name, l.title = name, title
	}
}

// Clocks measures where the call's time goes.
func (l *telling) Clocks() *turn.Stopwatch {
	if l == nil {
		return nil
	}
	return l.watch
}

// Queued tells [EventQueued].
func (l *telling) Queued(input json.RawMessage) { l.event(Event{Kind: EventQueued, Input: input}) }

// Decided tells [EventDecided].
func (l *telling) Decided(operation string, d permissions.Decision) {
	if l == nil {
		return // before d is put on the heap
	}
	told := d
	l.event(Event{Kind: EventDecided, Capability: operation, Decision: &told})
}

// Hooks tells [EventHook], [EventMessage] and [EventStop].
func (l *telling) Hooks(o *hooks.Outcome) {
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
func (l *telling) Rewritten(input json.RawMessage) {
	l.event(Event{Kind: EventRewritten, Input: input})
}

// Started tells [EventStarted].
func (l *telling) Started() {
	if l == nil {
		return
	}
	waited := l.elapsed()
	l.event(Event{Kind: EventStarted, Elapsed: waited})
	l.started.Store(int64(waited))
}

// Report tells [EventProgress] and [EventLog], until the call has its result.
func (l *telling) Report(p abi.ProgressHead) {
	if l == nil || l.progress.Ended() {
		return
	}
	if p.Progress != nil {
		l.progress.Report(p.Progress)
	}
	if p.Log != nil {
		l.event(Event{Kind: EventLog, Log: p.Log, Elapsed: l.elapsed()})
	}
}

// Capability tells [EventCapability].
func (l *telling) Capability(name string, err error) {
	l.event(Event{Kind: EventCapability, Capability: name, Err: err, Elapsed: l.elapsed()})
}

// Deed tells [EventDeed], outside of all turns where the call has ended.
func (l *telling) Deed(d capability.Deed) {
	if l == nil {
		return
	}
	inCall := l.progress.UnlessOver(func() {
		l.event(Event{Kind: EventDeed, Deed: &d, Elapsed: l.elapsed()})
	})
	if !inCall {
		l.turn.session.tell(Event{Kind: EventDeed, CallID: d.Call.ID, Tool: d.Call.Tool, Title: l.title, Deed: &d})
	}
}

// Persisted tells [EventPersisted].
func (l *telling) Persisted(stored *results.Stored) {
	l.event(Event{Kind: EventPersisted, Stored: stored, Elapsed: l.elapsed()})
}

// Changed tells [EventChanged].
func (l *telling) Changed(change *abi.Change, err error) {
	l.event(Event{Kind: EventChanged, Change: change, Err: err})
}

// Finished tells [EventFinished], once.
func (l *telling) Finished(r abi.ToolResult, ran bool) {
	if l == nil || l.finished {
		return
	}
	l.finished = true
	l.progress.End()
	elapsed, running := l.elapsed(), time.Duration(0)
	if ran {
		running = elapsed
	}
	l.event(Event{Kind: EventFinished, Elapsed: elapsed, Result: &r, Clocks: (*Clocks)(l.watch.Read(running))})
}

// Discarded tells [EventDiscarded].
func (l *telling) Discarded(effects []permissions.Access) {
	l.event(Event{Kind: EventDiscarded, Effects: effects, Elapsed: l.elapsed()})
}

// warn tells the operator.
func (l *telling) warn(format string, args ...any) {
	l.Report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(format, args...)}})
}

// tellingOf is what a call tells; nil where nobody listens.
func tellingOf(t pipeline.Teller) *telling {
	l, _ := t.(*telling) // there are no others
	return l
}
