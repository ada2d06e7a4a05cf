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
	// MaxPatched is the maximum size of a file in a patch, in bytes.
	MaxPatched = 64 << 20
	// maxLines is the maximum size of a file that is compared line by line, in bytes. A patch has
	// larger files in full, like binary files.
	maxLines = 4 << 20
	// sniffed is how many bytes git searches for a NUL byte, which marks a file as binary.
	sniffed = 8000
)

// Left is a path whose change a patch leaves out, wholly or in part.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// PatchOptions say how a patch names files.
type PatchOptions struct {
	// Dir is the directory that names are relative to: absolute, without symbolic links.
	Dir string
	// Outside includes files outside of Dir, by their absolute paths. Such a patch is only for
	// reading: git apply would look for these files below Dir.
	Outside bool
}

// name returns the name of a file in the patch. It fails for a file outside of Dir, unless
// Outside is set.
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

// Opener opens the content of a file before or after a change: n is c.Before or c.After.
type Opener func(ctx context.Context, c *Change, n *Node) (io.ReadCloser, error)

// Patch writes changes as a patch that git apply accepts in the directory of the options, also
// with -R. The patch is sorted by path; a renamed file is at its new path. Patch returns the
// changes that it leaves out: files outside of the directory, files that cannot be opened, files
// over 64 MiB, special files, and changes that git cannot represent, such as an empty directory.
func Patch(ctx context.Context, w io.Writer, list []Change, open Opener, o PatchOptions) ([]Left, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Change) int { return ComparePaths(a.Path, b.Path) })
	out := bufio.NewWriter(w)
	p := &patching{ctx: ctx, open: open, options: o}
	var from []string // the former paths of renamed files
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

// patching is the state of one call of [Patch].
type patching struct {
	ctx     context.Context //nolint:containedctx // it is for one call
	open    Opener
	options PatchOptions
	left    []Left
}

func (p *patching) leave(c *Change, why error) {
	p.left = append(p.left, Left{c.Path, why.Error()})
}

// change returns a change in the format of git, or nothing if git would show no change. The error
// says why the change is left out. Holds means that other changes are below the path.
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
	if before != nil && after != nil && before.Kind != after.Kind { // git deletes one and creates the other
		if err = p.write(&b, c, &sides{from: name, name: name, before: before}); err == nil {
			err = p.write(&b, c, &sides{from: name, name: name, after: after})
		}
	} else if before != nil || after != nil {
		err = p.write(&b, c, &sides{from: from, name: name, before: before, after: after})
	}
	return b.Bytes(), err
}

// inGit returns a node as git represents it: nil for a directory.
func inGit(n *Node) *Node {
	if n.Is(Dir) {
		return nil
	}
	return n
}

// unspoken returns why git cannot represent a change, or nil. If git can represent a part of the
// change, unspoken adds the rest to the changes that are left out.
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

// sides is a file or link before and after a change; a nil node means that it does not exist.
type sides struct {
	from, name    string
	before, after *Node
	old, new      []byte
}

// write reads both contents and writes the change.
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

// read returns the content of one side.
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

// gitMode returns the mode that git records for a node.
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

// modes returns the modes of both sides. A mode that is not known is taken from the other side.
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

// write writes the change in the format of git.
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
	case len(s.old)+len(s.new) > 0: // for an empty file, the header is enough
		s.lines(b, a, z)
	}
}

// lines writes the hunks and the two lines before them.
func (s *sides) lines(b *bytes.Buffer, from, to string) {
	if s.before == nil {
		from = devNull
	}
	if s.after == nil {
		to = devNull
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", ended(from), ended(to))
	hunks := udiff.Unified("a", "b", string(s.old), string(s.new))
	for range 2 { // our own header is above
		_, hunks, _ = strings.Cut(hunks, "\n")
	}
	b.WriteString(hunks)
}

// ended returns a name for the header of the hunks. Programs may take a name to end at a space,
// so a tab marks the end of a name with a space, as in git.
func ended(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

func isText(content []byte) bool {
	return len(content) <= maxLines && bytes.IndexByte(content[:min(len(content), sniffed)], 0) < 0
}
