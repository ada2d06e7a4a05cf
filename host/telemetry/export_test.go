package telemetry

// Remembered counts what the observer remembers.
func (o *Observer) Remembered() int {
	o.underway.mu.Lock()
	defer o.underway.mu.Unlock()
	n := len(o.underway.calls)
	for _, t := range o.underway.turns {
		n += 1 + len(t.calls)
	}
	return n
}
