package servers

import (
	"context"
	"sync"
	"time"
)

// timeLimit ends a context after a time, in which the time that a person takes does not count.
type timeLimit struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer

	mu     sync.Mutex
	paused int
	left   time.Duration
	since  time.Time // when it began to run
}

// newTimeLimit returns a context that ends when the time is over, for that cause.
func newTimeLimit(ctx context.Context, most time.Duration, cause error) (context.Context, *timeLimit) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &timeLimit{cancel: cancel, left: most, since: time.Now(), timer: time.AfterFunc(most, func() { cancel(cause) })}
}

// pause stops the time until resume is called as often.
func (l *timeLimit) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused++; l.paused == 1 && l.timer.Stop() {
		l.left -= time.Since(l.since)
	}
}

func (l *timeLimit) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused--; l.paused == 0 {
		l.since = time.Now()
		l.timer.Reset(max(l.left, 0))
	}
}

// stop ends the context, whatever time is left.
func (l *timeLimit) stop() {
	l.timer.Stop()
	l.cancel(nil)
}
