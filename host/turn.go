package host

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// openTurn is the calls of one model message, or those that a running call makes.
type openTurn struct {
	session *Session
	// ctx ends with the session, too, until unlink.
	ctx    context.Context //nolint:containedctx // the turn's own, for all of its calls
	cancel context.CancelCauseFunc
	unlink func() bool

	// plugins are those that the turn began with.
	plugins *plugins.Set
	jobs    *scheduler.Scheduler
	pool    *scheduler.Pool

	// id names the turn where somebody is told of events: feed takes them for who
	// ranges over them, observer for the embedder. Both may be nil.
	id       string
	feed     *turn.Feed[Event]
	observer *turn.Observer[Event]

	// results are those that have left, and left their calls where somebody is told of
	// events. Fitted is what was done to the size of those that are not short; the list
	// ends with the last such.
	results []abi.ToolResult
	left    []*telling
	fitted  []*results.Fitted
	// files is what the results show of files, until the turn ends.
	files *filestate.Turn
	// ids are those that were claimed; nil where there is one call only.
	ids map[string]bool
	// stopped is why nothing more of the turn begins; nil while it does.
	stopped atomic.Pointer[string]
	// altered counts the calls that ended and may have changed anything, such as what
	// paths lead to.
	altered atomic.Int64
	// behind says that something may go on when the last result has left.
	behind atomic.Bool

	nesting
}

// newTurn makes a turn of at most so many calls; 0 is any number.
func (s *Session) newTurn(ctx context.Context, calls int, f *turn.Feed[Event]) *openTurn {
	t := &openTurn{session: s, feed: f}
	t.nesting = nestingOf(ctx, s)
	if t.within == nil {
		t.files = filestate.NewTurn(&s.files)
	} else {
		t.files = t.within.Inner()
	}
	t.ctx, t.cancel, t.unlink = s.during(ctx)
	if calls != 1 {
		t.ids = make(map[string]bool, calls)
	}
	if s.host.options.Observe != nil {
		t.observer = turn.NewObserver(s.host.observe)
	}
	if t.told() {
		t.id = rand.Text()
	}
	t.pool = t.slots()
	t.jobs = scheduler.New(t.ctx, t.scheduling()) //nolint:contextcheck // it is ctx's own
	return t
}

// Run runs the calls of one model message and yields what happens as it
// happens. Each call has exactly one [EventResult]; those come in call order.
// The sequence can be ranged over once. Leaving the loop early cancels what
// still runs, as does the end of ctx or of the session; Run returns when the last
// result has left.
//
// Turns of one session run one after the other. A turn that is run under the
// context of a running call of the same session is part of that call instead: see
// [NativeTool].Run.
func (s *Session) Run(ctx context.Context, uses []abi.ToolUse) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		st := s.stream(ctx)
		defer st.abandon() // what the reader does with an event may panic
		st.turn.lending(func() { st.run(uses, yield) })
	}
}

// run submits the calls and reads their events, all on the caller's goroutine:
// checking a schema takes more stack than a new goroutine has, and growing it costs
// more than checking.
func (st *Stream) run(uses []abi.ToolUse, yield func(Event) bool) {
	r := st.reader(yield)
	for _, use := range uses {
		_ = st.add(use) // nobody else closes this stream
		r.Read(st.turn.feed.Poll())
	}
	st.Close()
	st.drain(r)
}

// during is ctx until the session ends. Both functions are to be called in the
// end.
func (s *Session) during(ctx context.Context) (context.Context, context.CancelCauseFunc, func() bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(context.Cause(s.ctx)) }
	unlink := context.AfterFunc(s.ctx, end)
	if s.ctx.Err() != nil {
		end() // now, rather than when the function above is run
	}
	return ctx, cancel, unlink
}

// Results runs the calls of one model message and returns their results, in
// call order. It is quicker than Run for those who have no use for events: the
// last call runs on the caller's own goroutine.
func (s *Session) Results(ctx context.Context, uses []abi.ToolUse) []abi.ToolResult {
	t := s.newTurn(ctx, len(uses), nil)
	t.results = make([]abi.ToolResult, 0, len(uses))
	t.lending(func() { //nolint:contextcheck // the turn has its own
		has := t.lock(t.ctx)
		defer t.finish(has)
		t.began()
		for i, use := range uses {
			_ = t.jobs.Add(pipeline.Submit(t.ctx, t, i, use)) // only Close refuses a job
		}
	})
	return t.results
}

// scheduling is how the scheduler orders the turn's calls.
func (t *openTurn) scheduling() scheduler.Options {
	options := &t.session.host.options
	o := scheduler.Options{
		Pool:      t.pool,
		Cascade:   options.Cascade,
		Plain:     options.PlainBatches,
		Abandoned: abandoned,
		Panicked:  panicked,
	}
	if t.feed == nil {
		o.Lend, o.NoInterrupt = lends, true
	} else {
		o.MaxHeld = options.maxHeld()
	}
	if t.told() {
		o.Interruptible = t.interruptible
	}
	return o
}

