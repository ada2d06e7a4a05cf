package changes

import (
	"context"
	"errors"
	"fmt"
	"io"

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
// A mode of 0 keeps the former one of a file, and is that of new files and directories
// for others. Owner and attributes are kept of a file that stays a file.
func (f *Found) Put(ctx context.Context, to *Node, content io.Reader, ready func() error) error {
	if err := f.possible(to); err != nil {
		return err
	}
	if ready == nil {
		ready = func() error { return nil }
	}
	switch {
	case f.Node.Equal(to):
		return nil
	case f.Node.Same(to):
		return f.setMode(ctx, to.Mode, ready)
	case to.Is(File) && (f.Node == nil || f.Node.Is(File) && f.writable()):
		return f.write(ctx, to, content, ready)
	}
	return f.replace(ctx, to, content, ready)
}

// possible tells why one cannot become the other, or is nil.
func (f *Found) possible(to *Node) error {
	for _, n := range []*Node{f.Node, to} {
		if n.Is(Other) {
			return abi.Errorf(abi.CodeNotRegular, "%s: %s is neither written nor removed", f.Path, n)
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

// write puts content in place of a file, or where there is none.
func (f *Found) write(ctx context.Context, to *Node, content io.Reader, ready func() error) error {
	draft, err := f.place.Draft()
	if err != nil {
		return err
	}
	_, err = io.Copy(draft, Cancellable(ctx, content))
	if err == nil && to.Mode != 0 {
		err = draft.SetMode(to.Mode)
	}
	if err == nil {
		err = draft.Sync()
	}
	if err == nil {
		err = ready()
	}
	if err != nil {
		return errors.Join(err, draft.Discard())
	}
	_, err = draft.Commit(f.Info)
	return err
}

// setMode changes permission bits alone.
func (f *Found) setMode(ctx context.Context, mode uint32, ready func() error) error {
	return f.at(false, func(s *workspace.Spot) error {
		if err := f.still(ctx); err != nil {
			return err
		}
		if err := ready(); err != nil {
			return err
		}
		return s.SetMode(f.Info, mode)
	})
}

// replace puts anything in place of anything.
func (f *Found) replace(ctx context.Context, to *Node, content io.Reader, ready func() error) error {
	if to.Is(File) && to.Mode == 0 && f.Node.Is(File) {
		kept := *to
		kept.Mode = f.Node.Mode
		to = &kept
	}
	return f.at(to != nil, func(s *workspace.Spot) error {
		if err := makeIn(ctx, s, to, content); err != nil {
			return err
		}
		if err := ready(); err != nil {
			return err
		}
		return s.Commit(f.Info, func() error { return f.still(ctx) })
	})
}

func (f *Found) at(makeDirs bool, do func(s *workspace.Spot) error) error {
	s, err := workspace.NewSpot(f.Path, makeDirs)
	if err != nil {
		return err
	}
	err = do(s)
	return errors.Join(err, s.Discard())
}

// makeIn makes what is to lie at a spot.
func makeIn(ctx context.Context, s *workspace.Spot, to *Node, content io.Reader) error {
	switch {
	case to == nil:
		return nil
	case to.Kind == Dir:
		return s.MakeDir(to.Mode)
	case to.Kind == Link:
		return s.MakeLink(string(to.Target))
	}
	mode := to.Mode
	if mode == 0 {
		const usual = 0o644
		mode = usual
	}
	return s.MakeFile(Cancellable(ctx, content), mode)
}

// still looks whether an open file holds what it held: one that is written meanwhile
// shows that by its times too late.
func (f *Found) still(ctx context.Context) error {
	if f.File == nil || f.Node.Hash == "" {
		return nil
	}
	now, err := f.Hash(ctx)
	if err == nil && !now.Same(f.Node) {
		err = abi.Errorf(abi.CodeChanged, "%s: it was changed while it was replaced; try again", f.Path)
	}
	if err != nil && abi.CodeOf(err) != abi.CodeChanged {
		err = fmt.Errorf("reading %s: %w", f.Path, err)
	}
	return err
}
