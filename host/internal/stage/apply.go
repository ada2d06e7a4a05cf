package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// Applied is a staged change that was applied.
type Applied struct {
	Path string `json:"path"`
	// Created means that nothing was there before, Removed that nothing is there now, and Same
	// that the disk already was as staged.
	Created bool `json:"created,omitempty"`
	Removed bool `json:"removed,omitempty"`
	Same    bool `json:"same,omitempty"`
	// History is the ID of the history's record of the former file, and Call the ID that all
	// records of one apply share. Undoing accepts either.
	History string `json:"history,omitempty"`
	Call    string `json:"call,omitempty"`
	// Notes say what part of the change could not be made.
	Notes []string `json:"notes,omitempty"`
}

// Conflict says why a change cannot be applied.
type Conflict = changes.Conflict

// ConflictError reports that changes cannot be applied. None of them was applied.
type ConflictError = changes.ConflictError

// Apply makes the staged changes of a selection on the disk, and removes them from the stage. It
// checks all changes before it makes the first: if something on the disk has changed since it was
// first staged, the error is a *[ConflictError]. If an error occurs midway, Apply also returns
// the changes that were made, and the others stay staged.
//
// During Apply, nothing can be staged or discarded, and no command can run over the stage.
func (s *Store) Apply(ctx context.Context, sel Selection) ([]Applied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty() {
		return nil, ErrNothing
	}
	a := &applying{store: s, sel: sel, call: s.options.By}
	if a.call.ID == "" {
		a.call = capability.Call{ID: newCall(), Tool: Tool}
	}
	err := s.alone(ctx, func() error { return a.run(ctx) })
	slices.SortFunc(a.done, func(x, y Applied) int { return changes.ComparePaths(x.Path, y.Path) })
	return a.done, err
}

// applying is the state of one call of [Store.Apply]. The store is locked.
type applying struct {
	store   *Store
	sel     Selection
	call    capability.Call // the history records all changes under it
	done    []Applied
	over    []*Entry // the changes that were made
	closing changes.Closing
}

func (a *applying) run(ctx context.Context) error {
	s := a.store
	if err := s.renew(); err != nil {
		return err
	}
	w, err := s.walk(ctx, a.sel)
	if err != nil {
		return err
	}
	if len(w.out) == 0 {
		if len(a.sel.Paths) == 0 { // nothing in the tree differs from the disk
			return errors.Join(ErrNothing, s.reset())
		}
		return ErrNothing
	}
	if err := check(ctx, w.out, a.sel); err != nil {
		return err
	}
	if err := a.announce(w.out); err != nil {
		return err
	}
	s.moment("announced")
	err = a.all(ctx, w)
	return errors.Join(err, a.finish(err == nil))
}

// check fails with a [ConflictError] unless all changes can be made.
func check(ctx context.Context, list []Entry, sel Selection) error {
	var conflicts []Conflict
	for i := range list {
		e := &list[i]
		err := e.unchanged(ctx)
		if e.whole != "" && !sel.has(e.whole) {
			err = fmt.Errorf("it is part of %s, which was removed or replaced as a whole; name that directory", e.whole)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && e.now != nil && !e.now.Same(e.Content) { // without e.now, unchanged did so
			err = writable(e)
		}
		if err != nil {
			conflicts = append(conflicts, Conflict{Path: e.Path, Why: err.Error()})
		}
	}
	if len(conflicts) > 0 {
		return &ConflictError{Undone: "applied", Conflicts: conflicts}
	}
	return nil
}

// writable returns why a path cannot be written, as far as that is known in advance: a directory
// on the way is now a link or a file.
func writable(e *Entry) error {
	found, err := changes.Find(e.Path)
	if err != nil {
		if e.Content == nil && abi.CodeOf(err) == abi.CodeNotDirectory {
			return nil // its directory is gone
		}
		return err
	}
	return found.Close()
}

// announce logs the changes that are about to be made, so that another apply, after a kill,
// recognizes on the disk what this one wrote.
func (a *applying) announce(list []Entry) error {
	lines := make([]line, 0, len(list))
	for i := range list {
		e := &list[i]
		if !e.now.Same(e.Content) {
			lines = append(lines, line{Kind: kindApplying, Path: changes.Name(e.Path), Content: e.Content, Base: e.note.base, Stamp: e.note.stamp})
		}
	}
	return a.store.index.add(lines...)
}

// together is the maximum number of changes that are prepared and synced together.
const together = 256

// all makes the changes, in their order.
func (a *applying) all(ctx context.Context, w *walk) error {
	for rank, list := range order(w.out) {
		if rank == rankDirs {
			if err := a.open(w.opaque); err != nil {
				return err
			}
		}
		for some := range slices.Chunk(list, workspace.Together(together)) {
			if err := a.some(ctx, some); err != nil {
				return err
			}
		}
	}
	return a.closing.Shut(ctx)
}

// open removes the opaque mark of replaced directories, once their former contents are removed
// from the disk. The mark would otherwise hide the files that are applied in them.
func (a *applying) open(dirs []string) error {
	for _, dir := range dirs {
		if err := clearOpaque(a.store.tree.at(dir)); err != nil {
			return fmt.Errorf("showing what the disk has in %s: %w", dir, err)
		}
	}
	return nil
}

// The order of changes: first the former contents of replaced directories are removed. Then
// directories are made, so that files can be prepared in them. Files and links follow, and other
// removals are last.
const (
	rankEarly = iota
	rankDirs
	rankFiles
	rankRemoved
	ranks
)

// order groups changes by their rank. Removals are innermost first.
func order(list []Entry) (out [ranks][]*Entry) {
	removed := make(map[string]bool)
	for i := range list {
		removed[list[i].Path] = list[i].Content == nil
	}
	for i := range list { // the list is sorted by path
		e := &list[i]
		rank := rankFiles
		switch {
		case e.Content == nil && e.whole != "" && !removed[e.whole]:
			rank = rankEarly
		case e.Content == nil:
			rank = rankRemoved
		case e.Content.Is(changes.Dir):
			rank = rankDirs
		}
		out[rank] = append(out[rank], e)
	}
	slices.Reverse(out[rankEarly])
	slices.Reverse(out[rankRemoved])
	return out
}

// finish removes applied changes from the stage. Whole means that all were applied.
func (a *applying) finish(whole bool) error {
	s := a.store
	if whole && len(a.sel.Paths) == 0 {
		return noted(s.reset())
	}
	if !whole { // directories that still wait for their mode are not done
		a.over = slices.DeleteFunc(a.over, func(e *Entry) bool { return a.closing.Has(e.Path) })
	}
	if len(a.over) == 0 {
		return nil
	}
	lines := make([]line, 0, len(a.over))
	for _, e := range a.over {
		lines = append(lines, line{Kind: kindForget, Path: changes.Name(e.Path)})
	}
	if err := s.index.add(lines...); err != nil {
		return noted(err)
	}
	s.moment("forgotten")
	root, err := os.OpenRoot(s.tree.dir)
	if err != nil {
		return noted(err)
	}
	defer func() { _ = root.Close() }()         // nothing was written through it
	for _, e := range slices.Backward(a.over) { // files before their directories
		s.drop(root, e)
	}
	return nil
}

// noted wraps a failure to record that changes were made.
func noted(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("everything was written, but that could not be recorded; apply again: %w", err)
}
