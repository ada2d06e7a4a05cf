package host

import "strings"

// The bounds of rehearsals.
const (
	MaxRehearsal  = maxRehearsal
	MaxRehearsals = maxRehearsals
	MaxPreviews   = maxPreviews
)

// Rehearse takes the place of so many rehearsals, until the function is called.
func Rehearse(h *Host, n int) (end func()) {
	for range n {
		h.rehearsals.slots <- struct{}{}
	}
	return func() {
		for range n {
			h.rehearsals.leave()
		}
	}
}

// Rehearsing is how many calls are rehearsed now.
func Rehearsing(h *Host) int { return len(h.rehearsals.slots) }

// Previewed is how many bytes the open questions show of changes, and Preview has some
// more be shown.
func Previewed(h *Host) int {
	h.rehearsals.mu.Lock()
	defer h.rehearsals.mu.Unlock()
	return h.rehearsals.shown
}

// Preview is beside [Previewed].
func Preview(h *Host, bytes int) bool { return h.rehearsals.show(bytes) }

// KeptOf is how many bytes a rehearsal keeps of so many equal diffs.
func KeptOf(diff string, n int) int {
	var r rehearsal
	for range n {
		r.keep([]byte(diff))
	}
	return len(r.diffs)
}

// PreviewOf is what a question shows of diffs.
func PreviewOf(diffs ...string) string { return preview(strings.Join(diffs, "")) }
