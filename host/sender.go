package host

import (
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/host/internal/turn"
)

// sender sends the events of one call, with the call's name and times. A nil one
// belongs to a call without listeners, and sends nothing.
type sender struct {
	listeners *listeners
	index     int
	id        string
	// name, title and server are what is known of the call by now.
	name, title string
	server      ToolServer
	shown       *display.Call

	queued   time.Time
	started  atomic.Int64 // nanoseconds after queued
	watch    *turn.Stopwatch
	progress *turn.Progress
	finished bool // EventFinished was sent
	ended    ended
}

// newSender makes the sender of a call that is queued now.
func newSender(l *listeners, index int, use *abi.ToolUse) *sender {
	s := &sender{listeners: l, index: index, id: use.ID, name: use.Name, queued: time.Now()}
	s.watch = turn.NewStopwatch(s.queued)
	s.progress = turn.NewProgress(func(p *turn.Told) {
		s.event(Event{Kind: EventProgress, Progress: (*Progress)(p), Line: s.shown.Progress(&p.Progress, display.Output{Tail: p.Tail, Lines: p.Lines, Bytes: p.Bytes}), Elapsed: s.elapsed()})
	})
	return s
}

// event sends one event.
func (s *sender) event(e Event) {
	if s == nil {
		return
	}
	e.Index, e.CallID, e.Tool, e.Title, e.Server = s.index, s.id, s.name, s.title, s.server
	s.listeners.tell(e)
}

// inTime sends one event of a call that runs, unless the call has its result by now.
func (s *sender) inTime(e Event) {
	if s != nil {
		s.progress.UnlessOver(func() { e.Elapsed = s.elapsed(); s.event(e) })
	}
}

// elapsed is the time since the call started, or before that since it was queued.
func (s *sender) elapsed() time.Duration {
	if s == nil {
		return 0
	}
	return time.Since(s.queued) - time.Duration(s.started.Load())
}

// ended is the line of a result, by which it is known again: the scheduler may give a call
// another one.
type ended struct {
	line    string
	isError bool
	err     *abi.Error
}

// endedLine is the line of the call's result, which is made once.
func (s *sender) endedLine(r *abi.ToolResult) string {
	if known := s.ended; s.finished && known.line != "" && known.isError == r.IsError && known.err == r.Error {
		return known.line
	}
	s.ended = ended{s.shown.Ended(r), r.IsError, r.Error}
	return s.ended.line
}

// Listens implements [pipeline.Teller], as the methods below do.
func (s *sender) Listens() bool { return s != nil }

// About sets what the call is called, whose tool it is, and how it is shown.
func (s *sender) About(name, title string, of ToolServer, shown *display.Call) {
	if s != nil {
		s.name, s.title, s.server, s.shown = name, title, of, shown
	}
}

// Clocks measures where the call's time goes.
func (s *sender) Clocks() *turn.Stopwatch {
	if s == nil {
		return nil
	}
	return s.watch
}

// Report sends [EventProgress] and [EventLog], until the call has its result.
func (s *sender) Report(p abi.ProgressHead) {
	if s == nil || s.progress.Ended() {
		return
	}
	if p.Progress != nil {
		s.progress.Report(p.Progress)
	}
	if p.Log != nil {
		s.event(Event{Kind: EventLog, Log: p.Log, Elapsed: s.elapsed()})
	}
}

// GitEvent sends [EventGit], outside all turns where the call has ended.
func (s *sender) GitEvent(d capability.GitEvent) { s.sooner(Event{Kind: EventGit, Git: &d}) }

// News sends what a call did to its session, outside all turns where the call has ended.
func (s *sender) News(n capability.News) {
	switch {
	case n.Todos != nil:
		s.sooner(Event{Kind: EventTodos, Todos: n.Todos})
	case n.Work != nil:
		s.sooner(Event{Kind: EventWork, Work: n.Work})
	case n.Said != nil:
		s.sooner(Event{Kind: EventMessage, Reason: n.Said.Message, Said: n.Said})
	case n.Worktree != nil:
		s.sooner(Event{Kind: EventWorktree, Worktree: n.Worktree})
	case n.Output != nil:
		s.sooner(Event{Kind: EventOutput, Output: n.Output})
	}
}

// sooner sends one event of a call that runs, or outside all turns where it has its result.
func (s *sender) sooner(e Event) {
	if s == nil {
		return
	}
	inCall := s.progress.UnlessOver(func() {
		e.Elapsed = s.elapsed()
		s.event(e)
	})
	if !inCall {
		e.CallID, e.Tool, e.Title = s.id, s.name, s.title
		s.listeners.of.news.tell(e)
	}
}
