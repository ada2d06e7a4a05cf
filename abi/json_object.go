package abi

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

func (p *jsonParser) object(depth int) *jsonFault {
	start, first := p.offset(), len(p.members)
	p.pos++
	p.dst = append(p.dst, '{')
	p.space()
	if p.peek() == '}' {
		p.pos++
		p.dst = append(p.dst, '}')
		return nil
	}
	sorted := true
	for {
		if f := p.member(depth); f != nil {
			return f
		}
		if n := len(p.members); n-first > 1 && sorted {
			sorted = bytes.Compare(p.key(n-2), p.key(n-1)) < 0
		}
		switch p.peek() {
		case ',':
			p.pos++
			p.dst = append(p.dst, ',')
			p.space()
			continue
		case '}':
			p.pos++
			p.dst = append(p.dst, '}')
		default:
			return p.unexpected("a comma or }")
		}
		break
	}
	if !sorted {
		if f := p.sortObject(start, first); f != nil {
			return f
		}
	}
	p.members = p.members[:first]
	return nil
}

// member reads one key and value and the space after them.
func (p *jsonParser) member(depth int) *jsonFault {
	if p.peek() != '"' {
		return p.unexpected("a key in double quotes")
	}
	m := jsonMember{at: uint32(p.pos)}
	m.start = p.offset()
	if f := p.text(); f != nil {
		return f
	}
	m.key = jsonSpan{m.start + 1, p.offset() - 1}
	if written := p.written(m.key); bytes.IndexByte(written, '\\') >= 0 {
		from := uint32(len(p.keys))
		p.keys = appendUnescaped(p.keys, written)
		m.key, m.escaped = jsonSpan{from, uint32(len(p.keys))}, true
	}
	n := len(p.members)
	p.members = append(p.members, m)
	p.space()
	if p.peek() != ':' {
		return p.unexpected("a colon").member(p.key(n))
	}
	p.pos++
	p.dst = append(p.dst, ':')
	p.space()
	if f := p.value(depth); f != nil {
		return f.member(p.key(n))
	}
	p.members[n].end = p.offset()
	p.space()
	return nil
}

func (p *jsonParser) written(s jsonSpan) []byte { return p.dst[p.base:][s.start:s.end] }

// key returns the unescaped key of a member.
func (p *jsonParser) key(i int) []byte {
	m := &p.members[i]
	if m.escaped {
		return p.keys[m.key.start:m.key.end]
	}
	return p.written(m.key)
}

// sortObject puts the members of the object that starts at start, which are
// those from first on, in the order of their keys, and refuses duplicates.
func (p *jsonParser) sortObject(start uint32, first int) *jsonFault {
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
func (p *jsonParser) reorder() {
	slices.SortFunc(p.unsorted, func(a, b jsonObject) int { return cmp.Compare(a.start, b.start) })
	p.before = append(p.before[:0], p.dst[p.base:]...)
	p.dst = p.dst[:p.base]
	p.emit(p.before, jsonSpan{0, uint32(len(p.before))})
}

func (p *jsonParser) emit(text []byte, s jsonSpan) {
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
