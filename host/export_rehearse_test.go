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
		h.sessions.Calls.Rehearsals.Enter(context.Background())
	}
	return func() {
		for range n {
			h.sessions.Calls.Rehearsals.Leave()
		}
	}
}

// Rehearsing is how many calls are rehearsed now.
func Rehearsing(h *Host) int { return h.sessions.Calls.Rehearsals.Running() }

// Previewed is how many bytes the open questions show of changes, and Preview has some
// more be shown.
func Previewed(h *Host) int { return h.sessions.Calls.Rehearsals.Shown() }

// Preview is beside [Previewed].
func Preview(h *Host, bytes int) bool { return h.sessions.Calls.Rehearsals.Show(bytes) }
