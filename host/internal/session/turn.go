package session

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// Listeners are told what happens in one turn, and ask the person about its calls.
type Listeners interface {
	// Any reports whether anybody listens.
	Any() bool
	// Under gives the turn its id, and says who makes its calls. It comes first.
	Under(turn string, caller permissions.Caller)
	// Began and Ended are called once each; Began has the turn's context. Interruptible is called while the scheduler holds
	// its mutex, so it must be quick.
	Began(ctx context.Context)
	Ended()
	Interruptible(yes bool)
	// Close ends the listening, after the last event of the turn.
	Close()
	// Telling begins what a call tells.
	Telling(index int, use *abi.ToolUse) pipeline.Teller
	// Question puts one of a running call of the turn to the person.
	Question(ctx context.Context, t *Turn, q *pipeline.Question) (capability.Reply, error)
	// Ask asks the person for an approval of a call of the turn.
	Ask(ctx context.Context, t *Turn, callID string, tell pipeline.Teller, q *gate.Question) <-chan gate.Answer
}

// Feed is what carries a turn's events to its reader, see [turn.Feed].
type Feed interface {
	// Wait waits until the results that the reader has not seen take no more than limit bytes.
	Wait(ctx context.Context, limit int64)
	// Arrived reports whether the reader has a result, by its place in the turn.
	Arrived(index int) bool
}

// Turn is the calls of one model message, or those that a running call makes.
type Turn struct {
	id      string
	session *Session
	span    turn.Span
	// tools are those that the turn finds, with the plugins that it began with.
	tools catalog
	jobs  *scheduler.Scheduler
	pool  *scheduler.Pool
	// period is the one that a single call is of, and left is closed when its result has left.
	period *period
	left   chan struct{}

	listeners Listeners
	feed      Feed // nil where nobody reads the turn
	turnResults
	nesting
	signals
	*counts
	// files is what the results show of files, until the turn ends: the turn's own, or those
	// of the call that it is part of.
	files *filestate.Turn
	own   filestate.Turn
}

// signals are what the calls of a turn let one another know.
type signals struct {
	// stopped is why nothing more of the turn begins; nil while it does.
	stopped atomic.Pointer[string]
	// leftovers says that something may go on when the last result has left.
	leftovers atomic.Bool
	// interruption is the user's.
	interruption interruption
}

// interruption ends a context, which is made when somebody first asks for it.
type interruption struct {
	mu    sync.Mutex
	ended context.Context //nolint:containedctx // it is no call's, and says one thing
	end   context.CancelFunc
}

// context ends with the interruption.
func (i *interruption) context() context.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended == nil {
		i.ended, i.end = context.WithCancel(context.Background())
	}
	return i.ended
}

// happen says that the user interrupts.
func (i *interruption) happen() {
	i.context()
	i.end()
}

// OnInterrupt has do called when the user interrupts the turn, or the one that it is part of
// in the end.
func (t *Turn) OnInterrupt(do func()) (stop func()) {
	own := context.AfterFunc(t.interruption.context(), do)
	if outer := outermost(t); outer != t {
		outer := context.AfterFunc(outer.interruption.context(), do)
		return func() { own(); outer() }
	}
	return func() { own() }
}

// counts count the calls that are ordered together, see [pipeline.Turn].
type counts struct{ ended, altered atomic.Int64 }

// Ended counts the calls whose effects are applied.
func (c *counts) Ended() *atomic.Int64 { return &c.ended }

// Altered counts the calls that may have changed anything.
func (c *counts) Altered() *atomic.Int64 { return &c.altered }

// NoteLeftovers says that something goes on after a result.
func (s *signals) NoteLeftovers() { s.leftovers.Store(true) }

// newTurn makes a turn of s of at most so many calls; 0 is any number. Without a reader, f is
// nil.
func newTurn(ctx context.Context, s *Session, calls int, f Feed, l Listeners) *Turn {
	t := &Turn{id: rand.Text(), session: s, feed: f, listeners: l, tools: catalog{session: s}, turnResults: newTurnResults(calls), nesting: nestingOf(ctx, s)}
	if t.within == nil {
		t.files = &t.own
		t.own.Begin(&s.Files)
	} else {
		t.files = t.within.Inner()
	}
	t.span = s.Life.During(ctx)
	l.Under(t.id, t.caller)
	return t
}

