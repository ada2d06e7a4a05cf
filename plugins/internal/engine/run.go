package engine

import (
	"context"
	"errors"
	"time"
)

// ErrOutOfTime ends a guest that used up the running time it was given.
var ErrOutOfTime = errors.New("the plugin's time is used up")

// Run is one stay in a guest: the context it runs under, its clock and its log.
// Pass it, or what embeds it, as it is to wazero: host functions find it by its
// type. A Run serves one goroutine, but for the methods of [context.Context],
// which pass everything on to the context it was begun with.
//
// The zero value is ready for Begin. A Run is used once.
type Run struct {
	parent context.Context
	done   <-chan struct{}

	clock
	fuel
	calls   uint32 // of host functions
	closed  uint8  // bits of standard streams that the guest closed
	outside bool
	logLines
}

// clock counts a guest's own time.
type clock struct {
	left    time.Duration // when it last started
	since   time.Time
	running bool
}

// Pause stops the clock, for as long as the guest waits for the host. Pausing a
// paused clock does nothing.
func (c *clock) Pause() {
	if c.running {
		c.left -= time.Since(c.since)
		c.running = false
	}
}

// remaining is what is left of the guest's own time.
func (c *clock) remaining(now time.Time) time.Duration {
	if c.running {
		return c.left - now.Sub(c.since)
	}
	return c.left
}

// Begin starts the run and its clock: the guest may run for limit, counted
// while the clock is not paused. It is stopped within a few milliseconds of
// that, or of the end of ctx.
func (r *Run) Begin(ctx context.Context, limit time.Duration) {
	r.parent, r.done = ctx, ctx.Done()
	r.left = limit
	r.Resume()
	r.yielded = r.since
}

// under begins the run and returns it as a context.
func (r *Run) under(ctx context.Context, limit time.Duration) context.Context {
	r.Begin(ctx, limit)
	return r
}

// End stops the clock and ends the line that the guest is writing.
func (r *Run) End() {
	r.Pause()
	r.flush()
}

// Resume lets the clock go on.
func (r *Run) Resume() {
	if !r.running {
		r.since, r.running = time.Now(), true
		r.fuelled = r.since
	}
}

// Over returns why the guest must stop now: the cause of its context's end, or
// [ErrOutOfTime]; nil if it may go on.
func (r *Run) Over() error {
	if !r.running {
		return r.over(r.since) // whatever the time is
	}
	return r.over(time.Now())
}

func (r *Run) over(now time.Time) error {
	if r.parent.Err() != nil { // which it has a moment before Done is closed
		return context.Cause(r.parent)
	}
	if r.remaining(now) <= 0 {
		return ErrOutOfTime
	}
	return nil
}

// Check stops the guest, by a panic that wazero turns into the error of the
// guest function's call, if it is Over. It is for host functions.
func (r *Run) Check() {
	if err := r.Over(); err != nil {
		panic(err)
	}
}

// CheckContext is Check without a look at the clock, for host functions that are
// called often. It comes after whatever the end of the context may have ended, so
// that a guest does not go on with that.
func (r *Run) CheckContext() {
	if r.parent.Err() != nil {
		panic(context.Cause(r.parent))
	}
}

// checkEvery is how many calls of host functions pass between two checks.
const checkEvery = 64

// Tick counts a call of a host function that has size bytes to work on, and
// checks every few calls, or each time where they are many bytes: a guest spends
// hardly any fuel on calls, so that they would stretch its limits. Host functions
// call it first.
func (r *Run) Tick(size int) {
	if r.calls++; r.calls%checkEvery == 0 || size > piece {
		r.Check()
	}
}

// TakeOutside notes that the guest learnt something from outside, such as the
// time: an instance during whose start this happened cannot be told to be like
// any other. Host functions that a start function may call must call it unless
// they always answer the same.
func (r *Run) TakeOutside() { r.outside = true }

// Deadline is that of the context the run was begun with.
func (r *Run) Deadline() (time.Time, bool) { return r.parent.Deadline() }

// Done is that of the context the run was begun with.
func (r *Run) Done() <-chan struct{} { return r.done }

// Err is that of the context the run was begun with.
func (r *Run) Err() error { return r.parent.Err() }

// Value is that of the context the run was begun with.
func (r *Run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.parent.Value(key)
}

// runKey finds a Run that wazero's own keys were put around.
type runKey struct{}

// runner is a Run, or a type that embeds one.
type runner interface{ theRun() *Run }

func (r *Run) theRun() *Run { return r }

// RunOf returns the run that a host function was called in. It is nil where the
// guest was called with some other context, which is a defect of the runner.
func RunOf(ctx context.Context) *Run {
	if r, ok := ctx.(runner); ok {
		return r.theRun()
	}
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}
