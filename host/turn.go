package host

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/scheduler"
)

// openTurn is the calls of one model message, or those that a running call makes.
type openTurn struct {
	session *Session
	span    turn.Span
	// tools are those that the turn finds, with the plugins that it began with.
	tools catalog
	jobs  *scheduler.Scheduler
	pool  *scheduler.Pool

	listeners listeners
	turnResults
	nesting
	signals
	// files is what the results show of files, until the turn ends.
	files *filestate.Turn
}

// signals are what the calls of a turn let one another know.
type signals struct {
	// stopped is why nothing more of the turn begins; nil while it does.
	stopped atomic.Pointer[string]
	// altered counts the calls that ended and may have changed anything, such as what
	// paths lead to.
	altered atomic.Int64
	// behind says that something may go on when the last result has left.
	behind atomic.Bool
}

// Altered counts the calls that may have changed anything.
func (s *signals) Altered() *atomic.Int64 { return &s.altered }

// LeftBehind says that something goes on after a result.
func (s *signals) LeftBehind() { s.behind.Store(true) }

// newTurn makes a turn of s of at most so many calls; 0 is any number.
func newTurn(ctx context.Context, s *Session, calls int, f *turn.Feed[Event]) *openTurn {
	t := &openTurn{session: s, tools: catalog{session: s}, turnResults: newTurnResults(calls), nesting: nestingOf(ctx, s)}
	if t.within == nil {
		t.files = filestate.NewTurn(&s.files)
	} else {
		t.files = t.within.Inner()
	}
	t.span = s.life.During(ctx)
	t.listeners = newListeners(s, f, &t.nesting)
	t.pool = slotsOf(t)
	t.jobs = scheduler.New(t.span.Ctx, schedulingOf(t)) //nolint:contextcheck // it is ctx's own
	return t
}

// lock waits for the turn before this one, and reports whether it has taken the
// session's turn, which finish gives back. It has not where ctx ended first, when no
// call is run and the scheduler gives each its failure, nor where the turn is part
// of one that runs.
func (t *openTurn) lock(ctx context.Context) bool {
	if t.tryLock() {
		return t.within == nil
	}
	if !t.session.running.Take(ctx) {
		t.tools.plugins = t.session.rules.View().Plugins
		return false
	}
	t.begin()
	return true
}

// tryLock begins a turn that need not wait.
func (t *openTurn) tryLock() bool {
	if t.within != nil {
		t.tools.plugins = turnOf(t.within).tools.plugins
		return true
	}
	if !t.session.running.TryTake() {
		return false
	}
	t.begin()
	return true
}

// begin takes up the plugins as they now are.
func (t *openTurn) begin() {
	t.tools.plugins = t.session.host.plugins.Hold()
	t.session.rules.SetPlugins(t.tools.plugins)
	t.session.files.NextTurn()
}

// finish waits for the last result and ends the turn. What goes on behind it keeps
// the next turn waiting, and nobody else.
func (t *openTurn) finish(has bool) {
	defer t.conclude(has) // deferred, as an observer may end the goroutine that it is called on
	t.jobs.Wait()
	var replaced []int
	if t.within == nil { // the results of calls that a call makes are for that call
		replaced = t.fit(t.session)
	}
	feed := t.listeners.feed
	t.files.End(func(call int) bool {
		return !slices.Contains(replaced, call) && (feed == nil || feed.Arrived(call))
	})
	t.listeners.tell(Event{Kind: EventTurnEnded})
}

// conclude ends the turn for those who follow it, and for those who wait.
func (t *openTurn) conclude(has bool) {
	t.listeners.close()
	if t.behind.Load() {
		go t.letGo(has)
		return
	}
	t.letGo(has)
}

// letGo gives back what the turn has, when nothing of it goes on.
func (t *openTurn) letGo(has bool) {
	t.jobs.Drain()
	t.span.Release()
	t.leaveCall()
	if has {
		t.tools.plugins.Release()
		t.session.running.Give()
	}
}
