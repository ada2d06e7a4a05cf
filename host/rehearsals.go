package host

import (
	"context"
	"sync"
)

const (
	// maxRehearsals is how many calls a host rehearses at a time. They have no slot
	// yet, and any number of calls may come to be asked about at once.
	maxRehearsals = 4
	// maxPreviews bounds what the open questions of a host show of changes, in bytes:
	// a good hundred at their most, if that is ASCII. Further ones show none.
	maxPreviews = 2 << 20
)

// rehearsals is what the rehearsals of a host have in common.
type rehearsals struct {
	slots chan struct{} // holds a token for each that runs

	mu    sync.Mutex
	shown int // bytes of previews, of questions that are open
}

func newRehearsals() *rehearsals {
	return &rehearsals{slots: make(chan struct{}, maxRehearsals)}
}

// enter waits for a slot, and reports whether there was one before ctx ended. It then
// needs a leave.
func (r *rehearsals) enter(ctx context.Context) bool {
	select {
	case r.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *rehearsals) leave() { <-r.slots }

// show counts a preview in, unless there are too many. It then needs a hide.
func (r *rehearsals) show(bytes int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > maxPreviews-r.shown {
		return false
	}
	r.shown += bytes
	return true
}

func (r *rehearsals) hide(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown -= bytes
}
