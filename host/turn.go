package host

import (
	"context"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/scheduler"
)

// turn is the calls of one model message.
type turn struct {
	session *Session
	feed    *feed
	ids     map[string]bool
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
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		end := func() { cancel(context.Cause(s.ctx)) }
		stop := context.AfterFunc(s.ctx, end) //nolint:contextcheck // the end of the session ends its turns
		defer stop()
		if s.ctx.Err() != nil {
			end() // now, rather than when the function above is run
		}

		t := &turn{session: s, feed: newFeed(), ids: make(map[string]bool, len(uses))}
		go t.run(ctx, uses)
		reading := true
		for events := t.feed.take(); len(events) > 0; events = t.feed.take() {
			for _, e := range events {
				if reading && !yield(e) {
					reading = false
					cancel(errLeft)
				}
			}
		}
	}
}

var errLeft = abi.Errorf(abi.CodeCancelled, "the reader of the turn's events left")

// Results runs the calls of one model message and returns their results, in
// call order.
func (s *Session) Results(ctx context.Context, uses []abi.ToolUse) []abi.ToolResult {
	results := make([]abi.ToolResult, 0, len(uses))
	for e := range s.Run(ctx, uses) {
		if e.Kind == EventResult {
			results = append(results, *e.Result)
		}
	}
	return results
}

func (t *turn) run(ctx context.Context, uses []abi.ToolUse) {
	defer t.feed.close()
	select {
	case t.session.turns <- struct{}{}:
		defer func() { <-t.session.turns }()
	case <-ctx.Done():
		// Not even queued; the scheduler below gives every call its failure.
	}
	jobs := scheduler.New(ctx, scheduler.Options{
		MaxConcurrent: t.session.host.options.MaxConcurrent,
		Panicked: func(_ scheduler.Job, p *scheduler.PanicError) {
			t.session.host.options.Logger.Error("a tool call panicked while it ended", "panic", p.Value, "stack", string(p.Stack))
		},
	})
	for i, use := range uses {
		// Only Close refuses a job, and nobody else knows this scheduler.
		_ = jobs.Add(t.submit(ctx, i, use))
	}
	jobs.Wait()
}

// claim refuses ids that results could not be matched to.
func (t *turn) claim(id string) error {
	if id == "" {
		return abi.Errorf(abi.CodeInvalidInput, "the call has no id; give every call of a message an id of its own")
	}
	if t.ids[id] {
		return abi.Errorf(abi.CodeInvalidInput, "another call of this message has the id %q too; this one was not run: give every call an id of its own", id)
	}
	t.ids[id] = true
	return nil
}
