package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toolquay/toolquay/host/internal/ondisk"
)

var errContent = errors.New("its staged content is damaged; discard it")

// copyTo copies the staged content, and fails where it is not what was staged.
func (s *Store) copyTo(ctx context.Context, w io.Writer, e *Entry) (err error) {
	f, err := os.Open(s.path(e.name))
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
