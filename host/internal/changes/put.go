package changes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// Put replaces what Look found with to, unless the path has changed since. A nil to removes it.
// Content is read if a file gets new content. Missing directories above the path are created; a
// directory that is removed or replaced must be empty. If the path already is as to says, Put
// does nothing.
//
// Put calls ready, unless it is nil, when everything is prepared and before anything changes:
// there a caller records what is about to be done. If ready fails, nothing changes. The error has
// [abi.CodeChanged] if something else changed the path; then Put has changed nothing. If the
// error is [workspace.ErrUncertain], the change may have been made.
//
// If only the mode of a file differs, Put changes it for all hard links of the file. But if
// content is given and the file has several hard links, the path becomes a separate file.
//
// A mode of 0 keeps the former mode of a file; new files and directories then get the default
// mode. A file that stays a file keeps its owner and extended attributes.
func (f *Found) Put(ctx context.Context, to *Node, content io.Reader, ready func() error) error {
	if f.Node.Equal(to) {
		return f.possible(to)
	}
	p, err := f.Prepare(ctx, to, content, nil)
	if err != nil {
		return err
	}
	err = SyncAll([]*Prepared{p})
	if err == nil && ready != nil {
		err = ready()
	}
	if err != nil {
		return errors.Join(err, p.Discard())
	}
	return p.Commit(ctx)
}

// Prepared is a change that is ready to be made. Commit or Discard ends it.
type Prepared struct {
	found *Found
	to    *Node
	later *workspace.Later
	// chmod says that only permission bits change.
	chmod bool
	// draft has the new content if the path holds a writable file or nothing; otherwise spot has
	// it.
	draft *workspace.Draft
	spot  *workspace.Spot
}

// Prepare is the first step of [Found.Put], for callers that change many paths. It writes the
// content to a file without its final name, which is synced by [SyncAll]. Unless later is nil,
// Commit adds the directories that it changes to later, and the caller syncs them together.
func (f *Found) Prepare(ctx context.Context, to *Node, content io.Reader, later *workspace.Later) (p *Prepared, err error) {
	if err := f.possible(to); err != nil {
		return nil, err
	}
	p = &Prepared{found: f, to: to, later: later}
	switch {
	case !to.Is(File):
		return p, nil
	case f.Node.Same(to) && (content == nil || f.Info.Links < 2):
		p.chmod = true
		return p, nil
	case f.Node == nil || f.Node.Is(File) && f.writable():
		p.draft, err = f.place.Draft()
	default:
		p.spot, err = workspace.NewSpot(f.Path, false)
	}
	if err != nil {
		return nil, err
	}
	if err := p.fill(ctx, content); err != nil {
		return nil, errors.Join(err, p.Discard())
	}
	return p, nil
}

// Again makes Commit compare the path with f, which was found later. The caller has checked that
// the change is still right for f.
func (p *Prepared) Again(f *Found) { p.found = f }

// fill writes the content of the new file.
func (p *Prepared) fill(ctx context.Context, content io.Reader) error {
	if p.draft != nil {
		err := pour(ctx, p.draft, content)
		if err == nil && p.to.Mode != 0 {
			err = p.draft.SetMode(p.to.Mode)
		}
		return err
	}
	mode := p.to.Mode
	if mode == 0 && p.found.Node.Is(File) {
		mode = p.found.Node.Mode
	}
	const usual = 0o644
	return p.spot.MakeFile(func(f workspace.File) error { return pour(ctx, f, content) }, cmp.Or(mode, usual))
}

// SyncAll syncs the prepared contents to the disk, in parallel.
func SyncAll(list []*Prepared) error {
	var drafts []*workspace.Draft
	for _, p := range list {
		if p.draft != nil { // a spot has synced its content already
			drafts = append(drafts, p.draft)
		}
	}
	return workspace.SyncAll(drafts)
}

// Commit makes the change, and fails as [Found.Put] does.
func (p *Prepared) Commit(ctx context.Context) error {
	f := p.found
	if p.draft != nil {
		if p.later != nil {
			p.draft.Later(p.later)
		}
		_, err := p.draft.Commit(f.Info)
		return err
	}
	if p.spot == nil {
		var err error
		if p.spot, err = workspace.NewSpot(f.Path, p.to != nil); err != nil {
			return err
		}
	}
	if p.later != nil {
		p.spot.Later(p.later)
	}
	return errors.Join(p.place(ctx), p.spot.Discard())
}

// place makes the changes that need no draft: modes, directories, links, removals, and files that
// replace something else or a read-only file.
func (p *Prepared) place(ctx context.Context) error {
	f, s := p.found, p.spot
	switch to := p.to; {
	case p.chmod || to.Is(Dir) && f.Node.Is(Dir):
		if err := f.still(ctx); err != nil {
			return err
		}
		return s.SetMode(f.Info, to.Mode)
	case to.Is(Dir):
		if err := s.MakeDir(to.Mode); err != nil {
			return err
		}
	case to.Is(Link):
		if err := s.MakeLink(string(to.Target)); err != nil {
			return err
		}
	}
	return s.Commit(f.Info, func() error { return f.still(ctx) })
}

// Discard removes the temporary files.
func (p *Prepared) Discard() error {
	switch {
	case p.draft != nil:
		return p.draft.Discard()
	case p.spot != nil:
		return p.spot.Discard()
	}
	return nil
}

// possible returns why the change cannot be made, or nil. Special files are neither made nor
// replaced.
func (f *Found) possible(to *Node) error {
	for _, n := range []*Node{f.Node, to} {
		if n.Is(Other) {
			return abi.Errorf(abi.CodeNotRegular, "%s: %s cannot be replaced or removed", f.Path, n)
		}
	}
	return nil
}

// writable reports whether the mode of the file lets anybody write. A read-only file can still be
// replaced by a rename, as other programs do.
func (f *Found) writable() bool {
	const write = 0o222
	return f.Info.Mode&write != 0
}

// Source is content for [Found.Put] that can have holes and metadata.
type Source interface {
	io.Reader
	// Sparse reports whether blocks of zeros are to become holes.
	Sparse() bool
	// Finish is called with the descriptor of the complete file, before the file gets its name.
	Finish(fd uintptr) error
}

// buffers are for copying and hashing contents.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// zeros is what a hole reads as.
var zeros [64 << 10]byte

// pour writes content to a file.
func pour(ctx context.Context, f workspace.File, content io.Reader) error {
	buf := buffers.Get().(*[64 << 10]byte) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	defer buffers.Put(buf)
	from, more := content.(Source)
	sparse := more && from.Sparse()
	for {
		n, err := io.ReadFull(Cancellable(ctx, content), buf[:])
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		if part := buf[:n]; sparse && bytes.Equal(part, zeros[:n]) {
			err = f.Skip(int64(n))
		} else {
			_, err = f.Write(part)
		}
		switch {
		case err != nil:
			return err
		case ended && more:
			return from.Finish(f.Fd())
		case ended:
			return nil
		}
	}
}

// still fails if the content of the open file has changed. It reads the file again, because the
// timestamps of a file that is being written can change too late.
func (f *Found) still(ctx context.Context) error {
	if f.File == nil || f.Node.Hash == "" {
		return nil
	}
	now, err := f.Hash(ctx)
	if err == nil && !now.Same(f.Node) {
		err = abi.Errorf(abi.CodeChanged, "%s was changed while it was replaced; try again", f.Path)
	}
	if err != nil && abi.CodeOf(err) != abi.CodeChanged {
		err = fmt.Errorf("reading %s: %w", f.Path, err)
	}
	return err
}
