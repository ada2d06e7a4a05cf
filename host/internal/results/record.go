package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// The kinds of record in the session's journal.
const (
	kindReplaced = "replaced"
	kindKept     = "kept"
	kindFirst    = "first"
)

// sum tells contents apart.
type sum [16]byte

// MarshalText and UnmarshalText write it for the journal.
func (s sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *sum) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(s[:], text); err != nil || n != len(s) {
		return fmt.Errorf("%q is no hash of a content", text)
	}
	return nil
}

// sumOf hashes what a model sees of a result, and all of what is spilled.
func sumOf(content []abi.Block, isError bool) sum {
	h := sha256.New()
	buf := make([]byte, 0, 4<<10)
	write := func(text string) { // in pieces: a text may be long, and is not to be copied
		for len(text) > 0 {
			n := min(len(text), cap(buf))
			h.Write(append(buf[:0], text[:n]...))
			text = text[n:]
		}
	}
	field := func(text string) {
		h.Write(binary.AppendUvarint(buf[:0], uint64(len(text))))
		write(text)
	}
	if isError {
		field("error")
	}
	for _, b := range content {
		for _, text := range []string{string(b.Type), b.Text, b.MediaType, b.Title, b.ToolName} {
			field(text)
		}
		h.Write(binary.AppendUvarint(buf[:0], uint64(len(b.Data))))
		h.Write(b.Data)
		if s := b.Spilled; s != nil {
			field(fmt.Sprint("spilled ", s.Bytes))
			_, _ = copyBlock(h, b) // what cannot be read cannot be kept either
		}
	}
	return sum(h.Sum(nil)[:len(sum{})])
}

// key is a result with a content. Models give ids again, so the id alone will not
// do.
type key struct {
	ID      string `json:"id"`
	Content sum    `json:"content"`
}

func keyOf(r *abi.ToolResult) key { return key{idOf(r), sumOf(r.Content, r.IsError)} }

// maxID is how long an id in a record is at most, in bytes: models and embedders
// make them up, and a record has to fit the journal.
const maxID = 128

// idOf is a result's id, or a hash of one that a record cannot hold as it is.
func idOf(r *abi.ToolResult) string {
	if len(r.ToolUseID) <= maxID && utf8.ValidString(r.ToolUseID) {
		return r.ToolUseID
	}
	h := sha256.Sum256([]byte(r.ToolUseID))
	return hex.EncodeToString(h[:])
}

// outcome is what became of a result.
type outcome struct {
	// Text replaces the result's own text, but for that of the last Notes blocks; nil
	// leaves the result as it is. Alone, it replaces everything else too.
	Text  *string `json:"text,omitempty"`
	Alone bool    `json:"alone,omitempty"`
	Notes int     `json:"notes,omitempty"`
	// Stored is where the whole text lies, if it does.
	Stored *Stored `json:"stored,omitempty"`
}

// apply replaces a result's content.
func (o *outcome) apply(r *abi.ToolResult) {
	at := max(0, len(r.Content)-o.Notes)
	content, notes := r.Content[:at], r.Content[at:]
	if o.Alone {
		content = []abi.Block{abi.TextBlock(*o.Text)}
	} else {
		content = withText(content, *o.Text)
	}
	r.Content = slices.Concat(content, notes)
}

// replaced is the record of a replacement.
type replaced struct {
	key
	outcome
}

// first is the first result with a content, which later ones refer to.
type first struct {
	key
	Tool  string `json:"tool"`
	Title string `json:"title,omitempty"`
	Chars int64  `json:"chars"`
	Path  string `json:"path,omitempty"`
}