// lends reports whether a call may run on a goroutine that is not its own. An
// embedder's tool may end the one it is on.
func lends(j scheduler.Job) bool {
	c, ok := j.(*pipeline.Call)
	if !ok {
		return false
	}
	return c.IsPlugins()
}

// lock waits for the turn before this one, and reports whether it has taken the
// session's turn, which finish gives back. It has not where ctx ended first, when no
// call is run and the scheduler gives each its failure, nor where the turn is part
// of one that runs.
func (t *openTurn) lock(ctx context.Context) bool {
	if t.tryLock() {
		return t.within == nil
	}
	select {
	case t.session.turns <- struct{}{}:
		t.begin()
		return true
	case <-ctx.Done():
		t.plugins = t.session.rules.View().Plugins
		return false
	}
}

// tryLock begins a turn that need not wait.
func (t *openTurn) tryLock() bool {
	if t.within != nil {
		t.plugins = turnOf(t.within).plugins
		return true
	}
	select {
	case t.session.turns <- struct{}{}:
		t.begin()
		return true
	default:
		return false
	}
}

// began tells that the turn began.
func (t *openTurn) began() { t.event(Event{Kind: EventTurn}) }

// finish waits for the last result and ends the turn. What goes on behind it keeps
// the next turn waiting, and nobody else.
func (t *openTurn) finish(has bool) {
	defer t.conclude(has) // deferred, as an observer may end the goroutine that it is called on
	t.jobs.Wait()
	replaced := t.fit()
	t.files.End(func(call int) bool {
		return !slices.Contains(replaced, call) && (t.feed == nil || t.feed.Arrived(call))
	})
	t.event(Event{Kind: EventTurnEnded})
}

// conclude ends the turn for those who follow it, and for those who wait.
func (t *openTurn) conclude(has bool) {
	if t.feed != nil {
		t.feed.Close()
	}
	if t.observer != nil {
		t.observer.Flush()
	}
	if t.behind.Load() {
		go t.letGo(has)
		return
	}
	t.letGo(has)
}

// letGo gives back what the turn has, when nothing of it goes on.
func (t *openTurn) letGo(has bool) {
	t.jobs.Drain()
	t.unlink()
	t.cancel(nil)
	t.leaveCall()
	if has {
		t.end()
	}
}

// Claim refuses ids that results could not be matched to.
func (t *openTurn) Claim(id string) error {
	if id == "" {
		return abi.Errorf(abi.CodeInvalidInput, "the call has no id; give every call of a message an id of its own")
	}
	if t.ids[id] {
		return abi.Errorf(abi.CodeInvalidInput, "another call of this message has the id %q too; this one was not run: give every call an id of its own", id)
	}
	if t.ids != nil {
		t.ids[id] = true
	}
	return nil
}

// stop has nothing more of the turn begin, nor of those that it is part of, as a call of
// it says. What a person is asked about that has not begun is not asked any more.
func (t *openTurn) stop(tell pipeline.Teller, reason string) {
	if t.outermost().stopped.CompareAndSwap(nil, &reason) {
		tellingOf(tell).event(Event{Kind: EventStop, Reason: reason})
		t.session.rules.Recheck()
	}
}

// told reports whether anybody is told of events.
func (t *openTurn) told() bool { return t.feed != nil || t.observer != nil }

// event tells of something that happened.
func (t *openTurn) event(e Event) {
	if !t.told() {
		return
	}
	t.complete(&e)
	if t.feed != nil {
		t.feed.Put(e)
	}
	if t.observer != nil {
		t.observer.Put(e)
	}
}

// complete fills in what all events have.
func (t *openTurn) complete(e *Event) {
	e.Time, e.Session, e.Turn, e.Depth = time.Now(), t.session.id, t.id, t.depth
	if t.above != nil {
		e.Parent = t.above.ID()
	}
}

// interruptible is called by the scheduler with its mutex held.
func (t *openTurn) interruptible(yes bool) {
	e := Event{Kind: EventInterruptible, Interruptible: yes}
	t.complete(&e)
	if t.feed != nil {
		t.feed.Put(e)
	}
	if t.observer != nil {
		t.observer.PutLater(e)
	}
}

// abandoned is told of a call that left something behind which did not end.
func abandoned(j scheduler.Job) {
	c, ok := j.(*pipeline.Call)
	if !ok {
		return
	}
	s := turnOf(c).session
	h := s.host
	h.shared.abandoned.Add(1)
	h.options.Logger.Warn("something a tool call left behind does not end", "tool", c.Name(), "call", c.ID(), "session", s.id)
	l := tellingOf(c.Teller())
	l.event(Event{Kind: EventAbandoned, Elapsed: l.elapsed()})
}

// panicked is told of a panic that is not the failure of its call.
func panicked(j scheduler.Job, p *scheduler.PanicError) {
	if c, ok := j.(*pipeline.Call); ok {
		turnOf(c).session.host.options.Logger.Error("a tool call panicked while it ended", "tool", c.Name(), "panic", p.Value, "stack", string(p.Stack))
	}
}
