package host

import (
	"context"

	"github.com/toolquay/toolquay/host/internal/pipeline"
)

// The bounds of rehearsals.
const (
	MaxRehearsal  = pipeline.MaxRehearsal
	MaxRehearsals = pipeline.MaxRehearsals
	MaxPreviews   = pipeline.MaxPreviews
)

// Rehearse takes the place of so many rehearsals, until the function is called.
func Rehearse(h *Host, n int) (end func()) {
	for range n {
		h.calls.Rehearsals.Enter(context.Background())
	}
	return func() {
		for range n {
			h.calls.Rehearsals.Leave()
		}
	}
}

// Rehearsing is how many calls are rehearsed now.
func Rehearsing(h *Host) int { return h.calls.Rehearsals.Running() }

// Previewed is how many bytes the open questions show of changes, and Preview has some
// more be shown.
func Previewed(h *Host) int { return h.calls.Rehearsals.Shown() }

// Preview is beside [Previewed].
func Preview(h *Host, bytes int) bool { return h.calls.Rehearsals.Show(bytes) }
