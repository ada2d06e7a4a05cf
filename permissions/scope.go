package permissions

import (
	"fmt"
	"path/filepath"

	"github.com/toolquay/toolquay/permissions/internal/pathrule"
)

// Scope is the set of paths that a plugin's manifest says it keeps to. It can
// only narrow what rules allow.
type Scope struct {
	everywhere bool
	book       pathRules
}

// Scope reads patterns as an allow rule would, relative to the policy's
// directories. No patterns are everywhere.
func (p *Policy) Scope(patterns []string) (Scope, error) {
	s := Scope{everywhere: len(patterns) == 0}
	for _, text := range patterns {
		spec, err := pathrule.Parse(text)
		if err != nil {
			return Scope{}, fmt.Errorf("the pattern %q: %w", text, err)
		}
		r := &Rule{Verdict: Allow, text: text, folder: p.project, coverage: coverage{path: spec, reads: true, writes: true}}
		s.book.paths[Allow].add(r, &p.places)
	}
	return s, nil
}

// Covers reports whether an access keeps to the scope, under both names of its path. A tree that is
// read always does, as the files found in it are judged one by one. Accesses to other things than
// paths are outside every scope of paths.
func (s *Scope) Covers(a Access) bool {
	if s.everywhere || a.Kind == AccessSession {
		return true
	}
	if a.Kind != AccessRead && a.Kind != AccessWrite {
		return false
	}
	q := pathrule.Query{Target: filepath.ToSlash(a.Target), Real: filepath.ToSlash(a.Real), Write: a.Kind == AccessWrite}
	if q.Real == "" {
		return false
	}
	if a.Tree && a.Kind == AccessRead {
		return true
	}
	return s.book.allow(&q, q.Target) != nil && s.book.allow(&q, q.Real) != nil
}
