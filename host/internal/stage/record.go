package stage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/checkline"
)

// Content describes what is at a path, or will be. A mode of 0 means that it is not known.
type Content = changes.Node

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
	// kindStage is a write by a tool. kindBase notes what was at a path before a command changed
	// it, or before a directory of the tree was made for it.
	kindStage = "put"
	kindBase  = "base"
	// kindApplying says what applying is about to put at a path.
	kindApplying = "applying"
	// kindForget means that nothing is staged for a path any more, because it was applied or
	// discarded. kindReset means the same for all paths, even if earlier lines are damaged.
	kindForget = "forget"
	kindReset  = "reset"
	// kindLayer means that a directory can be mounted: commands may change anything below it.
	kindLayer = "layer"
	// The lines of earlier versions, which had no tree: a file was staged, and then applied or
	// discarded.
	kindFormer, kindFormerApplied, kindFormerDiscarded = "stage", "apply", "discard"
)

// line is one record of the log.
type line struct {
	Kind string       `json:"kind"`
	Time time.Time    `json:"time"`
	Path changes.Name `json:"path,omitempty"`
	// Content is what a tool staged or what is about to be applied, and Base is what was on the
	// disk; nil means nothing.
	Content *Content `json:"content,omitempty"`
	Base    *Content `json:"base,omitempty"`
	// Stamp identifies the state of Base by its metadata, if a command changed the path. Changed
	// means that the disk changed after the command began, and Began is when it did.
	Stamp   string    `json:"stamp,omitempty"`
	Changed bool      `json:"changed,omitempty"`
	Began   time.Time `json:"began,omitzero"`
	Call    string    `json:"call,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	links   uint64    // the number of hard links of Base; not logged
	// Name is the name of the content's file, in lines of earlier versions.
	Name string `json:"name,omitempty"`
}

// maxLine is the maximum length of a line in bytes. It allows for a path of 4 KiB, two link
// targets of the same length, six bytes for each of their bytes, and the ID of a call.
const maxLine = 128 << 10

// encode returns the line with its checksum and newline.
func (l *line) encode() ([]byte, error) { return checkline.Encode(l, maxLine) }

// decode decodes a line without its newline. It returns false if the checksum or the record is
// invalid.
func decode(text []byte) (line, bool) {
	var l line
	if len(text) > maxLine || !checkline.Decode(text, &l) {
		return line{}, false
	}
	return l, l.valid()
}

// valid reports whether a record is well formed.
func (l *line) valid() bool {
	for _, c := range []*Content{l.Content, l.Base} {
		if c != nil && !c.Valid() && (c.Kind != changes.File || c.Hash != "") { // a file may have only a stamp
			return false
		}
	}
	switch l.Kind {
	case kindReset:
		return true
	case kindStage:
		return isPath(string(l.Path)) && l.Content.Valid()
	case kindFormer:
		return l.formerLine()
	case kindBase, kindApplying, kindForget, kindLayer, kindFormerApplied, kindFormerDiscarded:
		return isPath(string(l.Path))
	}
	return false
}

func isPath(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && strings.IndexByte(path, 0) < 0
}

// contentEnd is the suffix of files with content that is not staged yet.
const contentEnd = ".staged"

func newName() string { return rand.Text() + contentEnd }

// isName reports whether a name has the form of those of newName.
func isName(name string) bool {
	text, ok := strings.CutSuffix(name, contentEnd)
	odd := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }
	return ok && len(text) == len(rand.Text()) && !strings.ContainsFunc(text, odd)
}
