package host

import "time"

// LookAgain has it be time to look for a sandbox again that was not found.
func LookAgain(h *Host) {
	h.commands.mu.Lock()
	defer h.commands.mu.Unlock()
	if w := h.commands.works; w != nil && !w.again.IsZero() {
		w.again = time.Now().Add(-time.Second)
	}
}
