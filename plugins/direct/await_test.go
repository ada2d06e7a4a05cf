package direct

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// TestAwaitOfOver: a guest that comes to wait when its call is over does not go on
// with the answer that the end brought about.
func TestAwaitOfOver(t *testing.T) {
	tests := map[string]struct{ handles, answered int }{
		"one, answered":      {1, 1},
		"one, unanswered":    {1, 0},
		"two, both answered": {2, 2},
		"two, one answered":  {2, 1},
		"two, unanswered":    {2, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			c := &call{}
			c.Begin(ctx, time.Hour)
			gone := errors.New("the user went home")
			handles := make([]*handle, test.handles)
			for i := range handles {
				handles[i] = &handle{call: c, done: make(chan struct{})}
			}
			cancel(gone)
			for _, h := range handles[:test.answered] {
				h.answer(abi.Answer{}, gone)
				close(h.done)
			}
			defer func() {
				if got := recover(); got != gone { //nolint:errorlint // what the guest's function is ended with
					t.Errorf("the wait ended with %v", got)
				}
			}()
			c.awaitAny(c, handles)
		})
	}
}
