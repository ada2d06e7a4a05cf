package host

// SearchAtMost bounds the names that are looked at before a command searches unconfined.
func (h *Host) SearchAtMost(names int) { h.sessions.Calls.MaxSearched = names }
