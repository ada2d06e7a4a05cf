package scheduler

import (
	"cmp"
	"context"
)

// contexts gives jobs their contexts, and knows why they end. The Scheduler's mutex
// guards it.
type contexts struct {
	options  *Options
	parent   context.Context
	all      scope // of all jobs
	siblings scope // of the cascade jobs of the batch under way
	failure  failure
	cause    error // why nothing begins any more, unless parent says it
	blocking int   // jobs that run and block an interrupt
}

// failure is what the failure of a job cancels.
type failure struct {
	batch int // noBatch for the rest of the turn
	err   *CascadeError
}

// scope is where jobs' contexts come from that end together: those of the whole
// scheduler, or, below them, of the jobs that a failure of one of a batch cancels.
// There is one for all jobs that an interrupt ends, and one for those that block
// it, made when there is a first such job.
type scope struct {
	batch      int
	soft, hard cancellable
}

// cancellable is a context with its end.
type cancellable struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// of returns the context of a job, which outlives an interrupt if the job blocks it.
func (c *contexts) of(e *entry, block bool) context.Context {
	if e.own != nil {
		return e.own
	}
	if c.failure.reaches(e) { // it got the trait Cascade in Admit, after the failure
		ctx, end := context.WithCancelCause(c.parent)
		end(c.failure.err)
		return ctx
	}
	if !e.traits.Cascade || e.batch == noBatch || c.options.Cascade == CascadeOff {
		return c.shared(block)
	}
	if c.siblings.batch != e.batch {
		c.siblings.end(nil) // that batch is over
		c.siblings = scope{batch: e.batch}
	}
	return c.siblings.of(c.shared(block), block)
}

// shared returns the context of a job that no other's failure ends.
func (c *contexts) shared(block bool) context.Context {
	if c.options.NoInterrupt {
		return c.parent
	}
	return c.all.of(c.parent, block)
}

// fail ends the contexts of a failed job's siblings, and reports whether it reaches
// jobs that no failure before it reached.
func (c *contexts) fail(e *entry) bool {
	turn := c.options.Cascade == CascadeTurn
	if c.options.Cascade == CascadeOff || e.batch == noBatch && !turn {
		return false
	}
	f := failure{batch: e.batch, err: &CascadeError{Failed: e.Job}}
	if turn {
		f.batch = noBatch
	}
	if c.failure.err != nil && c.failure.batch == f.batch {
		return false // the first one did it
	}
	c.failure = f
	if e.batch != noBatch {
		c.siblings.end(f.err)
	}
	return true
}

// reaches reports whether a job, which has not begun, is cancelled.
func (f *failure) reaches(e *entry) bool {
	return f.err != nil && e.own == nil && e.traits.Cascade && (f.batch == noBatch || f.batch == e.batch)
}

// over reports whether nothing begins any more, and reason why.
func (c *contexts) over() bool    { return c.cause != nil || c.parent.Err() != nil }
func (c *contexts) reason() error { return cmp.Or(c.cause, context.Cause(c.parent)) }

// stop sets why nothing more begins; the first cause stands.
func (c *contexts) stop(cause error) { c.cause = cmp.Or(c.cause, cause, context.Canceled) }

// block counts the jobs that run and block an interrupt.
func (c *contexts) block(by int) {
	was := c.blocking == 0
	c.blocking += by
	if is := c.blocking == 0; is != was && c.options.Interruptible != nil {
		c.options.Interruptible(is)
	}
}

// of returns the context of jobs that block an interrupt, or of those that do not.
func (s *scope) of(parent context.Context, block bool) context.Context {
	c := &s.soft
	if block {
		c = &s.hard
	}
	if c.ctx == nil {
		c.ctx, c.end = context.WithCancelCause(parent)
	}
	return c.ctx
}

// interrupt ends the contexts of jobs that do not block it.
func (s *scope) interrupt(cause error) {
	if s.soft.end != nil {
		s.soft.end(cause)
	}
}

// end ends all contexts of the scope.
func (s *scope) end(cause error) {
	s.interrupt(cause)
	if s.hard.end != nil {
		s.hard.end(cause)
	}
}

// watch calls a function when a context ends, until stop is called, which waits for the
// function if it was called.
func watch(ctx context.Context, ended func()) (stop func()) {
	done := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(done)
		ended()
	})
	return func() {
		if unwatch() {
			close(done)
		}
		<-done
	}
}
