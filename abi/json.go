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

// jsonParser checks a document and writes it canonically in one pass, but for
// the order of keys: objects that need sorting are noted on the way and put in
// order at the end, all at once, so that nesting does not multiply the work.
type jsonParser struct {
	src []byte
	pos int
	// dst[base:] is the document so far.
	dst  []byte
	base int

	// members are those of the objects that are open, innermost last.
	members []jsonMember
	// keys holds the unescaped bytes of keys that are written with escapes.
	keys []byte
	// unsorted are the finished objects whose members were out of order, and
	// spans those members in order.
	unsorted []jsonObject
	spans    []jsonSpan
	order    []int  // for sortObject
	before   []byte // for reorder, the document as it was
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
	*p = jsonParser{members: p.members[:0], keys: p.keys[:0], unsorted: p.unsorted[:0], spans: p.spans[:0], order: p.order[:0], before: p.before[:0]}
	parsers.Put(p)
}

// jsonSpan is a range of the document that is being written.
type jsonSpan struct{ start, end uint32 }

type jsonMember struct {
	jsonSpan
	// key is the unescaped key: in keys if escaped, else in the document.
	key     jsonSpan
	escaped bool
	// at is where the key starts in src.
	at uint32
}

type jsonObject struct {
	jsonSpan
	// first and last are its members' place in spans.
	first, last int
}

func (p *jsonParser) document(depth int) *jsonFault {
	p.space()
	if f := p.value(depth); f != nil {
		return f
	}
	p.space()
	if p.pos < len(p.src) {
		return p.unexpected("nothing more")
	}
	return nil
}

func (p *jsonParser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end; 0 begins nothing in JSON.
func (p *jsonParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *jsonParser) offset() uint32 { return uint32(len(p.dst) - p.base) }

func (p *jsonParser) value(depth int) *jsonFault {
	switch c := p.peek(); c {
	case '{', '[':
		if depth == MaxDepth {
			return faultAt(p.pos, "nested deeper than %d", MaxDepth)
		}
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case '"':
		return p.text()
	case 't':
		return p.literal("true")
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	return p.unexpected("a value")
}

func (p *jsonParser) literal(word string) *jsonFault {
	if !bytes.HasPrefix(p.src[p.pos:], []byte(word)) {
		return p.unexpected(word)
	}
	p.pos += len(word)
	p.dst = append(p.dst, word...)
	return nil
}

func (p *jsonParser) array(depth int) *jsonFault {
	p.pos++
	p.dst = append(p.dst, '[')
	p.space()
	if p.peek() == ']' {
		p.pos++
		p.dst = append(p.dst, ']')
		return nil
	}
	for i := 0; ; i++ {
		if f := p.value(depth); f != nil {
			return f.index(i)
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.dst = append(p.dst, ',')
			p.space()
		case ']':
			p.pos++
			p.dst = append(p.dst, ']')
			return nil
		default:
			return p.unexpected("a comma or ]")
		}
	}
}

// number checks a number's grammar and keeps its text.
func (p *jsonParser) number() *jsonFault {
	start := p.pos
	if p.src[p.pos] == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
		if c := p.peek(); '0' <= c && c <= '9' {
			return faultAt(p.pos, "a number with a leading zero")
		}
	} else if f := p.digits(); f != nil {
		return f
	}
	if p.peek() == '.' {
		p.pos++
		if f := p.digits(); f != nil {
			return f
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if f := p.digits(); f != nil {
			return f
		}
	}
	p.dst = append(p.dst, p.src[start:p.pos]...)
	return nil
}

func (p *jsonParser) digits() *jsonFault {
	start := p.pos
	for p.pos < len(p.src) && '0' <= p.src[p.pos] && p.src[p.pos] <= '9' {
		p.pos++
	}
	if p.pos == start {
		return p.unexpected("a digit")
	}
	return nil
}
