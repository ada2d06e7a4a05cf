package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// List returns what is staged of a selection, by path. New directories that something is
// staged in are left out.
func (s *Store) List(sel Selection) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(context.Background()); err != nil {
		return nil, err
	}
	list, err := s.entries(context.Background(), sel)
	return spoken(list), err
}

// Discard forgets what is staged of a selection, and returns what that was. All of a
// stage is forgotten also where it is damaged.
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
		if all { // what cannot be read can be discarded
			err = s.clear()
		}
		return nil, err
	}
	list, err := s.entries(ctx, sel)
	if err != nil {
		if all {
			return nil, s.clear() // what cannot be looked at can be discarded
		}
		return nil, err
	}
	if len(list) == 0 {
		err = ErrNothing
	}
	if all {
		return spoken(list), errors.Join(s.clear(), err)
	}
	for i := range list {
		if whole := list[i].whole; whole != "" && !sel.has(whole) {
			return nil, fmt.Errorf("%s was removed or replaced as a whole, and %s with it; name that", whole, list[i].Path)
		}
	}
	if err != nil {
		return nil, err
	}
	return spoken(list), s.forget(sel)
}

// forget takes a selection out of the tree.
func (s *Store) forget(sel Selection) error {
	var lines []line
	for path := range s.index.notes {
		if sel.has(path) {
			lines = append(lines, line{Kind: kindForget, Path: changes.Name(path)})
		}
	}
	if len(lines) == 0 { // a command made it, and nobody has looked since
		lines = []line{{Kind: kindForget, Path: changes.Name(sel.Paths[0])}}
	}
	if err := s.index.add(lines...); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.tree.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	for _, path := range sel.Paths {
		err = errors.Join(err, tempdir.RemoveIn(root, within(path)))
		s.prune(root, filepath.Dir(path))
	}
	return err
}

// clear is reset, also where there is no room to note it before.
func (s *Store) clear() error {
	if s.reset() == nil {
		return nil
	}
	return errors.Join(s.sweep(), s.reset())
}

// reset forgets everything, and leaves nothing.
func (s *Store) reset() error {
	if err := s.index.add(line{Kind: kindReset}); err != nil {
		return err
	}
	s.index.vanished = false
	s.moment("reset")
	return s.sweep()
}
