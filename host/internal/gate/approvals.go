package gate

import (
	"context"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// Approvals are what a person said about one call: the accesses that they were shown
// and allowed, and those that they denied. The zero value is ready for use. It is safe
// for concurrent use.
type Approvals struct {
	mu       sync.Mutex
	given    bool
	allowed  []permissions.Access
	denied   map[permissions.Access]error
	versions int // counts changes of what is allowed
	// asking holds a token while the person is asked; made by the first.
	asking chan struct{}
}

// enter waits until no other question about the call is open.
func (a *Approvals) enter(ctx context.Context) error {
	a.mu.Lock()
	if a.asking == nil {
		a.asking = make(chan struct{}, 1)
	}
	asking := a.asking
	a.mu.Unlock()
	select {
	case asking <- struct{}{}:
	case <-ctx.Done():
		return Cancelled(ctx)
	}
	if ctx.Err() != nil {
		a.leave() // nobody is asked about a call that is over
		return Cancelled(ctx)
	}
	return nil
}

func (a *Approvals) leave() { <-a.asking }

// deny keeps what a person denied.
func (a *Approvals) deny(accesses []permissions.Access, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.denied == nil {
		a.denied = make(map[permissions.Access]error)
	}
	for _, access := range accesses {
		a.denied[access] = err
	}
}

// denial is what the person said about one of the accesses before, or nil.
func (a *Approvals) denial(accesses []permissions.Access) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, access := range accesses {
		if err := a.denied[access]; err != nil {
			return err
		}
	}
	return nil
}

// Allow adds accesses that the person allowed.
func (a *Approvals) Allow(accesses []permissions.Access) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given = true
	a.versions++
	a.allowed = append(slices.Clip(a.allowed), accesses...)
}

// Reset forgets what was allowed: it was about another input.
func (a *Approvals) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given, a.allowed = false, nil
	a.versions++
}

// evidence is what was allowed as the judgement takes it; nil where nothing was.
func (a *Approvals) evidence(call *Call) *permissions.Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.given {
		return nil
	}
	return &permissions.Approval{InputHash: call.Binding(), Accesses: a.allowed}
}

func (a *Approvals) version() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.versions
}

// Allowed returns the accesses that were allowed. They must not be changed.
func (a *Approvals) Allowed() []permissions.Access {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.allowed // what is added goes to another array
}

// has reports whether all of some accesses were allowed.
func (a *Approvals) has(accesses []permissions.Access) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.ContainsFunc(accesses, func(access permissions.Access) bool { return !slices.Contains(a.allowed, access) })
}

// Covers reports whether a directory tree that was allowed holds the access, under both
// its names.
func (a *Approvals) Covers(access permissions.Access) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.allowed, func(tree permissions.Access) bool {
		return tree.Tree && tree.Kind == access.Kind && paths.Below(access.Target, tree.Target) && paths.Below(access.Real, tree.Real)
	})
}
