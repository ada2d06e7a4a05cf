package direct

import (
	"context"
	"errors"
	"testing"
	"time"
)

// submitted is a capability call of a guest call that runs under ctx.
func submitted(ctx context.Context) *handle {
	c := &call{}
	c.Begin(ctx, time.Hour)
	return &handle{call: c}
}

// wantOver checks what a context says that has ended, asked for the first time.
func wantOver(t *testing.T, ctx context.Context, err, cause error) {
	t.Helper()
	if !errors.Is(ctx.Err(), err) || !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("Err is %v, its cause %v; want %v, %v", ctx.Err(), context.Cause(ctx), err, cause)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Error("Done is open")
	}
	if !errors.Is(ctx.Err(), err) || !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("after Done, Err is %v, its cause %v; want %v, %v", ctx.Err(), context.Cause(ctx), err, cause)
	}
}

// A capability is told of the end of what it runs for, whether it waits for that,
// looks at it now and then, or makes contexts of its own.
func TestCapabilityIsToldOfTheEnd(t *testing.T) {
	enough := errors.New("enough")
	type under = func(context.Context) context.Context
	ends := map[string]struct {
		end        func(h *handle, cancel context.CancelCauseFunc)
		err, cause error
	}{
		"of the call":          {func(_ *handle, cancel context.CancelCauseFunc) { cancel(enough) }, context.Canceled, enough},
		"of interest in it":    {func(h *handle, _ context.CancelCauseFunc) { h.free() }, context.Canceled, context.Canceled},
		"of one after another": {func(h *handle, cancel context.CancelCauseFunc) { h.free(); cancel(enough) }, context.Canceled, nil},
	}
	ways := map[string]under{
		"looks": func(ctx context.Context) context.Context { return ctx },
		"waits": func(ctx context.Context) context.Context { ctx.Done(); return ctx },
		"makes another": func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			t.Cleanup(cancel)
			return ctx
		},
	}
	for what, end := range ends {
		for how, way := range ways {
			t.Run(how+", "+what, func(t *testing.T) {
				parent, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				h := submitted(parent)
				defer h.free()
				ctx := way(h)
				if ctx.Err() != nil || context.Cause(ctx) != nil {
					t.Errorf("it is over before it began: %v", ctx.Err())
				}
				end.end(h, cancel)
				cause := end.cause
				if cause == nil { // whichever was heard of
					cause = context.Cause(ctx)
				}
				wantOver(t, ctx, end.err, cause)
			})
		}
	}
}

// TestCapabilityContextIsTheCalls in what it carries.
func TestCapabilityContextIsTheCalls(t *testing.T) {
	type key struct{}
	deadline := time.Now().Add(time.Hour)
	parent, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), deadline)
	defer cancel()
	h := submitted(parent)
	defer h.free()
	for range 2 {
		if got, ok := h.Deadline(); !ok || !got.Equal(deadline) {
			t.Errorf("the deadline is %v, %v", got, ok)
		}
		if got := h.Value(key{}); got != "value" {
			t.Errorf("the value is %v", got)
		}
		if callOf(h) != h.call {
			t.Error("a call made under it does not find its own")
		}
		h.Done() // from here on it has a context of its own
	}
}
