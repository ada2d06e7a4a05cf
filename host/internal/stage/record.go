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

// Content says what lies at a path, or is to lie there. A mode of 0 is not known.
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
	// kindStage is a write by a tool, and kindBase notes what lay at a path when it was
	// first changed, by a command or for a tool.
	kindStage = "put"
	kindBase  = "base"
	// kindApplying says what a path is about to become on the disk.
	kindApplying = "applying"
	// kindForget is that nothing is staged any more for a path, as it was applied or
	// discarded, and kindReset that nothing is at all, whatever else cannot be read.
	kindForget = "forget"
	kindReset  = "reset"
	// kindLayer is that a directory can be mounted: commands may change what is below.
	kindLayer = "layer"
	// What earlier versions wrote, which had no tree: something was staged, and then applied
	// or discarded.
	kindFormer, kindFormerApplied, kindFormerDiscarded = "stage", "apply", "discard"
)

// line is a record as it stands in the log.
type line struct {
	Kind string       `json:"kind"`
	Time time.Time    `json:"time"`
	Path changes.Name `json:"path,omitempty"`
	// Content is what is staged by a tool or about to be applied, and Base what lay there;
	// nil is nothing.
	Content *Content `json:"content,omitempty"`
	Base    *Content `json:"base,omitempty"`
	// Stamp tells what lay there from all else without reading it, where it was looked at
	// before the command began that changed it. Changed is that it was changed since.
	// Began is when the command did.
	Stamp   string    `json:"stamp,omitempty"`
	Changed bool      `json:"changed,omitempty"`
	Began   time.Time `json:"began,omitzero"`
	Call    string    `json:"call,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	links   uint64    // how many names the file has
	// Name is that of a file with content, in lines of earlier versions.
	Name string `json:"name,omitempty"`
}

// maxLine bounds a line, in bytes: a path of 4 KiB of which each byte may take six, where a
// link leads that is as long, twice, and the id of a call.
const maxLine = 128 << 10

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

// valid reports whether a record can be gone by.
func (l *line) valid() bool {
	for _, c := range []*Content{l.Content, l.Base} {
		if c != nil && !c.Valid() && (c.Kind != changes.File || c.Hash != "") { // a file may be known by its stamp alone
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

// contentEnd ends the names of files with content that is not staged yet.
const contentEnd = ".staged"

func newName() string { return rand.Text() + contentEnd }

// isName reports whether newName may have made a name.
func isName(name string) bool {
	text, ok := strings.CutSuffix(name, contentEnd)
	odd := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }
	return ok && len(text) == len(rand.Text()) && !strings.ContainsFunc(text, odd)
}
