// Package ondisk looks at files that were written down earlier, to find out whether
// they still are what was written down, and locks what writes them down.
package ondisk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Content is what a file holds, without it.
type Content struct {
	// Hash is its SHA-256 in hexadecimal, and Size its length in bytes.
	Hash string `json:"hash"`
	Size int64  `json:"size"`
	// Mode are the file's permission bits; 0 where they are not known.
	Mode uint32 `json:"mode,omitempty"`
}

// Same reports whether two contents are equal; nil is no file.
func (c *Content) Same(d *Content) bool {
	if c == nil || d == nil {
		return c == d
	}
	return c.Hash == d.Hash
}

// Valid reports whether there can be such a content; nil is none.
func (c *Content) Valid() bool {
	if c == nil || c.Size < 0 {
		return false
	}
	raw, err := hex.DecodeString(c.Hash)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == c.Hash
}

// File is a file as it is now, held until Close. It is for one goroutine.
type File struct {
	Node *workspace.Node
	// File is open where there is one, and Info what is known of it.
	File *os.File
	Info workspace.Info
	// Content is nil where there is no file.
	Content *Content
}

// lockWait is how long another process is waited for that holds a lock: it applies many
// files in seconds, and does all else in milliseconds.
const lockWait = 10 * time.Second

// Locked does something while nobody else holds the lock on a file, in this process or
// another. It makes the file where there is none.
func Locked(ctx context.Context, path string, do func() error) error {
	f, _, err := privatedir.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := filelock.WaitContext(ctx, f, lockWait); err != nil {
		return err
	}
	// Closing it would leave it locked as long as a child is between fork and exec.
	defer filelock.Unlock(f)
	return do()
}

// Look finds out what lies at a real path. What is not where it was, or not a regular
// file any more, is an error: nothing is written through a link that was put there
// since.
func Look(ctx context.Context, path string) (*File, error) {
	node, err := workspace.Resolve(filepath.Dir(path), path)
	if err != nil {
		return nil, err
	}
	f := &File{Node: node}
	if err := f.open(ctx, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open(ctx context.Context, path string) error {
	if f.Node.Real != path {
		return fmt.Errorf("the path leads to %s now", f.Node.Real)
	}
	if err := f.Node.Err(); err != nil {
		if abi.CodeOf(err) == abi.CodeNotFound {
			return nil
		}
		return err
	}
	var err error
	if f.File, f.Info, err = f.Node.Open(); err != nil {
		return err
	}
	if f.Content, err = f.Hash(ctx); err == nil {
		f.Content.Mode = f.Info.Mode
	}
	return err
}

// Hash reads all of the file and tells what it holds by now, but for the mode.
func (f *File) Hash(ctx context.Context) (*Content, error) {
	h := sha256.New()
	n, err := io.Copy(h, Cancellable(ctx, f.Reader()))
	return &Content{Hash: hex.EncodeToString(h.Sum(nil)), Size: n}, err
}

// maxFile is more than any file has.
const maxFile = 1<<63 - 1

// Reader reads the file from its start.
func (f *File) Reader() io.Reader { return io.NewSectionReader(f.File, 0, maxFile) }

// Close lets go of it.
func (f *File) Close() error {
	err := f.Node.Close()
	if f.File != nil {
		err = errors.Join(err, f.File.Close())
	}
	return err
}

// Cancellable is a reader that ends with the cause of a context once that is over.
func Cancellable(ctx context.Context, from io.Reader) io.Reader { return &cancellable{ctx, from} }

type cancellable struct {
	ctx  context.Context //nolint:containedctx // it is of one reading
	from io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.from.Read(p)
}
