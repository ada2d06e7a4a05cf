package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
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

// restore reads what an earlier process decided. Records that cannot be read were
// written by a newer program: what they say is not known to this one.
func (s *Store) restore() {
	if s.dir == nil {
		return
	}
	each(s, kindReplaced, func(r replaced) {
		r.Notes = max(0, r.Notes) // a checksum does not say that what was written made sense
		s.note(r.key, r.outcome)
	})
	each(s, kindKept, func(kept []key) {
		for _, id := range kept {
			s.note(id, outcome{})
		}
	})
	each(s, kindFirst, func(f first) { s.firsts[f.Content] = f })
}

func each[T any](s *Store, kind string, do func(T)) {
	for _, data := range s.dir.Recall(kind) {
		var v T
		if err := json.Unmarshal(data, &v); err != nil {
			s.log.Warn("a record of the session's journal is not understood", "kind", kind, "error", err)
			continue
		}
		do(v)
	}
}

// write remembers records beyond this process. Where that fails nothing is lost to
// the model.
func (s *Store) write(records ...sessiondir.Record) {
	if len(records) == 0 || s.dir == nil {
		return
	}
	if err := s.dir.Append(records...); err != nil {
		s.log.Warn("what was done to results will be forgotten with this process", "error", err)
	}
}
