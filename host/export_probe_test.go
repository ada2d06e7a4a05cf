package host

// LookAgain makes the next command look for a sandbox again, if one is missing.
func LookAgain(h *Host) { h.engines.commands.LookAgain() }
