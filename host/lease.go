package host

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/permissions"
)

// lease is what a person said of one call: what they allowed, which is exactly
// the accesses that they were shown, and what they denied.
type lease struct {
	mu       sync.Mutex
	given    bool
	accesses []permissions.Access
	denied   map[permissions.Access]error
	// asking holds a token while the person is asked; made by the first.
	asking chan struct{}
}

// enter waits until no other question of the call is open.
func (l *lease) enter(ctx context.Context) error {
	l.mu.Lock()
	if l.asking == nil {
		l.asking = make(chan struct{}, 1)
	}
	asking := l.asking
	l.mu.Unlock()
	select {
	case asking <- struct{}{}:
	case <-ctx.Done():
		return cancelled(ctx)
	}
	if ctx.Err() != nil {
		l.leave() // nobody is asked about a call that is over
		return cancelled(ctx)
	}
	return nil
}

func (l *lease) leave() { <-l.asking }

// refuse keeps what a person denied.
func (l *lease) refuse(accesses []permissions.Access, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.denied == nil {
		l.denied = make(map[permissions.Access]error)
	}
	for _, a := range accesses {
		l.denied[a] = err
	}
}

// refusal is what the person said to one of the accesses before, or nil.
func (l *lease) refusal(accesses []permissions.Access) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range accesses {
		if err := l.denied[a]; err != nil {
			return err
		}
	}
	return nil
}

func (l *lease) add(accesses []permissions.Access) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = true
	l.accesses = append(slices.Clip(l.accesses), accesses...)
}

// drop forgets what was allowed: it was said of another input.
func (l *lease) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given, l.accesses = false, nil
}

// evidence is the lease as the judgement takes it, nil where nothing was
// allowed.
func (l *lease) evidence(binding func() string) *permissions.Approval {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.given {
		return nil
	}
	return &permissions.Approval{InputHash: binding(), Accesses: l.accesses}
}

// all are the accesses that were allowed. They are not to be changed.
func (l *lease) all() []permissions.Access {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accesses // what is added goes to another array
}

// coversBelow reports whether a tree that was allowed holds the access, under
// both its names.
func (l *lease) coversBelow(a permissions.Access) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.accesses, func(tree permissions.Access) bool {
		return tree.Tree && tree.Kind == a.Kind && below(a.Target, tree.Target) && below(a.Real, tree.Real)
	})
}

// below reports whether a clean path is a directory or lies in it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(dir, "/"))
}
