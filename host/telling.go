package host

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/turn"
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

// telling begins what a call tells; nil where nobody listens.
func (t *openTurn) telling(index int, use *abi.ToolUse) *telling {
	if !t.told() {
		return nil
	}
	l := &telling{turn: t, index: index, id: use.ID, name: use.Name, queued: time.Now()}
	l.watch = turn.NewStopwatch(l.queued)
	l.progress = turn.NewProgress(func(p *turn.Told) {
		l.event(Event{Kind: EventProgress, Progress: (*Progress)(p), Elapsed: l.elapsed()})
	})
	return l
}

// about sets what the call is called from here on.
func (l *telling) about(name, title string) {
	if l != nil {
		l.name, l.title = name, title
	}
}

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

// start says that the call has its slot.
func (l *telling) start() {
	if l == nil {
		return
	}
	waited := l.elapsed()
	l.event(Event{Kind: EventStarted, Elapsed: waited})
	l.started.Store(int64(waited))
}

// clocks measures where the call's time goes; nil measures nothing.
func (l *telling) clocks() *turn.Stopwatch {
	if l == nil {
		return nil
	}
	return l.watch
}

// admitting ends the time that the call was queued.
func (l *telling) admitting() {
	if l != nil {
		l.watch.Queued(l.queued)
	}
}

// report passes on what the tool reports, until the call has its result.
func (l *telling) report(p abi.ProgressHead) {
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

// warn tells the operator.
func (l *telling) warn(format string, args ...any) {
	l.report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(format, args...)}})
}

// finish tells once that the call has ended. Ran says that it had a slot.
func (l *telling) finish(r abi.ToolResult, ran bool) {
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
