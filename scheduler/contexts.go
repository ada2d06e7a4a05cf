package scheduler

import "context"

// scope is where jobs' contexts come from that end together: those of the whole
// scheduler, or, below them, of the jobs that a failure of one of a batch cancels.
// There is one for all jobs that an interrupt ends, and one for those that block
// it, made when there is a first such job. A nil scope has none.
type scope struct {
	batch      int
	soft, hard cancellable
}

// cancellable is a context with its end.
type cancellable struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// contextOf returns the context of a job, which outlives an interrupt if the job
// blocks it. The caller holds the mutex.
func (s *Scheduler) contextOf(e *entry, block bool) context.Context {
	if s.failure.reaches(e) { // its trait is new
		ctx, end := context.WithCancelCause(s.ctx)
		end(s.failure.err)
		return ctx
	}
	if !e.traits.Cascade || e.batch == noBatch || s.options.Cascade == CascadeOff {
		return s.context(block)
	}
	if s.siblings == nil || s.siblings.batch != e.batch {
		s.siblings.end(nil) // that batch is over
		s.siblings = &scope{batch: e.batch}
	}
	c := s.siblings.of(block)
	if c.ctx == nil {
		c.ctx, c.end = context.WithCancelCause(s.context(block))
	}
	return c.ctx
}

// context returns the context of a job that no other's failure ends. The caller
// holds the mutex.
func (s *Scheduler) context(block bool) context.Context {
	if s.options.NoInterrupt {
		return s.ctx
	}
	if s.scope == nil {
		s.scope = new(scope)
	}
	c := s.scope.of(block)
	if c.ctx == nil {
		c.ctx, c.end = context.WithCancelCause(s.ctx)
	}
	return c.ctx
}

func (c *scope) of(block bool) *cancellable {
	if block {
		return &c.hard
	}
	return &c.soft
}

// interrupt ends the contexts of jobs that do not block it.
func (c *scope) interrupt(cause error) {
	if c != nil && c.soft.end != nil {
		c.soft.end(cause)
	}
}

// end ends all contexts of the scope.
func (c *scope) end(cause error) {
	c.interrupt(cause)
	if c != nil && c.hard.end != nil {
		c.hard.end(cause)
	}
}

// Interrupt ends what may be ended: jobs that run without [Traits].Block see their
// context end with the cause, and jobs that do not run yet, those added later
// included, fail with it.
func (s *Scheduler) Interrupt(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over(cause)
	s.scope.interrupt(s.cause)
	s.advance()
}

// Discard ends everything: nothing more starts, and no result leaves. Jobs that
// run see their context end with the cause; every job that has not yielded is
// dropped.
func (s *Scheduler) Discard(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over(cause)
	s.discarded = true
	s.scope.end(cause)
	s.advance()
}

// over notes why nothing more begins; the first cause stands. The caller holds
// the mutex.
func (s *Scheduler) over(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	if s.cause == nil {
		s.cause = cause
	}
}

// Interruptible reports whether an interrupt would end all that runs.
func (s *Scheduler) Interruptible() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocking == 0
}

// block counts the jobs that run and block an interrupt. The caller holds the
// mutex.
func (s *Scheduler) block(by int) {
	was := s.blocking == 0
	s.blocking += by
	if is := s.blocking == 0; is != was && s.options.Interruptible != nil {
		s.options.Interruptible(is)
	}
}
