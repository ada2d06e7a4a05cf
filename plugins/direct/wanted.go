package direct

import (
	"context"
	"time"
)

// A capability runs under its handle, a context that ends with the guest's call or
// when the answer is not wanted any more.

var _ context.Context = (*handle)(nil)

// Deadline is that of the guest's call.
func (h *handle) Deadline() (time.Time, bool) { return h.call.Deadline() }

// Done makes what can be waited for when that is first asked for.
func (h *handle) Done() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.own == nil {
		h.own, h.cancel = context.WithCancel(h.call)
		if h.freed {
			h.cancel()
		}
	}
	return h.own.Done()
}

// Err is as in [context.Context].
func (h *handle) Err() error {
	own, freed := h.state()
	switch {
	case own != nil:
		return own.Err()
	case freed:
		return context.Canceled
	}
	return h.call.Err()
}

// Value is as in [context.Context]. Contexts that are made of this one ask it what
// ends them.
func (h *handle) Value(key any) any {
	if own, _ := h.state(); own != nil {
		return own.Value(key)
	}
	return h.call.Value(key)
}

func (h *handle) state() (own context.Context, freed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.own, h.freed
}
