package history

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// Left is a file that a patch does not tell of.
type Left = changes.Left

// PatchOptions say how files are named in a patch.
type PatchOptions = changes.PatchOptions

// Patch writes what a selection changed as a patch that git apply takes in the
// directory of the options, or with -R takes back. Each file is in it once, as it
// was before the first of the writes and after the last. It returns those that are
// left out, which are files elsewhere, those of which one side is kept nowhere, and
// those over 64 MiB.
func (s *Store) Patch(ctx context.Context, w io.Writer, sel Selection, o PatchOptions) ([]Left, error) {
	chains, err := s.chains(ctx, sel)
	if err != nil {
		return nil, err
	}
	if len(chains) == 0 {
		return nil, ErrNothing
	}
	spans := make(map[string]*span)
	var list []changes.Change
	for _, c := range chains {
		if p := c.spanOf(sel); p != nil && !p.before.Equal(p.after) {
			spans[p.path] = p
			list = append(list, p.change())
		}
	}
	return changes.Patch(ctx, w, changes.Renames(list), func(ctx context.Context, c *changes.Change, n *Content) (io.ReadCloser, error) {
		p := spans[c.Path]
		r, err := p.side(ctx, n)
		switch {
		case err == nil:
		case n == c.Before:
			err = fmt.Errorf("what it was: %w", err)
		default:
			err = fmt.Errorf("what %s made of it: %w", p.last.ID, err)
		}
		return r, err
	}, o)
}

// change returns the span as one change. A file that a write made has no mode in its record; it
// gets the mode that the file has now.
func (p *span) change() changes.Change {
	c := changes.Change{Path: p.path, Before: p.before, After: p.after}
	if p.after != nil && p.before == nil && p.after.Mode == 0 && p.now != nil {
		made := *p.after
		made.Mode = p.now.Mode
		c.After = &made
	}
	return c
}

// side opens a content: from the history, or from the file if that still has it.
func (c *chain) side(ctx context.Context, want *Content) (io.ReadCloser, error) {
	r, err := c.contents.Content(ctx, want)
	if errors.Is(err, ErrNotKept) && c.fault == nil && c.now.Same(want) {
		return fromDisk(ctx, c.path, want)
	}
	return r, err
}

// fromDisk opens the file at a path. The error is [ErrNotKept] if it is not what is wanted.
func fromDisk(ctx context.Context, path string, want *Content) (io.ReadCloser, error) {
	found, err := changes.Look(ctx, path)
	if err != nil {
		return nil, err
	}
	if found.File == nil || !found.Node.Same(want) {
		return nil, errors.Join(ErrNotKept, found.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{found.Reader(), found}, nil
}
