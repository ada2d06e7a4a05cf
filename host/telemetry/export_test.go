package telemetry

// Remembered counts what the observer remembers.
func (o *Observer) Remembered() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.live)
	for _, t := range o.turns {
		n += 1 + len(t.calls)
	}
	return n
}
