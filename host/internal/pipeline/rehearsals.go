package pipeline

import (
	"context"
	"sync"
)

const (
	// MaxRehearsals is how many calls a host rehearses at a time. They have no slot
	// yet, and any number of calls may come to be asked about at once.
	MaxRehearsals = 4
	// MaxTrials is how many commands a host tries at a time. Each may use a processor and 512 MiB.
	MaxTrials = 2
	// MaxPreviews bounds what the open questions of a host show of changes, in bytes:
	// a good hundred at their most, if that is ASCII. Further ones show none.
	MaxPreviews = 2 << 20
)

// Rehearsals is what the rehearsals of all calls share. It is safe for concurrent use.
type Rehearsals struct {
	slots, trials chan struct{} // hold a token for each rehearsal, or trial, that runs

	mu    sync.Mutex
	shown int // bytes of previews, of questions that are open
}

// NewRehearsals makes them.
func NewRehearsals() *Rehearsals {
	return &Rehearsals{slots: make(chan struct{}, MaxRehearsals), trials: make(chan struct{}, MaxTrials)}
}

// Enter waits for a slot, and reports whether there was one before ctx ended. It then
// needs a leave.
func (r *Rehearsals) Enter(ctx context.Context) bool { return enter(ctx, r.slots) }

func enter(ctx context.Context, slots chan<- struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Leave gives a slot back.
func (r *Rehearsals) Leave() { <-r.slots }

// EnterTrial is [Rehearsals.Enter] for a trial. It then needs a LeaveTrial.
func (r *Rehearsals) EnterTrial(ctx context.Context) bool { return enter(ctx, r.trials) }

// LeaveTrial gives the slot of a trial back.
func (r *Rehearsals) LeaveTrial() { <-r.trials }

// Show counts a preview in, unless there are too many. It then needs a Hide.
func (r *Rehearsals) Show(bytes int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > MaxPreviews-r.shown {
		return false
	}
	r.shown += bytes
	return true
}

// Hide counts a preview out.
func (r *Rehearsals) Hide(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown -= bytes
}

// Running is how many calls are rehearsed now.
func (r *Rehearsals) Running() int { return len(r.slots) }

// Shown is how many bytes of previews open questions show.
func (r *Rehearsals) Shown() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}
