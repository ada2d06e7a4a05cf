package history

import (
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/checkline"
)

// Kind says what a record is of.
type Kind string

// The kinds.
const (
	// KindWrite is a write by a tool, and KindRestore one that gave a file back what
	// it was.
	KindWrite   Kind = "write"
	KindRestore Kind = "restore"
	// KindCommand is a command's change of a file, or, without a path, what is not kept of its changes.
	KindCommand Kind = "command"
	// kindVoid takes back another record.
	kindVoid Kind = "void"
)

// Content is what a file held. A mode of 0 is not known, as of what a write made.
type Content = changes.Node

// Record is one write of one file.
type Record struct {
	// ID is h1, h2 and so on, in the order of the session.
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	Time time.Time `json:"time"`
	// Call is the id of the call that wrote, and Tool the name of its tool.
	Call string `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Of says what was given back, of KindRestore.
	Of   string `json:"of,omitempty"`
	Path string `json:"path,omitempty"`
	// Before and After are what the file was and became; nil is no file.
	Before *Content `json:"before,omitempty"`
	After  *Content `json:"after,omitempty"`
	// Gaps says what is not kept of a command's changes, in a KindCommand record without a path.
	Gaps string `json:"gaps,omitempty"`
	// Watch is the id of the command's ledger, so that no record is made from it twice.
	Watch string `json:"watch,omitempty"`
}

// number is that of an id, or 0 where it is none.
func number(id string) int {
	digits, ok := strings.CutPrefix(id, "h")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || idOf(n) != id {
		return 0
	}
	return n
}

func idOf(n int) string { return "h" + strconv.Itoa(n) }

// callOf is the call of a restoring that begins with a record.
func callOf(id string) string { return "restore-" + id }

// line is a record as it stands in the log.
type line struct {
	Record
	// Name is Path as it is written to the log; it need not be UTF-8.
	Name changes.Name `json:"path,omitempty"`
	// Inline is the former content, compressed, where it is small.
	Inline []byte `json:"inline,omitempty"`
}

// maxLine bounds a line, in bytes: a small content in base64, and a path of 4 KiB of
// which each byte may take six.
const maxLine = 256 << 10

// encode writes a line with its checksum and newline.
func (l *line) encode() ([]byte, error) {
	l.Name = changes.Name(l.Path)
	return checkline.Encode(l, maxLine)
}

// decode reads a line without its newline; false is one that was not written so.
func decode(text []byte) (line, bool) {
	var l line
	if !checkline.Decode(text, &l) {
		return line{}, false
	}
	l.Path = string(l.Name)
	return l, l.valid()
}

// valid reports whether a record can be gone by: contents are files' names.
func (l *line) valid() bool {
	if number(l.ID) == 0 {
		return false
	}
	for _, c := range []*Content{l.Before, l.After} {
		if c != nil && !c.Valid() {
			return false
		}
	}
	switch l.Kind {
	case kindVoid:
		return true
	case KindWrite, KindRestore:
		return l.Path != ""
	case KindCommand:
		return l.Path != "" || l.Gaps != ""
	}
	return false
}
