package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/toolquay/toolquay/host/internal/ondisk"
)

const (
	// maxPatch bounds a file that a patch tells of, in bytes.
	maxPatch = 64 << 20
	// maxLines bounds a file that is compared line by line: what is longer is in a
	// patch as a whole, like what is not text.
	maxLines = 4 << 20
	// sniffed is how much git looks through for a NUL byte, to tell text.
	sniffed = 8000
)

// Left is a file that a patch does not tell of.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// PatchOptions say how files are named in a patch.
type PatchOptions struct {
	// Dir is the directory that names are relative to: absolute, without links.
	Dir string
	// Outside has the patch tell of files that lie elsewhere too, by their whole
	// path. It is for people then; git apply refuses it.
	Outside bool
}

// name is how a file is named in a patch.
func (o PatchOptions) name(path string) (string, error) {
	name, err := filepath.Rel(o.Dir, path)
	switch {
	case err == nil && filepath.IsLocal(name):
		return filepath.ToSlash(name), nil
	case o.Outside:
		return strings.TrimPrefix(filepath.ToSlash(path), "/"), nil
	}
	return "", fmt.Errorf("it lies outside of %s", o.Dir)
}

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
	slices.SortFunc(chains, func(a, b *chain) int { return strings.Compare(a.path, b.path) })
	var left []Left
	for _, c := range chains {
		span := c.spanOf(sel)
		if span == nil || span.before.Same(span.after) {
			continue
		}
		p, why := span.change(ctx, o)
		if why != nil {
			left = append(left, Left{c.path, why.Error()})
			continue
		}
		if _, err := w.Write(p.patch()); err != nil {
			return left, err
		}
	}
	return left, nil
}

// change reads both sides of what happened to a file.
func (p *span) change(ctx context.Context, o PatchOptions) (*changed, error) {
	name, err := o.name(p.path)
	if err != nil {
		return nil, err
	}
	c := &changed{name: name, before: p.before != nil, after: p.after != nil}
	if c.old, err = p.side(ctx, p.before); err != nil {
		return nil, fmt.Errorf("what it was: %w", err)
	}
	if c.new, err = p.side(ctx, p.after); err != nil {
		return nil, fmt.Errorf("what %s made of it: %w", p.last.ID, err)
	}
	c.mode = modeOf(p)
	return c, nil
}

// modeOf is the mode that git has for the file.
func modeOf(p *span) uint32 {
	known := p.before
	if known == nil {
		known = p.now
	}
	if known == nil {
		return gitMode(0)
	}
	return gitMode(known.Mode)
}

// gitMode is what git knows of permission bits: whether a file is executable.
func gitMode(mode uint32) uint32 {
	const executable = 0o111
	if mode&executable != 0 {
		return 0o100755
	}
	return 0o100644
}

// side reads a content, from the history or from the file where it still is.
func (c *chain) side(ctx context.Context, want *Content) ([]byte, error) {
	if want == nil {
		return nil, nil
	}
	if want.Size > maxPatch {
		return nil, fmt.Errorf("it is over %d MiB", maxPatch>>20)
	}
	r, err := c.contents.Content(want)
	if errors.Is(err, ErrNotKept) && c.fault == nil && c.now.Same(want) {
		return fromDisk(ctx, c.path, want)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(ondisk.Cancellable(ctx, r))
	return text, errors.Join(err, r.Close())
}

func fromDisk(ctx context.Context, path string, want *Content) ([]byte, error) {
	d, err := ondisk.Look(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // nothing was written
	if !d.Content.Same(want) {
		return nil, ErrNotKept
	}
	text, err := io.ReadAll(io.NewSectionReader(d.File, 0, want.Size))
	if err == nil && int64(len(text)) != want.Size {
		err = ErrNotKept
	}
	return text, err
}

// changed is a file with what it was and became.
type changed struct {
	name          string
	before, after bool // whether there was a file
	old, new      []byte
	mode          uint32
}

// patch is the change as git writes it.
func (c *changed) patch() []byte {
	var b bytes.Buffer
	a, z := quoted("a/"+c.name), quoted("b/"+c.name)
	fmt.Fprintf(&b, "diff --git %s %s\n", a, z)
	if !c.before {
		fmt.Fprintf(&b, "new file mode %o\n", c.mode)
	}
	if !c.after {
		fmt.Fprintf(&b, "deleted file mode %o\n", c.mode)
	}
	fmt.Fprintf(&b, "index %s..%s", gitHash(c.before, c.old), gitHash(c.after, c.new))
	if c.before && c.after {
		fmt.Fprintf(&b, " %o", c.mode)
	}
	b.WriteByte('\n')
	switch {
	case !isText(c.old) || !isText(c.new):
		c.binary(&b)
	case len(c.old)+len(c.new) > 0: // of an empty file the head says all
		c.lines(&b, a, z)
	}
	return b.Bytes()
}

// lines writes the hunks.
func (c *changed) lines(b *bytes.Buffer, from, to string) {
	if !c.before {
		from = devNull
	}
	if !c.after {
		to = devNull
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", ended(from), ended(to))
	hunks := udiff.Unified("a", "b", string(c.old), string(c.new))
	for range 2 { // our own heads are above
		_, hunks, _ = strings.Cut(hunks, "\n")
	}
	b.WriteString(hunks)
}

// ended ends a name for programs that would take it to end at a space.
func ended(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

func isText(content []byte) bool {
	return len(content) <= maxLines && bytes.IndexByte(content[:min(len(content), sniffed)], 0) < 0
}
