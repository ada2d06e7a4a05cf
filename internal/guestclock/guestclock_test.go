package guestclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/internal/guestclock"
)

func start(limit time.Duration) (*guestclock.Clock, context.Context) {
	ctx, cancel := context.WithCancelCause(context.Background())
	return guestclock.Start(limit, cancel), ctx
}

func TestOnlyTimeThatRunsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, ctx := start(time.Second)
		began := time.Now()
		time.Sleep(600 * time.Millisecond)
		clock.Pause()
		clock.Pause()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("a paused clock went on")
		}
		clock.Resume()
		clock.Resume()
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), guestclock.ErrOutOfTime) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		if ran := time.Since(began) - time.Hour; ran != time.Second {
			t.Errorf("it ran for %v", ran)
		}
	})
}

func TestStoppedClockNeverFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, ctx := start(time.Second)
		clock.Stop()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Error("it fired")
		}
	})
}

// TestUsedUpClockFiresOnResume spends the last of its time just before a pause.
func TestUsedUpClockFiresOnResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, ctx := start(time.Second)
		for range 10 {
			time.Sleep(100 * time.Millisecond)
			clock.Pause()
			clock.Resume()
		}
		synctest.Wait()
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("pausing gave time back")
		}
	})
}
