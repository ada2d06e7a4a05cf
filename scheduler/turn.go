package scheduler

import "context"

// ending is how a job's turn ended.
type ending uint8

const (
	exited  ending = iota // its goroutine ended under it
	ended                 // it has its result
	demoted               // it must wait until it can run alone
)

// turn is the time of one job, from its admission to its end, in the hands of one goroutine.
// (Elsewhere a turn is all calls of a message.)
type turn struct {
	s   *Scheduler
	e   *entry
	how ending
}

// admit calls Admit once the effects are applied that the job must see. It reports
// whether the job may go on.
func (t *turn) admit() bool {
	e, o := t.e, &t.s.options
	t.s.queue.effects.settleBefore(e)
	if e.ctx.Err() != nil {
		o.fail(e, context.Cause(e.ctx))
		return false
	}
	admitted := false
	return o.attempt(e, "Admit", func() { admitted = e.Admit(e.ctx) }) && admitted
}

// review asks an admitted job again for its traits, and reports whether it may run
// beside the others as it was given to. It keeps its locks in any case.
func (t *turn) review() bool {
	s, e := t.s, t.e
	now := s.options.ask(e.Job)
	e.traits.Block, e.traits.Group = now.Block, now.Group
	if now.Cascade != e.traits.Cascade {
		e.traits.Cascade = now.Cascade
		s.mu.Lock()
		e.ctx = s.queue.contexts.of(e, false)
		s.mu.Unlock()
	}
	return e.alone || !outgrown(&e.traits, &now)
}

// conclude applies the effects of a job that is not safe, while it has its locks
// and its result has not left.
func (t *turn) conclude() {
	defer func() { // the job may end the goroutine in Fail too
		if t.how != demoted && t.e.changes() {
			t.s.queue.effects.settleNow(t.e)
		}
	}()
	if t.how == exited {
		t.s.options.fail(t.e, ErrExited)
	}
}
