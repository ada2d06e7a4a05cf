package abi

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
)

const (
	// MaxDepth is how deep arrays and objects may nest in JSON that crosses the
	// guest border.
	MaxDepth = 256
	// MaxJSON is the largest JSON document in bytes. Larger things travel as
	// bytes or text.
	MaxJSON = 16 << 20
)

// Canonical returns the canonical form of one JSON document: what is judged,
// what is hashed and what a guest gets are these bytes.
//
// Object keys are sorted by the bytes of their unescaped UTF-8; there is no
// white space; strings hold no escapes but those JSON asks for; numbers keep
// their text exactly, so 1e2 stays 1e2 and -0 stays -0. It is never longer than
// src and shares no memory with it.
//
// It refuses, with [CodeInvalidInput] and a [JSONFault] that says where: what
// RFC 8259 does not allow, duplicate keys (compared unescaped), bytes that are
// not UTF-8, escapes of lone surrogates, nesting over [MaxDepth], anything but
// white space after the value. Over [MaxJSON] it answers [CodeTooLarge].
func Canonical(src []byte) ([]byte, error) {
	return AppendCanonical(nil, src)
}

// AppendCanonical appends what [Canonical] returns to dst. Where it fails it
// returns dst as it was.
func AppendCanonical(dst, src []byte) ([]byte, error) { return appendCanonical(dst, src, 0) }

// appendCanonical is AppendCanonical of a document that lies so deep in another.
func appendCanonical(dst, src []byte, depth int) ([]byte, error) {
	if len(src) > MaxJSON {
		return dst, Errorf(CodeTooLarge, "JSON of %d bytes is over the limit of %d", len(src), MaxJSON)
	}
	p, ok := parsers.Get().(*jsonParser)
	if !ok {
		p = new(jsonParser)
	}
	defer p.close()
	p.src, p.dst, p.base = src, slices.Grow(dst, len(src)), len(dst)
	if f := p.document(depth); f != nil {
		return dst, f.err()
	}
	if len(p.unsorted) > 0 {
		p.reorder()
	}
	return p.dst, nil
}

// Unmarshal decodes one JSON document into v as encoding/json does, but refuses
// what [Canonical] refuses first. Keys unknown to v are ignored, numbers in an
// any become [json.Number], and a [json.RawMessage] gets canonical JSON.
func Unmarshal(data []byte, v any) error {
	canonical, err := Canonical(data)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(canonical))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return Errorf(CodeInvalidInput, "%w", err)
	}
	return nil
}

// parsers are kept for the room they have: most documents are small, and making
// room for each would cost as much as reading it.
var parsers sync.Pool

// maxKept bounds the room that a parser is kept with: so many members of objects,
// and bytes of keys.
const maxKept = 256

// maxBefore bounds the room for documents that have to be put in order, in bytes.
const maxBefore = 4 << 10

// close gives the parser back, without what it was given.
func (p *jsonParser) close() {
	if max(cap(p.members), cap(p.spans), cap(p.keys)) > maxKept {
		return
	}
	if cap(p.before) > maxBefore {
		p.before = nil
	}
	*p = jsonParser{jsonOrder: jsonOrder{
		members: p.members[:0], keys: p.keys[:0], unsorted: p.unsorted[:0], spans: p.spans[:0], order: p.order[:0], before: p.before[:0],
	}}
	parsers.Put(p)
}
