package fs

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// piece is some of a file: its bytes, which are at at, and their text in UTF-8 with
// the line endings it has.
type piece struct {
	at        int64
	raw, text []byte
}

// scanner goes through a file once, in memory that depends on the text to find and not
// on the file, and tells in order of what it finds and of what lies between.
type scanner struct {
	content *content
	enc     encoding
	view    view
	pattern []byte // as it looks in the view; not empty
	// between is told of what is not found, found of each occurrence, which do not
	// overlap: the leftmost comes first.
	between, found func(piece) error

	raw, buf, seen []byte
}

// reach bounds how long the text is, in bytes, that looks like the pattern.
func (s *scanner) reach() int {
	n := 0
	for _, r := range string(s.pattern) {
		switch {
		case r == '\n':
			n += len(crlfBytes)
		case s.view.quotes && (r == '\'' || r == '"'):
			n += curlySize
		default:
			n += utf8.RuneLen(r)
		}
	}
	return n
}

func (s *scanner) run(ctx context.Context, given func(context.Context) error) error {
	reach, pos := s.reach(), min(int64(s.enc.bom()), s.content.size)
	// UTF-16 has up to twice the bytes of its text, and a window must hold more than
	// the longest occurrence; it is a whole number of units.
	step := s.content.step + 2*int64(reach)
	if s.content.mem != nil {
		step = s.content.size
	} else {
		s.raw = make([]byte, min(step, s.content.size))
	}
	if err := s.mark(pos); err != nil {
		return err
	}
	for pos < s.content.size {
		if err := given(ctx); err != nil {
			return err
		}
		n := min(step, s.content.size-pos)
		raw, err := s.content.window(s.raw, pos, n)
		if err != nil {
			return err
		}
		used, err := s.window(piece{at: pos, raw: raw}, pos+n == s.content.size, reach)
		if err != nil {
			return err
		}
		pos += used
	}
	return nil
}

// mark passes the byte order mark, which is no text.
func (s *scanner) mark(n int64) error {
	raw, err := s.content.window(make([]byte, n), 0, n)
	if err != nil || n == 0 {
		return err
	}
	return s.between(piece{raw: raw})
}

// window looks at the part of the file that is in memory, and returns how much of it
// is done with. An occurrence may begin in the rest.
func (s *scanner) window(p piece, last bool, reach int) (int64, error) {
	decoded := s.decode(p.raw, last)
	seen, used := decoded, len(decoded)
	w := walker{view: s.view, text: decoded, plain: s.view.plain(decoded, s.pattern, last)}
	if !w.plain {
		seen, used = s.view.look(s.seen[:0], decoded, last)
		s.seen = seen
	}
	c := cutter{enc: s.enc, piece: piece{at: p.at, raw: p.raw, text: decoded}}
	for from := 0; ; {
		i := bytes.Index(seen[from:], s.pattern)
		if i < 0 {
			break
		}
		begin, end := w.to(from+i), w.to(from+i+len(s.pattern))
		if err := s.between(c.take(begin)); err != nil {
			return 0, err
		}
		if err := s.found(c.take(end)); err != nil {
			return 0, err
		}
		from += i + len(s.pattern)
	}
	rest := len(decoded)
	if !last {
		rest = max(c.text, s.boundary(decoded, used-reach+1))
	}
	err := s.between(c.take(rest))
	if last {
		return int64(len(p.raw)), err
	}
	return int64(c.raw), err
}

// boundary is the last place at or before n where a character begins.
func (s *scanner) boundary(text []byte, n int) int {
	n = max(n, 0)
	for i := 0; s.enc.decoded() && i < utf8.UTFMax && n > 0 && n < len(text) && !utf8.RuneStart(text[n]); i++ {
		n--
	}
	return n
}

// decode returns the text of some of the file.
func (s *scanner) decode(raw []byte, last bool) []byte {
	switch {
	case s.enc.wide():
		d := decoder{enc: s.enc, buf: s.buf}
		s.buf, _ = d.units(raw, last)
	case s.enc == latin1:
		s.buf = appendLatin1(s.buf[:0], raw)
	default:
		return raw
	}
	return s.buf
}

// cutter cuts a piece into pieces, from its start on.
type cutter struct {
	enc encoding
	piece
	raw, text int // what was taken so far
}

// take cuts off the text up to a place.
func (c *cutter) take(to int) piece {
	text := c.piece.text[c.text:to]
	n := int(c.enc.rawLen(text))
	p := piece{at: c.at + int64(c.raw), raw: c.piece.raw[c.raw : c.raw+n], text: text}
	c.raw, c.text = c.raw+n, to
	return p
}
