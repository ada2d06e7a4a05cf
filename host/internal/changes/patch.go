package changes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	// MaxPatched bounds a file that a patch tells of, in bytes.
	MaxPatched = 64 << 20
	// maxLines bounds a file that is compared line by line: what is longer is in a
	// patch as a whole, like what is not text.
	maxLines = 4 << 20
	// sniffed is how much git looks through for a NUL byte, to tell text.
	sniffed = 8000
)

// Left is a path of which a patch does not tell, or not all.
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

// Opener opens what a file holds on a side of a change: n is its Before or its After.
type Opener func(ctx context.Context, c *Change, n *Node) (io.ReadCloser, error)

// Patch writes changes as a patch that git apply takes in the directory of the options, or
// with -R takes back: by path, and renames under the new one. It returns what is left out:
// what lies elsewhere, what cannot be opened, files over 64 MiB, devices and the like, and
// what git has no words for, such as an empty directory.
func Patch(ctx context.Context, w io.Writer, list []Change, open Opener, o PatchOptions) ([]Left, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Change) int { return ComparePaths(a.Path, b.Path) })
	out := bufio.NewWriter(w)
	p := &patching{ctx: ctx, open: open, options: o}
	var from []string // what was renamed elsewhere
	for i := range list {
		if list[i].From != "" {
			from = append(from, list[i].From)
		}
	}
	slices.SortFunc(from, ComparePaths)
	for i := range list {
		c := &list[i]
		if ctx.Err() != nil {
			return p.left, context.Cause(ctx)
		}
		at, _ := slices.BinarySearchFunc(from, c.Path, ComparePaths)
		holds := i+1 < len(list) && Below(list[i+1].Path, c.Path) || at < len(from) && Below(from[at], c.Path)
		text, why := p.change(c, holds)
		if why != nil {
			p.leave(c, why)
			continue
		}
		if _, err := out.Write(text); err != nil {
			return p.left, err
		}
	}
	return p.left, out.Flush()
}

// patching is one use of [Patch].
type patching struct {
	ctx     context.Context //nolint:containedctx // it is of one use
	open    Opener
	options PatchOptions
	left    []Left
}

func (p *patching) leave(c *Change, why error) {
	p.left = append(p.left, Left{c.Path, why.Error()})
}

// change is a change as git writes it, empty where git has nothing to say of it. The error
// is why it is left out.
func (p *patching) change(c *Change, holds bool) ([]byte, error) {
	name, err := p.options.name(c.Path)
	if err != nil {
		return nil, err
	}
	if err := p.unspoken(c, holds); err != nil {
		return nil, err
	}
	from := name
	if c.From != "" {
		if from, err = p.options.name(c.From); err != nil {
			return nil, fmt.Errorf("it was %s: %w", c.From, err)
		}
	}
	before, after := inGit(c.Before), inGit(c.After)
	var b bytes.Buffer
	if before != nil && after != nil && before.Kind != after.Kind { // git takes one away, and makes the other
		if err = p.write(&b, c, &sides{from: name, name: name, before: before}); err == nil {
			err = p.write(&b, c, &sides{from: name, name: name, after: after})
		}
	} else if before != nil || after != nil {
		err = p.write(&b, c, &sides{from: from, name: name, before: before, after: after})
	}
	return b.Bytes(), err
}

// inGit is a node as git has it: it knows no directories.
func inGit(n *Node) *Node {
	if n.Is(Dir) {
		return nil
	}
	return n
}

// unspoken tells of what git has no words for. What it has some words for is noted.
func (p *patching) unspoken(c *Change, holds bool) error {
	was, is := c.Before, c.After
	switch {
	case was.Is(Other) || is.Is(Other):
		return fmt.Errorf("it is %s, and becomes %s", was, is)
	case is.Is(Dir) && was == nil && !holds:
		return errors.New("it is an empty directory, which git does not know")
	case was.Is(Dir) && is == nil && !holds:
		return errors.New("it was an empty directory, which git does not know")
	}
	if was != nil && is != nil && was.Kind == is.Kind && was.Mode != 0 && is.Mode != 0 &&
		was.Mode != is.Mode && (is.Kind == Dir || gitMode(was) == gitMode(is)) {
		why := fmt.Errorf("its permission bits become %04o, which git does not know", is.Mode)
		if is.Kind == Dir || was.Same(is) && c.From == "" {
			return why
		}
		p.leave(c, why)
	}
	return nil
}

