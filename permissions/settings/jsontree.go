package settings

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// jsonNode is a value of a JSON document with where it is written: the tree that
// the encoding/json package does not give.
type jsonNode struct {
	// start and end enclose its text.
	start, end int
	members    []jsonMember
	elems      []*jsonNode
	// kind is the value's first byte: one of { [ " t f n, or 0 for a number.
	kind byte
	text string // of a string
}

type jsonMember struct {
	key   string
	start int
	value *jsonNode
}

// member returns the value of a key, or nil.
func (n *jsonNode) member(key string) *jsonNode {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// String names the value for a fault.
func (n *jsonNode) String() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return fmt.Sprintf("the string %.40q", n.text)
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// parseJSON has a document judged as the host judges all JSON and returns its
// tree.
func parseJSON(src []byte) (*jsonNode, error) {
	if _, err := abi.Canonical(src); err != nil {
		return nil, err
	}
	r := jsonReader{src: src}
	return r.value(), nil
}

// jsonReader walks over a document that is known to be well-formed and not
// nested too deep.
type jsonReader struct {
	src []byte
	pos int
}

func (r *jsonReader) space() {
	for r.pos < len(r.src) && strings.IndexByte(" \t\r\n", r.src[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *jsonReader) value() *jsonNode {
	r.space()
	n := &jsonNode{start: r.pos}
	switch c := r.src[r.pos]; c {
	case '{':
		n.kind = c
		r.list('}', func() {
			m := jsonMember{start: r.pos}
			m.key = r.text()
			r.space()
			r.pos++ // the colon
			m.value = r.value()
			n.members = append(n.members, m)
		})
	case '[':
		n.kind = c
		r.list(']', func() { n.elems = append(n.elems, r.value()) })
	case '"':
		n.kind, n.text = c, r.text()
	default:
		if strings.IndexByte("tfn", c) >= 0 {
			n.kind = c
		}
		for r.pos < len(r.src) && strings.IndexByte(" \t\r\n,]}", r.src[r.pos]) < 0 {
			r.pos++
		}
	}
	n.end = r.pos
	return n
}

// list reads items up to a bracket.
func (r *jsonReader) list(end byte, item func()) {
	r.pos++
	for r.space(); r.src[r.pos] != end; r.space() {
		if r.src[r.pos] == ',' {
			r.pos++
			continue
		}
		item()
	}
	r.pos++
}

func (r *jsonReader) text() string {
	start := r.pos
	for r.pos++; r.src[r.pos] != '"'; r.pos++ {
		if r.src[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
	var text string
	// It is known to be a string; were it none, an empty one grants nothing.
	_ = json.Unmarshal(r.src[start:r.pos], &text)
	return text
}

// lines finds the line of an offset without counting from the start each time.
type lines []int

func newLines(src []byte) lines {
	starts := lines{0}
	for i, c := range src {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// of returns the 1-based line of an offset.
func (l lines) of(offset int) int {
	return sort.Search(len(l), func(i int) bool { return l[i] > offset })
}
