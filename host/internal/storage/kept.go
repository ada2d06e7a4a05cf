package storage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// keptDir is the directory in the session's directory for files that tools keep for the model.
const keptDir = "files"

// ErrNoDir is the error of a session that keeps nothing.
var ErrNoDir = errors.New("the session has no directory to keep files in")

// Keep writes a file into the session's directory, for its model to read, and returns its path. Of
// the name what is safe remains, its extension included, with a part of the content's hash: the
// same content under the same name is one file.
func (s *Session) Keep(name string, content []byte) (string, error) {
	if s.dir == nil {
		return "", ErrNoDir
	}
	sum := sha256.Sum256(content)
	ext := filepath.Ext(name)
	safe := cmp.Or(sessiondir.Safe(strings.TrimSuffix(name, ext), 60), "file") + "-" + hex.EncodeToString(sum[:8])
	if ext = sessiondir.Safe(strings.TrimPrefix(ext, "."), 10); ext != "" {
		safe += "." + ext
	}
	return s.dir.Write(keptDir, safe, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
