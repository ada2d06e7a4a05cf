package stage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/ondisk"
	"github.com/toolquay/toolquay/internal/checkline"
)

// Content is what a file holds. A mode of 0 is not known, as of what is staged.
type Content = ondisk.Content

func contentOf(sum [sha256.Size]byte, size int64) *Content {
	return &Content{Hash: hex.EncodeToString(sum[:]), Size: size}
}

func baseOf(b *capability.StagedBase) *Content {
	if b == nil {
		return nil
	}
	c := contentOf(b.Hash, b.Size)
	c.Mode = b.Mode
	return c
}

// The kinds of lines.
const (
	kindStage   = "stage"
	kindApply   = "apply"
	kindDiscard = "discard"
	// kindReset discards everything, also what cannot be read.
	kindReset = "reset"
)

// line is a record as it stands in the log.
type line struct {
	Kind string    `json:"kind"`
	Time time.Time `json:"time"`
	Path string    `json:"path,omitempty"`
	// Name is that of the file with the content.
	Name string `json:"name,omitempty"`
	// Content is what is staged, and Base what the file was; nil is no file.
	Content *Content `json:"content,omitempty"`
	Base    *Content `json:"base,omitempty"`
	Call    string   `json:"call,omitempty"`
	Tool    string   `json:"tool,omitempty"`
}

// maxLine bounds a line, in bytes: a path of 4 KiB of which each byte may take six,
// and the id of a call.
const maxLine = 64 << 10

// encode writes a line with its checksum and newline.
func (l *line) encode() ([]byte, error) { return checkline.Encode(l, maxLine) }

// decode reads a line without its newline; false is one that was not written so.
func decode(text []byte) (line, bool) {
	var l line
	if len(text) > maxLine || !checkline.Decode(text, &l) {
		return line{}, false
	}
	return l, l.valid()
}

// valid reports whether a record can be gone by: names are files' names.
func (l *line) valid() bool {
	switch l.Kind {
	case kindReset:
		return true
	case kindApply, kindDiscard:
		return isPath(l.Path)
	case kindStage:
		return isPath(l.Path) && isName(l.Name) && l.Content.Valid() && (l.Base == nil || l.Base.Valid())
	}
	return false
}

func isPath(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// contentEnd ends the names of files with staged content.
const contentEnd = ".staged"

func newName() string { return rand.Text() + contentEnd }

// isName reports whether newName may have made a name.
func isName(name string) bool {
	text, ok := strings.CutSuffix(name, contentEnd)
	odd := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }
	return ok && len(text) == len(rand.Text()) && !strings.ContainsFunc(text, odd)
}
