package audit

// Unsynced reports whether lines wait to be forced to the disk.
func (l *Log) Unsynced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncer.unsynced
}

// AtMoments has a function told of the moments of rotations and drops.
func (l *Log) AtMoments(reached func(moment string)) { l.reached = reached }
