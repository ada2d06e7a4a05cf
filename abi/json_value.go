package abi

import "bytes"

// jsonParser checks a document and writes it canonically in one pass, but for
// the order of keys.
type jsonParser struct {
	src []byte
	pos int
	jsonOrder
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
