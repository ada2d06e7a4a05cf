package host

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// turn is the calls of one model message.
type turn struct {
	session *Session
	// plugins are those that the turn began with.
	plugins *plugins.Set
	// feed takes the events; nil where only results are wanted.
	feed *feed
	// results are the results so far, where there is no feed.
	results []abi.ToolResult
	// ids are those that were claimed; nil where there is one call only.
	ids map[string]bool
	// stopped is why nothing more of the turn begins; nil while it does.
	stopped atomic.Pointer[string]
}

// stop has nothing more of the turn begin. What a person is asked about that has
// not begun is not asked any more.
func (c *call) stop(reason string) {
	if c.turn.stopped.CompareAndSwap(nil, &reason) {
		c.event(Event{Kind: EventStop, Reason: reason})
		c.session().stir()
	}
}

func newTurn(s *Session, calls int) *turn {
	t := &turn{session: s}
	if calls > 1 {
		t.ids = make(map[string]bool, calls)
	}
	return t
}

// Run runs the calls of one model message and yields what happens as it
// happens. Each call has exactly one [EventResult]; those come in call order.
// The sequence can be ranged over once. Leaving the loop early cancels what
// still runs, as does the end of ctx or of the session; Run returns when
// everything has ended.
//
// Turns of one session run one after the other.
func (s *Session) Run(ctx context.Context, uses []abi.ToolUse) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		ctx, cancel, unlink := s.during(ctx)
		defer cancel(nil)
		defer unlink()
		t := newTurn(s, len(uses))
		t.feed = newFeed()
		reader := &reader{yield: yield, leave: func() { cancel(errLeft) }}
		t.run(ctx, uses, reader)
		for events := t.feed.take(); len(events) > 0; events = t.feed.take() {
			reader.read(events)
		}
	}
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

// reader hands events to whoever ranges over them, until they leave.
type reader struct {
	yield func(Event) bool
	leave func()
	gone  bool
}

func (r *reader) read(events []Event) {
	for _, e := range events {
		if !r.gone && !r.yield(e) {
			r.gone = true
			r.leave()
		}
	}
}

var errLeft = abi.Errorf(abi.CodeCancelled, "the reader of the turn's events left")

// Results runs the calls of one model message and returns their results, in
// call order. It is quicker than Run for those who have no use for events: the
// last call runs on the caller's own goroutine.
func (s *Session) Results(ctx context.Context, uses []abi.ToolUse) []abi.ToolResult {
	ctx, cancel, unlink := s.during(ctx)
	defer cancel(nil)
	defer unlink()
	t := newTurn(s, len(uses))
	t.results = make([]abi.ToolResult, 0, len(uses))
	if t.lock(ctx) {
		defer t.end()
	}
	jobs := t.jobs(ctx)
	defer jobs.Wait()
	for i, use := range uses {
		_ = jobs.Add(t.submit(ctx, i, use)) // only Close refuses a job
	}
	jobs.Wait()
	return t.results
}

// jobs is the scheduler of the turn's calls.
func (t *turn) jobs(ctx context.Context) *scheduler.Scheduler {
	o := scheduler.Options{
		MaxConcurrent: t.session.host.options.MaxConcurrent,
		Panicked: func(_ scheduler.Job, p *scheduler.PanicError) {
			t.session.host.options.Logger.Error("a tool call panicked while it ended", "panic", p.Value, "stack", string(p.Stack))
		},
	}
	if t.feed == nil {
		o.Lend = lends
	}
	return scheduler.New(ctx, o)
}

// lends reports whether a call may run on a goroutine that is not its own. An
// embedder's tool may end the one it is on.
func lends(j scheduler.Job) bool {
	c, ok := j.(*call)
	if !ok {
		return false
	}
	_, plugin := c.tool.(pluginTool)
	return plugin
}

// run submits the calls, one after the other, and leaves them running. The feed
// ends when the last of them has.
//
// Submission stays on the caller's goroutine: checking a schema takes more stack
// than a new goroutine has, and growing it costs more than checking.
func (t *turn) run(ctx context.Context, uses []abi.ToolUse, r *reader) {
	locked := t.lock(ctx)
	jobs := t.jobs(ctx)
	// Deferred, because what the reader does with an event may panic.
	defer func() {
		go func() {
			jobs.Wait()
			if locked {
				t.end()
			}
			t.feed.close()
		}()
	}()
	for i, use := range uses {
		// Only Close refuses a job, and nobody else knows this scheduler.
		_ = jobs.Add(t.submit(ctx, i, use))
		r.read(t.feed.poll())
	}
}

// lock waits for the turn before this one. It reports false where ctx ended
// first; then no call is run, and the scheduler gives each its failure.
func (t *turn) lock(ctx context.Context) bool {
	select {
	case t.session.turns <- struct{}{}:
		t.begin()
		return true
	case <-ctx.Done():
		t.plugins = t.session.view().plugins
		return false
	}
}

// claim refuses ids that results could not be matched to.
func (t *turn) claim(id string) error {
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
