package rules

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// Chdir changes the working directory, to one inside the working directories.
func (s *State) Chdir(path string) error {
	return s.change(func(v *View) (*View, error) { return v.in(path) })
}

// tree holds the view through which a session's directories are looked at. All its views share it.
type tree struct{ view atomic.Pointer[paths.View] }

// Through looks at the session's working directory and at those that it moves to through a view from
// now on: as commands whose changes are staged find them.
func (s *State) Through(v paths.View) { s.now.Load().tree.view.Store(&v) }

// staged returns that view; nil if there is none.
func (v *View) staged() paths.View {
	if v.tree == nil {
		return nil
	}
	if view := v.tree.view.Load(); view != nil {
		return *view
	}
	return nil
}

// exists reports whether the session's working directory exists, or may exist.
func (v *View) exists() bool {
	dir := v.Cwd
	if tree := v.staged(); tree != nil {
		dir = tree.At(cmp.Or(v.Policy.Cwd().Real, v.Cwd))
	}
	_, err := os.Stat(dir)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// LeaveRemoved changes a working directory that does not exist any more to the nearest one
// above that exists and is inside the working directories, or else to the one that the
// session began in. It returns where the session was and is now, and whether it moved.
func (s *State) LeaveRemoved() (from, to string, moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.now.Load()
	if v.exists() {
		return v.Cwd, v.Cwd, false
	}
	newer, err := v.nearest(s.compiler.Setup.Cwd.Path)
	if err != nil {
		return v.Cwd, v.Cwd, false
	}
	return v.Cwd, s.put(newer).Cwd, true
}

// Move has the session work in the worktree of git at cwd, an existing directory that the host
// made: that takes the place of the working directories in the worktree that it came from, and of
// one around that which the session began in. The rules move along, see [permissions.Worktree]. Own
// says that the worktree lies in a place of the host's own. A session in a worktree comes back with
// [State.MoveBack] first.
func (s *State) Move(cwd, from string, own bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to, err := directory(cwd)
	if err != nil {
		return err
	}
	setup, main := s.compiler.Setup, Dir(from)
	setup.Worktree = permissions.Worktree{Main: main, Start: setup.Cwd, Own: own}
	setup.Additional = slices.DeleteFunc(slices.Clone(setup.Additional), func(dir permissions.Dir) bool { return paths.Below(dir.Real, main.Real) })
	if began := setup.Cwd; !paths.Below(began.Real, main.Real) && !paths.Below(main.Real, began.Real) {
		setup.Additional = append(setup.Additional, began) // it came from an additional one
	}
	setup.Cwd = to
	was := s.compiler.Setup
	if err := s.moveTo(setup, to); err != nil {
		return err
	}
	s.came = was
	return nil
}

// MoveBack has the session work in the directory that it began in, and be in the one that it
// was in when it moved, as far as that is there. Without a move it does nothing.
func (s *State) MoveBack(to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiler.Setup.Worktree.Main.Path == "" {
		return nil
	}
	if err := s.moveTo(s.came, s.came.Cwd); err != nil {
		return err
	}
	if newer, err := s.now.Load().in(to); err == nil {
		s.put(newer)
	}
	return nil
}

// moveTo compiles the policy for other places. With an error everything is as it was. The mutex
// is held.
func (s *State) moveTo(setup permissions.Setup, cwd permissions.Dir) error {
	was := s.compiler.Setup
	s.compiler.Setup = setup
	v := *s.now.Load()
	v.Cwd, v.Policy = cwd.Path, v.Policy.WithCwd(cwd)
	newer, err := s.compiler.compile(v)
	if err != nil {
		s.compiler.Setup = was
		return err
	}
	s.put(newer)
	return nil
}

// nearest returns the view in the nearest directory above its own that can be moved to, or
// else in another one.
func (v *View) nearest(other string) (*View, error) {
	for dir := filepath.Dir(v.Cwd); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if newer, err := v.in(dir); err == nil {
			return newer, nil
		}
	}
	return v.in(other)
}

// in returns the view in another working directory.
func (v *View) in(path string) (*View, error) {
	to, err := v.Destination(path)
	if err != nil {
		return nil, err
	}
	newer := v.with(v.Policy.WithCwd(to))
	newer.Cwd = to.Path
	return newer, nil
}

// Destination returns the directory that [State.Chdir] moves to for a path, or its error.
func (v *View) Destination(path string) (permissions.Dir, error) {
	if tree := v.staged(); tree != nil {
		return v.destinationIn(tree, path)
	}
	node, err := workspace.Resolve(v.Cwd, path)
	if err != nil {
		return permissions.Dir{}, err
	}
	defer node.Close()
	if err := node.Err(); err != nil {
		return permissions.Dir{}, err
	}
	if node.Info.Kind != abi.KindDirectory {
		return permissions.Dir{}, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", node.Target)
	}
	if !v.Policy.Inside(node.Real) {
		return permissions.Dir{}, abi.Errorf(abi.CodeDenied, "%s is outside the working directories", node.Target)
	}
	return permissions.Dir{Path: node.Target, Real: node.Real}, nil
}

// destinationIn is Destination through a view.
func (v *View) destinationIn(tree paths.View, path string) (permissions.Dir, error) {
	target := filepath.Clean(path)
	if !filepath.IsAbs(target) {
		target = filepath.Join(v.Cwd, target)
	}
	lies := paths.Disk{View: tree}.Real(target)
	info, err := os.Lstat(tree.At(lies))
	switch {
	case err != nil:
		return permissions.Dir{}, abi.Errorf(abi.CodeNotFound, "%s: %w", target, err)
	case !info.IsDir():
		return permissions.Dir{}, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", target)
	case !v.Policy.Inside(lies):
		return permissions.Dir{}, abi.Errorf(abi.CodeDenied, "%s is outside the working directories", target)
	}
	return permissions.Dir{Path: target, Real: lies}, nil
}
