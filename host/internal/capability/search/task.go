package search

import (
	"sync/atomic"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

// file is one file a walk came to.
type file struct {
	dir  *workspace.Dir
	in   string // the directory as it was named: the root's target and what is below
	name string
	// real is where the directory really lies.
	real string
	// stage is that of a file that is staged; nil for others.
	stage capability.Stage
}

// path is the file's, as it was named.
func (f file) path() string { return join(f.in, f.name) }

// resolved is the file's real path.
func (f file) resolved() string { return join(f.real, f.name) }

// chooser says which entries of one directory are wanted: files to visit, and
// directories to go into.
type chooser interface {
	want(name string, dir bool) bool
}

// task is one directory to walk, or some files of one to visit.
type task struct {
	in    *shared // nil for the root
	name  string
	files []string
	paths
	depth int
}

func (t task) drop() {
	if t.in != nil {
		t.in.release()
	}
}

// paths are one directory's, as it was named and as it is.
type paths struct{ target, resolved string }

func (p paths) child(name string) paths {
	c := paths{target: join(p.target, name)}
	if c.resolved = c.target; p.resolved != p.target {
		c.resolved = join(p.resolved, name)
	}
	return c
}

func (p paths) access(tree bool) permissions.Access {
	return permissions.Access{Kind: permissions.AccessRead, Target: p.target, Real: p.resolved, Tree: tree}
}

// shared is an open directory that several tasks need.
type shared struct {
	*workspace.Dir
	ignores *ignores
	// plain is true of files that need no judgement of their own; nil is of none.
	plain func(name string) bool
	refs  atomic.Int64
}

func (s *shared) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.Close() // it was only read
	}
}
