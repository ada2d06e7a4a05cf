package search

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// staged are the files below a search's root that the session has staged. The walk
// passes over them, and then they are gone through by themselves, as if they lay in
// the tree: judged, filtered and ignored alike. What a staged ignore file says counts
// once it is applied.
type staged struct {
	stage capability.Stage
	// list holds the staged files. hidden holds the real paths at which the session does not
	// see what the disk has, because it was staged anew, removed or replaced.
	list   []capability.Staged
	hidden map[string]bool
}

// findStaged asks what is staged; nil is nothing.
func findStaged(r root) (*staged, error) {
	if r.stage == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	list, err := r.stage.Below(r.node.Real)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s := &staged{stage: r.stage, hidden: make(map[string]bool, len(list))}
	for _, one := range list {
		s.hidden[one.Path] = one.Kind != abi.KindDirectory || one.Opaque
		if one.Kind == abi.KindFile {
			s.list = append(s.list, one)
		}
	}
	return s, nil
}

// hides reports whether the session does not see what the disk has under a name in a directory.
func (s *staged) hides(dir paths, name string) bool {
	return s != nil && s.hidden[join(dir.resolved, name)]
}

// level is a directory on the way to staged files.
type level struct {
	paths
	dir     *workspace.Dir // nil for one that is not on the disk
	ignores *ignores
	depth   int
}

// close lets go of the directory.
func (l *level) close() {
	if l.dir != nil {
		_ = l.dir.Close() // it was only read
	}
}

// stagedWalk goes through what is staged in a tree.
type stagedWalk struct {
	*walk
	staged *staged
}

// run visits the staged files. It is for one goroutine, after or before the walk.
func (w *stagedWalk) run(ctx context.Context) error {
	top := &level{paths: paths{target: w.root.node.Target, resolved: w.root.node.Real}}
	var err error
	if top.dir, err = w.root.node.OpenDir(); err != nil {
		return err
	}
	defer top.close()
	if w.ignore {
		top.ignores = parents(top.resolved, w.root.cwd)
	}
	w.ignoresOf(top)
	return w.within(ctx, top, w.staged.list)
}

// ignoresOf adds the ignore files of a directory to those above it.
func (w *stagedWalk) ignoresOf(l *level) {
	if w.ignore && l.dir != nil {
		l.ignores = load(l.ignores, l.dir, l.resolved, anyName)
	}
}

// within goes through what is staged below one directory.
func (w *stagedWalk) within(ctx context.Context, l *level, list []capability.Staged) error {
	wanted := w.in(l.paths, l.ignores)
	for len(list) > 0 {
		if err := interrupted(ctx); err != nil {
			return err
		}
		name, dir, n := first(list, l.resolved)
		var err error
		switch {
		case isVCS(name) || !wanted.want(name, dir):
		case dir:
			err = w.below(ctx, l, name, list[:n])
		default:
			err = w.file(ctx, l.paths, file{in: l.target, name: name, real: l.resolved, stage: w.staged.stage}, nil)
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// first returns the name that the first of the files below a directory lies at or
// below, whether that is a directory, and how many of them lie there.
func first(list []capability.Staged, dir string) (name string, isDir bool, n int) {
	rest := func(i int) string { return list[i].Path[len(join(dir, "")):] }
	const separator = string(filepath.Separator)
	name, _, isDir = strings.Cut(rest(0), separator)
	for n = 1; isDir && n < len(list) && strings.HasPrefix(rest(n), name+separator); n++ {
	}
	return name, isDir, n
}

// below goes into a directory.
func (w *stagedWalk) below(ctx context.Context, in *level, name string, list []capability.Staged) error {
	l := &level{paths: in.child(name), ignores: in.ignores, depth: in.depth + 1}
	if in.dir != nil && !w.staged.hides(in.paths, name) {
		if dir, err := in.dir.OpenDir(name); err == nil {
			l.dir = dir
		}
	}
	defer l.close()
	ok, _ := w.mayEnter(l.paths)
	switch {
	case !ok:
		if l.dir == nil { // else the walk has counted it
			w.denied.Add(1)
		}
		return nil
	case l.depth > maxDepth:
		w.unreadable.Add(1)
		return nil
	}
	w.ignoresOf(l)
	return w.within(ctx, l, list)
}

// look finds a staged file once more: it may have been staged anew, applied or
// discarded meanwhile, and is then what it is now.
func (f file) look() (*workspace.Overlaid, error) {
	actual := f.resolved()
	o, err := workspace.Overlay(f.in, actual, f.stage)
	if err != nil {
		return nil, err
	}
	if o.Real != actual { // a link was put there, and leads to what was not judged
		_ = o.Close() // nothing was done with it
		return nil, abi.Errorf(abi.CodeNotFound, "%s is gone", actual)
	}
	return o, nil
}

// open opens the file.
func (f file) open() (io.ReadCloser, workspace.Info, error) {
	if f.stage == nil {
		return f.dir.OpenFile(f.name)
	}
	o, err := f.look()
	if err != nil {
		return nil, workspace.Info{}, err
	}
	defer func() { _ = o.Close() }() // what is opened stays open
	return o.Open()
}

// stat tells what the file is.
func (f file) stat() (workspace.Info, error) {
	if f.stage == nil {
		return f.dir.Stat(f.name)
	}
	o, err := f.look()
	if err != nil {
		return workspace.Info{}, err
	}
	defer func() { _ = o.Close() }() // it was only looked at
	return o.Info, o.Err()
}
