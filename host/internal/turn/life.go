package turn

import (
	"context"
	"sync"
	"time"
)

// maxRest is how long what calls leave behind may go on after the session's end.
const maxRest = 5 * time.Second

// Life is how long a session goes on: its turns, and what calls leave behind. It is safe
// for concurrent use.
type Life struct {
	ctx context.Context //nolint:containedctx // ends with the session, whoever's context a turn runs under
	end context.CancelCauseFunc
	// over ends when what calls leave behind is not to go on either.
	over    context.Context //nolint:containedctx // as ctx
	endOver context.CancelFunc
	rest    sync.WaitGroup
}

// NewLife begins a life.
func NewLife() *Life {
	l := &Life{}
	l.ctx, l.end = context.WithCancelCause(context.Background())
	l.over, l.endOver = context.WithCancel(context.Background())
	return l
}

// Context ends with the session.
func (l *Life) Context() context.Context { return l.ctx }

// End ends the session's turns.
func (l *Life) End(cause error) { l.end(cause) }

// Span is how long one turn goes on. It is to be released.
type Span struct {
	// Ctx ends with the turn, and until the release with the session too.
	Ctx    context.Context //nolint:containedctx // the turn's own, for all of its calls
	Cancel context.CancelCauseFunc
	unlink func() bool
}

// During is the span of a turn that goes on while ctx and the session do.
func (l *Life) During(ctx context.Context) Span {
	ctx, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(context.Cause(l.ctx)) }
	unlink := context.AfterFunc(l.ctx, end) //nolint:contextcheck // the end of the session counts too
	if l.ctx.Err() != nil {
		end() // now, rather than when the function above is run
	}
	return Span{Ctx: ctx, Cancel: cancel, unlink: unlink}
}

// Release ends the span.
func (s *Span) Release() {
	s.unlink()
	s.Cancel(nil)
}

// After runs what a call leaves behind, whose own context is over. The session's end ends
// it, after a while.
func (l *Life) After(ctx context.Context, do func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(l.over, cancel) //nolint:contextcheck // it is the end of another one that counts
	l.rest.Go(func() {
		defer cancel()
		defer unlink()
		do(ctx)
	})
}

// EndRest waits for what calls left behind, and ends it after five seconds, or when ctx
// ends.
func (l *Life) EndRest(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.rest.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(maxRest):
	}
	l.endOver()
	<-done
}
