package history

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/ondisk"
)

// asideName makes a name for a file that is taken aside: as those of all files that a
// killed host may leave, it tells whose they are and which file they were.
func asideName(name string) string {
	const most = 128 // of bytes, as a name has 255
	return ".toolquay-" + rand.Text() + "-" + strings.ToValidUTF8(name[:min(len(name), most)], "")
}

// remove removes the file that is held, if it still is what it was found to be. It
// takes it aside under another name first, so that nothing that took its place is
// removed.
func remove(ctx context.Context, d *ondisk.File, path string, sync func(dir string) error) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(path)
	aside := asideName(name)
	if err := isHeld(root, name, d.File); err != nil {
		return err
	}
	if err := root.Rename(name, aside); err != nil {
		return err
	}
	err = isHeld(root, aside, d.File)
	if err == nil {
		var now *Content
		if now, err = d.Hash(ctx); err == nil && !now.Same(d.Content) {
			err = errChanged
		}
	}
	if err != nil {
		return errors.Join(err, putBack(root, aside, name))
	}
	if err := root.Remove(aside); err != nil {
		return &goneError{err}
	}
	if err := sync(filepath.Dir(path)); err != nil {
		return &goneError{err}
	}
	return nil
}

// goneError is a failure after which the file is not where it was, so that its record
// is what is left to get it back by.
type goneError struct{ err error }

func (e *goneError) Error() string   { return e.err.Error() }
func (e *goneError) Unwrap() []error { return []error{workspace.ErrUncertain, e.err} }

// isHeld reports whether the file by a name is the one that is open.
func isHeld(root *os.Root, name string, f *os.File) error {
	held, err := f.Stat()
	if err != nil {
		return err
	}
	at, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(held, at) {
		return errChanged
	}
	return nil
}

// putBack gives a file its name again, unless another one has it by now.
func putBack(root *os.Root, aside, name string) error {
	if err := root.Link(aside, name); err != nil {
		return &goneError{fmt.Errorf("what lay there is now %s: %w", filepath.Join(root.Name(), aside), err)}
	}
	return root.Remove(aside)
}
