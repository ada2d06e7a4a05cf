package abi

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// jsonOrder is the document as it is written, with what puts its keys in order: objects
// that need sorting are noted on the way and put in order at the end, all at once, so
// that nesting does not multiply the work.
type jsonOrder struct {
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

func (p *jsonOrder) offset() uint32 { return uint32(len(p.dst) - p.base) }

func (p *jsonOrder) written(s jsonSpan) []byte { return p.dst[p.base:][s.start:s.end] }

// key returns the unescaped key of a member.
func (p *jsonOrder) key(i int) []byte {
	m := &p.members[i]
	if m.escaped {
		return p.keys[m.key.start:m.key.end]
	}
	return p.written(m.key)
}

// sortObject puts the members of the object that starts at start, which are
// those from first on, in the order of their keys, and refuses duplicates.
func (p *jsonOrder) sortObject(start uint32, first int) *jsonFault {
	order := p.order[:0]
	for i := first; i < len(p.members); i++ {
		order = append(order, i)
	}
	p.order = order
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(bytes.Compare(p.key(a), p.key(b)), cmp.Compare(a, b))
	})
	twice := -1
	for i := 1; i < len(order); i++ {
		if bytes.Equal(p.key(order[i-1]), p.key(order[i])) && (twice < 0 || order[i] < twice) {
			twice = order[i]
		}
	}
	if twice >= 0 {
		key := p.key(twice)
		return faultAt(int(p.members[twice].at), "duplicate key %s", quoteShort(key)).member(key)
	}
	o := jsonObject{jsonSpan{start, p.offset()}, len(p.spans), len(p.spans) + len(order)}
	for _, i := range order {
		p.spans = append(p.spans, p.members[i].jsonSpan)
	}
	p.unsorted = append(p.unsorted, o)
	return nil
}

// reorder writes the document again with the members of unsorted objects in
// order. Every byte is copied once, however deep the objects nest.
func (p *jsonOrder) reorder() {
	slices.SortFunc(p.unsorted, func(a, b jsonObject) int { return cmp.Compare(a.start, b.start) })
	p.before = append(p.before[:0], p.dst[p.base:]...)
	p.dst = p.dst[:p.base]
	p.emit(p.before, jsonSpan{0, uint32(len(p.before))})
}

func (p *jsonOrder) emit(text []byte, s jsonSpan) {
	for {
		i := sort.Search(len(p.unsorted), func(i int) bool { return p.unsorted[i].start >= s.start })
		if i == len(p.unsorted) || p.unsorted[i].start >= s.end {
			p.dst = append(p.dst, text[s.start:s.end]...)
			return
		}
		o := p.unsorted[i]
		p.dst = append(p.dst, text[s.start:o.start+1]...)
		for j, m := range p.spans[o.first:o.last] {
			if j > 0 {
				p.dst = append(p.dst, ',')
			}
			p.emit(text, m)
		}
		p.dst = append(p.dst, '}')
		s.start = o.end
	}
}
