package stage

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// Note says something about a change that its patch does not show.
type Note struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	// Left says that the patch leaves out the change or a part of it, and Same that the disk
	// already is as staged. If neither is set, the disk has changed since the path was staged,
	// and the patch is relative to its present content.
	Left bool `json:"left,omitempty"`
	Same bool `json:"same,omitempty"`
}

// Patch writes what applying a selection would change, as a patch that git apply accepts in the
// directory of the options. It returns notes on changes that it leaves out (files outside of the
// directory, files over 64 MiB, and what git cannot represent), on paths that changed on the disk
// since they were staged, and on files that the disk already has as staged.
func (s *Store) Patch(ctx context.Context, w io.Writer, sel Selection, o changes.PatchOptions) ([]Note, error) {
	list, err := s.changed(ctx, sel)
	if err != nil {
		return nil, err
	}
	var notes []Note
	var told []changes.Change
	byPath := make(map[string]*Entry, len(list))
	for i := range list {
		e := &list[i]
		byPath[e.Path] = e
		if err := e.unchanged(ctx); err != nil && !e.Content.Is(changes.Other) {
			notes = append(notes, Note{Path: e.Path, Why: err.Error()})
		}
		switch {
		case e.fault != nil:
			notes[len(notes)-1].Left = true
		case e.same && e.Content.Is(changes.File):
			notes = append(notes, Note{Path: e.Path, Why: "it already holds what is staged", Same: true})
		case e.implied && sel.has(e.Path), !e.implied:
			told = append(told, e.change())
		}
	}
	hashed(ctx, told, byPath)
	left, err := changes.Patch(ctx, w, changes.Renames(told), func(_ context.Context, c *changes.Change, n *Content) (io.ReadCloser, error) {
		if n == c.Before {
			return open(cmp.Or(c.From, c.Path))
		}
		return open(byPath[c.Path].place)
	}, o)
	for _, l := range left {
		notes = append(notes, Note{Path: l.Path, Why: l.Why, Left: true})
	}
	slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Compare(a.Path, b.Path) })
	return notes, err
}

// changed returns the changes of a selection, or ErrNothing if there are none.
func (s *Store) changed(ctx context.Context, sel Selection) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	list, err := s.entries(ctx, sel)
	if err == nil && len(list) == 0 {
		err = ErrNothing
	}
	return list, err
}

// hashed hashes removed files that may have been renamed: those with the size of a new file.
func hashed(ctx context.Context, list []changes.Change, byPath map[string]*Entry) {
	sizes := make(map[int64]bool)
	for i := range list {
		if c := &list[i]; c.Before == nil && c.After.Is(changes.File) {
			sizes[c.After.Size] = true
		}
	}
	for i := range list {
		if c := &list[i]; c.After == nil && c.Before.Is(changes.File) && sizes[c.Before.Size] {
			byPath[c.Path].holds(ctx, nil) // it sets the hash of c.Before
		}
	}
}

// open opens a regular file without following links.
func open(path string) (io.ReadCloser, error) {
	found, err := changes.Find(path)
	if err != nil {
		return nil, err
	}
	if found.File == nil {
		return nil, errors.Join(errors.New("it is no longer a file"), found.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{found.Reader(), found}, nil
}
