package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// List returns the staged changes of a selection, by path. New directories that contain other
// changes are left out.
//
//nolint:contextcheck,nolintlint // it is quick and takes no context; nolintlint does not see that this is used
func (s *Store) List(sel Selection) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(context.Background()); err != nil {
		return nil, err
	}
	list, err := s.entries(context.Background(), sel)
	list = spoken(list)
	byPath := make(map[string]*Entry, len(list))
	told := make([]changes.Change, len(list))
	for i := range list {
		byPath[list[i].Path], told[i] = &list[i], list[i].change()
	}
	hashed(context.Background(), told, byPath)
	for _, c := range changes.Renames(told) {
		byPath[c.Path].From = c.From
	}
	return list, err
}

// Discard removes the staged changes of a selection from the stage, and returns them. Discarding
// everything also works if the stage is damaged; then Discard returns no changes.
func (s *Store) Discard(ctx context.Context, sel Selection) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty() {
		return nil, ErrNothing
	}
	var gone []Entry
	err := s.alone(ctx, func() (err error) {
		gone, err = s.discard(ctx, sel)
		return err
	})
	return gone, err
}

func (s *Store) discard(ctx context.Context, sel Selection) ([]Entry, error) {
	err := s.renew()
	all := len(sel.Paths) == 0
	if err != nil {
		if all { // a stage that cannot be read can still be discarded
			err = s.reset()
		}
		return nil, err
	}
	list, err := s.entries(ctx, sel)
	if err != nil {
		if all {
			return nil, s.reset() // a tree that cannot be read can still be discarded
		}
		return nil, err
	}
	if len(list) == 0 {
		err = ErrNothing
	}
	if all {
		return spoken(list), errors.Join(s.reset(), err)
	}
	for i := range list {
		if whole := list[i].whole; whole != "" && !sel.has(whole) {
			return nil, fmt.Errorf("%s was removed or replaced as a whole, and %s is part of it; name that directory", whole, list[i].Path)
		}
	}
	if err != nil {
		return nil, err
	}
	return spoken(list), s.forget(sel)
}

// forget removes a selection from the log and from the tree.
func (s *Store) forget(sel Selection) error {
	var lines []line
	for path := range s.index.notes {
		if sel.has(path) {
			lines = append(lines, line{Kind: kindForget, Path: changes.Name(path)})
		}
	}
	if len(lines) == 0 { // a command made it, and no scan followed
		lines = []line{{Kind: kindForget, Path: changes.Name(sel.Paths[0])}}
	}
	if err := s.index.add(lines...); err != nil {
		return err
	}
	s.moment("forgotten")
	root, err := os.OpenRoot(s.tree.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	for _, path := range sel.Paths {
		err = errors.Join(err, tempdir.RemoveIn(root, within(path)))
		s.moment("removed")
		s.prune(root, filepath.Dir(path))
	}
	return err
}

// reset removes everything from the stage. It first renames the tree, which keeps the new name
// until the reset is complete: if the process is killed, whoever locks the stage next completes
// the reset.
func (s *Store) reset() error { return s.forgetAll(true) }

// forgetAll is reset. Unless fresh is set, it keeps contents that are not staged yet: when an
// interrupted reset is completed, they belong to a later write.
func (s *Store) forgetAll(fresh bool) error {
	gone := filepath.Join(s.dir, goneDir)
	err := os.Rename(s.tree.dir, gone)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Mkdir(gone, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.moment("gone")
	left := s.sweep(gone, fresh) // first, because it frees space for the log
	s.moment("swept")
	if err := s.index.add(line{Kind: kindReset}); err != nil {
		return errors.Join(err, left)
	}
	s.index.vanished = false
	s.moment("reset")
	if left != nil {
		return errors.Join(left, os.Rename(gone, filepath.Join(s.dir, newName()+leftEnd)))
	}
	return os.Remove(gone)
}

// completed completes a reset that was interrupted. The lock is held.
func (s *Store) completed() error {
	if _, err := os.Lstat(filepath.Join(s.dir, goneDir)); err != nil {
		return nil //nolint:nilerr // no reset was interrupted
	}
	if err := s.index.refresh(); err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	return s.forgetAll(false)
}