// sides is a file or link with what it was and becomes; nil is nothing.
type sides struct {
	from, name    string
	before, after *Node
	old, new      []byte
}

// write reads both sides and writes the change.
func (p *patching) write(b *bytes.Buffer, c *Change, s *sides) error {
	if !s.before.Same(s.after) {
		var err error
		if s.old, err = p.read(c, s.before); err != nil {
			return err
		}
		if s.new, err = p.read(c, s.after); err != nil {
			return err
		}
	}
	s.write(b)
	return nil
}

// read reads a side.
func (p *patching) read(c *Change, n *Node) ([]byte, error) {
	switch {
	case n == nil:
		return nil, nil
	case n.Kind == Link:
		return []byte(n.Target), nil
	case n.Size > MaxPatched:
		return nil, fmt.Errorf("it is over %d MiB", MaxPatched>>20)
	}
	r, err := p.open(p.ctx, c, n)
	if err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, n.Size+bytes.MinRead))
	_, err = text.ReadFrom(io.LimitReader(Cancellable(p.ctx, r), n.Size+1))
	if err = errors.Join(err, r.Close()); err == nil && int64(text.Len()) != n.Size {
		err = errors.New("it changed while it was read")
	}
	return text.Bytes(), err
}

// gitMode is what git knows of a node's mode.
func gitMode(n *Node) uint32 {
	const executable = 0o111
	switch {
	case n.Is(Link):
		return 0o120000
	case n != nil && n.Mode&executable != 0:
		return 0o100755
	}
	return 0o100644
}

// modes are those of both sides: one that is not known is as the other.
func (s *sides) modes() (old, now uint32) {
	was, is := s.before, s.after
	if was == nil || was.Mode == 0 && is != nil {
		was = is
	}
	if is == nil || is.Mode == 0 {
		is = was
	}
	return gitMode(was), gitMode(is)
}

// write writes the change as git does.
func (s *sides) write(b *bytes.Buffer) {
	a, z := quoted("a/"+s.from), quoted("b/"+s.name)
	old, now := s.modes()
	same := s.before.Same(s.after)
	if same && old == now && s.from == s.name {
		return
	}
	fmt.Fprintf(b, "diff --git %s %s\n", a, z)
	switch {
	case s.before == nil:
		fmt.Fprintf(b, "new file mode %o\n", now)
	case s.after == nil:
		fmt.Fprintf(b, "deleted file mode %o\n", old)
	case old != now:
		fmt.Fprintf(b, "old mode %o\nnew mode %o\n", old, now)
	}
	if s.from != s.name {
		fmt.Fprintf(b, "similarity index 100%%\nrename from %s\nrename to %s\n", quoted(s.from), quoted(s.name))
	}
	if same {
		return
	}
	fmt.Fprintf(b, "index %s..%s", gitHash(s.before != nil, s.old), gitHash(s.after != nil, s.new))
	if s.before != nil && s.after != nil && old == now {
		fmt.Fprintf(b, " %o", now)
	}
	b.WriteByte('\n')
	switch {
	case !isText(s.old) || !isText(s.new):
		s.binary(b)
	case len(s.old)+len(s.new) > 0: // of an empty file the head says all
		s.lines(b, a, z)
	}
}

// lines writes the hunks.
func (s *sides) lines(b *bytes.Buffer, from, to string) {
	if s.before == nil {
		from = devNull
	}
	if s.after == nil {
		to = devNull
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", ended(from), ended(to))
	hunks := udiff.Unified("a", "b", string(s.old), string(s.new))
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
