package changes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// Found is the result of [Look] or [Find]. It holds the path open until Close, and is for one
// goroutine.
type Found struct {
	Path string
	// Node describes what is at the path; nil if nothing is.
	Node *Node
	// Info is its metadata; zero if nothing is there.
	Info workspace.Info
	// File is open for reading if it is a regular file.
	File *os.File

	place *workspace.Node // nil for a symbolic link
}

// ErrElsewhere means that a directory on the way to a path is now a symbolic link.
var ErrElsewhere = errors.New("the path leads") // [Found.link] adds the place

// permission is the mask of the mode bits that a Node records.
const permission = 0o777

// Look examines a path, and hashes the content of a regular file. The path must be a real path:
// if one of its directories is now a symbolic link, Look fails with [ErrElsewhere], so that
// nothing is written through a link that was put there since. A link at the path itself is not
// followed.
func Look(ctx context.Context, path string) (*Found, error) {
	f, err := Find(path)
	if err != nil || f.File == nil {
		return f, err
	}
	held, err := f.Hash(ctx)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.Node.Hash, f.Node.Size = held.Hash, held.Size
	return f, nil
}

// Find is [Look] without reading the file: the Node of a regular file has no hash, and its size
// is the one that the system reports.
func Find(path string) (*Found, error) {
	place, err := workspace.Resolve(filepath.Dir(path), path)
	if err != nil {
		return nil, err
	}
	f := &Found{Path: path, place: place}
	if err := f.find(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Found) find() error {
	err := f.place.Err()
	switch {
	case f.place.Real != f.Path:
		return f.link()
	case err == nil:
		return f.open()
	case abi.CodeOf(err) == abi.CodeNotFound || abi.CodeOf(err) == abi.CodeNotDirectory:
		return nil // nothing can be below something that is not a directory
	}
	if e := f.link(); e != nil { // only a symbolic link is valid here, such as one in a loop
		return err
	}
	return nil
}

// link describes a symbolic link at the path itself, without following it.
func (f *Found) link() error {
	info, target, err := workspace.Lstat(f.Path)
	if err != nil || info.Kind != abi.KindSymlink {
		return fmt.Errorf("%w to %s now", ErrElsewhere, f.place.Real)
	}
	err = f.place.Close()
	f.place, f.Info, f.Node = nil, info, &Node{Kind: Link, Target: Name(target)}
	return err
}

func (f *Found) open() error {
	f.Info = f.place.Info
	f.Node = &Node{Mode: f.Info.Mode & permission}
	switch f.Info.Kind {
	case abi.KindDirectory:
		f.Node.Kind = Dir
		return nil
	case abi.KindOther:
		f.Node = &Node{Kind: Other, What: f.Info.What()}
		return nil
	}
	var err error
	f.File, f.Info, err = f.place.Open()
	f.Node.Size = f.Info.Size
	return err
}

// Hash reads the whole file and returns its current content as a Node.
func (f *Found) Hash(ctx context.Context) (*Node, error) {
	h := sha256.New()
	buf := buffers.Get().(*[64 << 10]byte) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	defer buffers.Put(buf)
	n, err := io.CopyBuffer(h, Cancellable(ctx, f.Reader()), buf[:])
	return &Node{Hash: hex.EncodeToString(h.Sum(nil)), Size: n, Mode: f.Info.Mode & permission}, err
}

// maxFile is longer than any file, in bytes.
const maxFile = 1<<63 - 1

// Reader reads the file from its start.
func (f *Found) Reader() io.Reader { return io.NewSectionReader(f.File, 0, maxFile) }

// Close closes what Look or Find opened.
func (f *Found) Close() error {
	var err error
	if f.place != nil {
		err = f.place.Close()
	}
	if f.File != nil {
		err = errors.Join(err, f.File.Close())
	}
	return err
}

// Cancellable returns a reader that fails with the cause of ctx once ctx is done.
func Cancellable(ctx context.Context, from io.Reader) io.Reader { return &cancellable{ctx, from} }

type cancellable struct {
	ctx  context.Context //nolint:containedctx // a reader is for one operation
	from io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.from.Read(p)
}
