package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/ondisk"
)

var errContent = errors.New("its staged content is damaged; discard it")

// contents are the staged contents of files, in the stage's directory.
type contents struct {
	dir string
	log *slog.Logger
}

func (c *contents) staged(e *Entry) capability.Staged {
	return capability.Staged{Path: e.Path, Place: c.path(e.name), Time: e.Time}
}

func (c *contents) path(name string) string { return filepath.Join(c.dir, name) }

// remove takes away content that does not count any more.
func (c *contents) remove(name string) {
	if name == "" {
		return
	}
	if err := os.Remove(c.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		c.log.Warn("content that is no longer staged could not be removed", "file", c.path(name), "error", err)
	}
}

// sweep takes away all content, also what a killed host left that never counted. The
// lock is held, and nothing is staged.
func (c *contents) sweep() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		c.log.Warn("the stage could not be looked through", "directory", c.dir, "error", err)
	}
	for _, e := range entries {
		if isName(e.Name()) {
			c.remove(e.Name())
		}
	}
}

// copyTo copies the staged content, and fails where it is not what was staged.
func (c *contents) copyTo(ctx context.Context, w io.Writer, e *Entry) (err error) {
	f, err := os.Open(c.path(e.name))
	if err != nil {
		return fmt.Errorf("%w: %w", errContent, err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, w), ondisk.Cancellable(ctx, f))
	if err == nil && (n != e.Content.Size || hex.EncodeToString(h.Sum(nil)) != e.Content.Hash) {
		err = errContent
	}
	return err
}
