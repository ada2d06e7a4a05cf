package host

import (
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/permissions"
)

// lease is what a person allowed one call: exactly the accesses that they were
// shown. It ends with the call.
type lease struct {
	mu       sync.Mutex
	given    bool
	accesses []permissions.Access
}

func (l *lease) add(accesses []permissions.Access) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = true
	l.accesses = append(slices.Clip(l.accesses), accesses...)
}

// evidence is the lease as the judgement takes it, nil where nothing was
// allowed.
func (l *lease) evidence(binding string) *permissions.Approval {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.given {
		return nil
	}
	return &permissions.Approval{InputHash: binding, Accesses: l.accesses}
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
