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

// Put makes the path be what to says, nil being nothing, if it still is what was found.
// Content is read where a file is to hold something else than it does. Directories above
// that are missing are made; one that is to go must be empty.
//
// When all is prepared, and before anything can be seen of it, ready is called (nil is
// not), which is where a caller writes down what is about to be done: if it fails nothing
// changes. An error is [abi.CodeChanged] where something else changed what was found, and
// then nothing has changed by Put. One that is [workspace.ErrUncertain] says that it may
// be done all the same.
//
// Where only the mode of a file differs, all names of the file get it, unless content is
// given: then it becomes a file of its own.
//
// A mode of 0 keeps the former one of a file, and is that of new files and directories
// for others. Owner and attributes are kept of a file that stays a file.
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

// Prepared is what is to take the place of what was found. One of Commit and Discard ends it.
type Prepared struct {
	found *Found
	to    *Node
	later *workspace.Later
	// chmod says that only permission bits change.
	chmod bool
	// A file is made before: by the one where there was a file or nothing, else by the other.
	draft *workspace.Draft
	spot  *workspace.Spot
}

// Prepare makes ready for [Found.Put] in steps, so that many can take them together: the
// content has no name yet. It is on the disk after [SyncAll]. Later, unless nil, writes out
// the directories that Commit changes.
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

// Again has Commit go by what was found later, which is the same to the caller.
func (p *Prepared) Again(f *Found) { p.found = f }

// fill makes the file.
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

// SyncAll writes contents out to the disk, side by side.
func SyncAll(list []*Prepared) error {
	var drafts []*workspace.Draft
	for _, p := range list {
		if p.draft != nil { // a spot did so at once
			drafts = append(drafts, p.draft)
		}
	}
	return workspace.SyncAll(drafts)
}

// Commit is the end of [Found.Put], and its error is as there.
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

// place puts what is no content of a file in place, and a file in place of something else.
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

// Discard takes away what was prepared.
func (p *Prepared) Discard() error {
	switch {
	case p.draft != nil:
		return p.draft.Discard()
	case p.spot != nil:
		return p.spot.Discard()
	}
	return nil
}

// possible tells why one cannot become the other, or is nil.
func (f *Found) possible(to *Node) error {
	for _, n := range []*Node{f.Node, to} {
		if n.Is(Other) {
			return abi.Errorf(abi.CodeNotRegular, "%s: %s cannot be replaced or removed", f.Path, n)
		}
	}
	return nil
}

// writable reports whether a file may be written by its mode. One that may not can only be
// replaced, as programs do that rename over it.
func (f *Found) writable() bool {
	const write = 0o222
	return f.Info.Mode&write != 0
}

// Source is a content that is more than bytes, for [Found.Put].
type Source interface {
	io.Reader
	// Sparse says that what is only zeros is to be holes.
	Sparse() bool
	// Finish is called with the file that got all of it, before that has its name.
	Finish(fd uintptr) error
}

// buffers are for contents on their way.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// zeros are what a hole reads as.
var zeros [64 << 10]byte

// pour gives a file its content.
func pour(ctx context.Context, f workspace.File, content io.Reader) error {
	buf := buffers.Get().(*[64 << 10]byte) //nolint:errcheck,forcetypeassert // it holds nothing else
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

// still looks whether an open file holds what it held: one that is written meanwhile
// shows that by its times too late.
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
