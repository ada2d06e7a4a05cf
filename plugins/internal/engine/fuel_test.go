package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestRations: whoever takes long gets less fuel at a time, and more again.
func TestRations(t *testing.T) {
	if got := next(0, time.Hour); got != quantum {
		t.Errorf("the first one is %d", got)
	}
	ration := int64(quantum)
	for range 10 {
		ration = next(ration, 10*time.Millisecond)
	}
	if ration != leastQuantum {
		t.Errorf("a slow guest gets %d", ration)
	}
	if got := next(ration, time.Millisecond); got != ration {
		t.Errorf("one that takes a millisecond gets %d after %d", got, ration)
	}
	for range 10 {
		ration = next(ration, 10*time.Microsecond)
	}
	if ration != quantum {
		t.Errorf("a fast guest gets %d", ration)
	}
}

// TestSlowGuestsGetLess: a guest for which fuel lasts too long is stopped as soon
// as any other.
func TestSlowGuestsGetLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := &Run{}
		ctx := run.under(t.Context(), time.Minute)
		defer run.End()
		stack := []uint64{0}
		for range 4 {
			refill(ctx, stack)
			time.Sleep(2 * longQuantum)
		}
		if stack[0] != quantum/64 {
			t.Errorf("it gets %d", stack[0])
		}
		run.Pause()
		time.Sleep(2 * longQuantum)
		run.Resume() // waiting for the host is not the guest's time
		refill(ctx, stack)
		if stack[0] != quantum/32 {
			t.Errorf("after a pause it gets %d", stack[0])
		}
	})
}
