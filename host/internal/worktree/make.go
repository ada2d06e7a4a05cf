package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// reason is what git tells who would remove a worktree past this program: `git worktree prune`
// leaves locked ones, which a sandbox may hide from it.
const reason = "a session of toolquay made it; toolquay clean removes it"

// Make makes a worktree of the repository that a directory is in, on a new branch from the HEAD of
// the main worktree; an empty name makes one up. The session has the worktree until it is
// released. What it did not come to, it undoes. Notes are what a model should know of the worktree.
func (s *Store) Make(ctx context.Context, dir, name, session string) (t *Tree, notes []string, err error) {
	if name != "" {
		if err := CheckName(name); err != nil {
			return nil, nil, err
		}
	}
	program, err := s.Git()
	if err != nil {
		return nil, nil, abi.Errorf(abi.CodeUnsupported, "there is no git here: %w", err)
	}
	r, err := find(ctx, program, paths.Real(dir))
	if err != nil {
		return nil, nil, err
	}
	if t, err = s.begin(ctx, r, cmp.Or(name, randomName()), session); err != nil {
		return nil, nil, err
	}
	g, err := t.add(ctx, r)
	if err == nil {
		err = t.write(Made)
	}
	if err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), quickly)
		defer cancel()
		return nil, nil, errors.Join(full(t.Path, err), t.remove(undo))
	}
	return t, t.notes(ctx, g), nil
}

// begin claims the place of a worktree.
func (s *Store) begin(ctx context.Context, r *repository, name, session string) (t *Tree, err error) {
	if err := privatedir.Make(s.Dir); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	dir, branch := filepath.Join(s.root(), key(r)), branches+name
	path := filepath.Join(dir, flat(name))
	err = s.exclusively(dir, func() error {
		if err := cmp.Or(s.vacant(ctx, path), r.free(ctx, branch)); err != nil {
			return err
		}
		t, err = s.claim(Record{
			Name: name, Path: path, Branch: branch, Main: r.main, Common: r.common, From: r.top,
			Base: r.head, Session: session, Created: time.Now().UTC().Truncate(time.Second),
		})
		return err
	})
	return t, err
}

// free fails where a branch cannot be made.
func (r *repository) free(ctx context.Context, branch string) error {
	other, err := r.taken(ctx, branch)
	switch {
	case err != nil:
		return err
	case other == branch:
		return abi.Errorf(abi.CodeInvalidInput, "there is a branch %s already; choose another name", branch)
	case other != "":
		return abi.Errorf(abi.CodeInvalidInput, "git can keep no branch %s beside the branch %s; choose another name", branch, other)
	}
	return nil
}

// vacant fails where something lies at a path, and removes what a killed process came to there.
func (s *Store) vacant(ctx context.Context, path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if of, is := named(name); is {
			name = of
		}
		if strings.EqualFold(name, filepath.Base(path)) {
			return s.reclaim(ctx, filepath.Join(filepath.Dir(path), name))
		}
	}
	return nil
}

// reclaim removes the worktree at a path if it was never finished.
func (s *Store) reclaim(ctx context.Context, path string) error {
	t, err := s.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return occupied(path)
	case errors.Is(err, ErrInUse):
		return abi.Errorf(abi.CodeInvalidInput, "%w; choose another name", err)
	case err != nil:
		return err
	case t.State == Made:
		err := abi.Errorf(abi.CodeInvalidInput, "there is a worktree %s already, and one that was left is not entered again: choose another name, and merge the branch %s if you need what was committed there", path, t.Branch)
		return errors.Join(err, t.Release())
	}
	return t.remove(ctx)
}

func occupied(path string) error {
	return abi.Errorf(abi.CodeInvalidInput, "there is something at %s already; choose another name", path)
}

// add has git make the branch and the worktree, and then the files, as by the configuration that
// holds there.
func (t *Tree) add(ctx context.Context, r *repository) (*git, error) {
	if _, err := r.run(ctx, "worktree", "add", "--no-checkout", "--no-track", "--lock", "--reason", reason, "-b", t.Branch, "--", t.Path, t.Base); err != nil {
		return nil, err
	}
	g, err := t.git(ctx, r.program)
	if err != nil {
		return nil, err
	}
	_, err = g.within(ctx, writing, "reset", "--hard", "--quiet", "--no-recurse-submodules")
	return g, err
}

// git prepares git for the worktree, whose files are from then on those at the path, whatever
// somebody writes into its configuration meanwhile.
func (t *Tree) git(ctx context.Context, program string) (*git, error) {
	g, err := newGit(ctx, program, t.Path)
	if err != nil {
		return nil, err
	}
	if err := t.same(ctx, g); err != nil {
		return nil, err
	}
	g.env = append(g.env, "GIT_WORK_TREE="+t.Path)
	return g, nil
}

// same fails unless what lies at the path is the worktree that was made: links and files of git's
// may have been put in its place.
func (t *Tree) same(ctx context.Context, g *git) error {
	for flag, want := range map[string]string{"--show-toplevel": t.Path, "--git-common-dir": t.Common} {
		got, err := g.line(ctx, "rev-parse", "--path-format=absolute", flag)
		if err != nil {
			return err
		}
		if got = paths.Real(filepath.FromSlash(got)); got != want {
			return abi.Errorf(abi.CodeChanged, "%s is not the worktree that it was: git takes it for one of %s", t.Path, got)
		}
	}
	return nil
}

// full words that there is no room.
func full(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || said(err, "No space left", "unable to write") {
		return abi.Errorf(abi.CodeIO, "there is no room for the worktree %s: %w", path, err)
	}
	return err
}

// maxNamed bounds how many names are told.
const maxNamed = 3

// notes are what differs from a clone: what git does not check out by itself. What cannot be found
// out is left out.
func (t *Tree) notes(ctx context.Context, g *git) (notes []string) {
	// Files with the attribute filter are those that have it neither unspecified nor unset.
	filtered, err := g.run(ctx, "ls-files", "-z", "--", ".", ":(exclude,attr:!filter)", ":(exclude,attr:-filter)")
	if names := split(filtered); err == nil && len(names) > 0 {
		notes = append(notes, "Files that filters make, such as those of Git LFS, hold what git has of them: "+some(names))
	}
	staged, err := g.run(ctx, "ls-files", "-z", "--stage")
	var modules []string
	for _, line := range split(staged) {
		if rest, is := strings.CutPrefix(line, "160000 "); is {
			_, name, _ := strings.Cut(rest, "\t")
			modules = append(modules, name)
		}
	}
	if err == nil && len(modules) > 0 {
		notes = append(notes, "Submodules are empty: "+some(modules))
	}
	return notes
}

// split splits what git prints with -z.
func split(out string) []string {
	if out = strings.TrimSuffix(out, "\x00"); out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// some names a few of many.
func some(names []string) string {
	shown := make([]string, min(len(names), maxNamed))
	for i := range shown {
		shown[i] = fmt.Sprintf("%.200q", names[i])
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