// schedule gives the turn a scheduler of its own.
func (t *Turn) schedule() {
	t.counts = new(counts)
	t.pool = slotsOf(t)
	t.jobs = scheduler.New(t.span.Ctx, schedulingOf(t))
}

// ID names the turn.
func (t *Turn) ID() string { return t.id }

// submit makes a call of the turn, whose preparation ends with ctx.
func (t *Turn) submit(ctx context.Context, index int, use abi.ToolUse) {
	pipeline.Submit(ctx, t, t.add, index, use)
}

// add gives a call its place. The scheduler of a turn is open until the turn takes no more.
func (t *Turn) add(c *pipeline.Call) {
	if t.period != nil {
		c.Unordered()
		_ = t.jobs.AddIndependent(t.span.Ctx, c)
		return
	}
	_ = t.jobs.Add(c)
}

// lock waits for the turn before this one, and reports whether it has taken the
// session's turn, which finish gives back. It has not where ctx ended first, when no
// call is run and the scheduler gives each its failure, nor where the turn is part
// of one that runs.
func (t *Turn) lock(ctx context.Context) bool {
	if t.tryLock() {
		return t.within == nil
	}
	if !t.session.running.Take(ctx) {
		t.tools.set = t.session.Rules.View().Tools
		return false
	}
	t.begin()
	return true
}

// tryLock begins a turn that need not wait.
func (t *Turn) tryLock() bool {
	if t.within != nil {
		t.tools.set = turnOf(t.within).tools.set
		return true
	}
	if !t.session.running.TryTake() {
		return false
	}
	t.begin()
	return true
}

// begin takes up the tools as they now are.
func (t *Turn) begin() {
	t.tools.set = t.session.takeUp()
}

// takeUp has the session take up the tools as they now are. They are to be released.
func (s *Session) takeUp() tool.Set {
	set := s.Host.Plugins.Hold()
	s.Rules.SetTools(set)
	s.Files.NextTurn()
	return set
}

// finish waits for the last result and ends the turn. What goes on behind it keeps
// the next turn waiting, and nobody else.
func (t *Turn) finish(has bool) {
	defer t.conclude(has) // deferred, as an observer may end the goroutine that it is called on
	if t.period == nil {
		t.jobs.Wait()
	} else {
		<-t.left
	}
	var replaced []int
	if t.within == nil { // the results of calls that a call makes are for that call
		replaced = t.fit(t.session)
	}
	t.files.End(func(call int) bool {
		return !slices.Contains(replaced, call) && (t.feed == nil || t.feed.Arrived(call))
	})
	t.listeners.Ended()
}

// conclude ends the turn for those who follow it, and for those who wait.
func (t *Turn) conclude(has bool) {
	t.listeners.Close()
	if t.leftovers.Load() {
		go t.letGo(has)
		return
	}
	t.letGo(has)
}

// letGo gives back what the turn has, when nothing of it goes on.
func (t *Turn) letGo(has bool) {
	if t.leftovers.Load() {
		t.jobs.Drain()
	}
	t.span.Release()
	t.leaveCall()
	switch {
	case t.period != nil:
		t.period.leave()
	case has:
		t.tools.set.Release()
		t.session.running.Give()
	}
}

// Results runs the calls of one model message that nobody reads the events of, the last one
// on the caller's own goroutine, and returns their results in call order.
func (s *Session) Results(ctx context.Context, uses []abi.ToolUse, l Listeners) []abi.ToolResult {
	t := newTurn(ctx, s, len(uses), nil, l)
	t.schedule()
	t.lending(func() {
		has := t.lock(t.span.Ctx)
		defer t.finish(has) // it runs the last call, and waits for the others
		t.listeners.Began(t.span.Ctx)
		for i, use := range uses {
			t.submit(t.span.Ctx, i, use)
		}
	})
	return t.list
}

// Stop prevents calls of the turn, and of the turns around it, from beginning. Open questions
// about such calls are withdrawn. The call for which tell tells gave the reason.
func (t *Turn) Stop(tell pipeline.Teller, reason string) {
	if outermost(t).stopped.CompareAndSwap(nil, &reason) {
		tell.Stopped(reason)
		t.session.Rules.Recheck()
	}
}
