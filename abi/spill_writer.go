package abi

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// SpillWriter writes a text on, such as to a file, and notes on the way what
// [Spilled] tells of it. It holds up to twice [SpillKeep] of memory, however long
// the text is.
type SpillWriter struct {
	to                  io.Writer
	size, chars, breaks int64
	head                []byte
	tail                ring
	// cut is the beginning of a code point whose end has not been written yet.
	cut []byte
}

// NewSpillWriter returns a writer of a text that has not begun.
func NewSpillWriter(to io.Writer) *SpillWriter { return &SpillWriter{to: to} }

// Write writes the text's next bytes on. Where not all of them could be written,
// those that were count.
func (s *SpillWriter) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.note(p[:n])
	return n, err
}

func (s *SpillWriter) note(p []byte) {
	s.size += int64(len(p))
	s.breaks += int64(bytes.Count(p, []byte{'\n'}))
	s.count(p)
	s.head = append(s.head, p[:min(len(p), SpillKeep-len(s.head))]...)
	s.tail.write(p)
}

// count counts code points, of which the one at the end of p may go on in the
// next piece.
func (s *SpillWriter) count(p []byte) {
	for len(s.cut) > 0 && len(p) > 0 {
		s.cut, p = append(s.cut, p[0]), p[1:]
		for len(s.cut) > 0 && utf8.FullRune(s.cut) {
			_, n := utf8.DecodeRune(s.cut)
			s.cut = s.cut[n:]
			s.chars++
		}
	}
	whole := len(p) - cutAtEnd(p)
	s.chars += int64(utf8.RuneCount(p[:whole]))
	s.cut = append(s.cut, p[whole:]...)
}

// cutAtEnd returns how many bytes at the end of p are a code point's beginning.
func cutAtEnd(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Spilled tells of what was written, which lies in the file of that path.
func (s *SpillWriter) Spilled(path string) *Spilled {
	return &Spilled{
		Path:  path,
		Bytes: s.size,
		Chars: s.chars + int64(len(s.cut)),
		Lines: s.breaks,
		Head:  validHead(s.head, s.size > SpillKeep),
		Tail:  validTail(s.tail.bytes(), s.size > SpillKeep),
	}
}

// validHead makes a text's beginning valid, of at most SpillKeep bytes. Where
// there is more behind it, a code point that is cut at its end is left out.
func validHead(raw []byte, more bool) string {
	if more {
		raw = raw[:len(raw)-cutAtEnd(raw)]
	}
	if utf8.Valid(raw) {
		return string(raw)
	}
	var valid []byte
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if len(valid)+utf8.RuneLen(r) > SpillKeep {
			break
		}
		valid, raw = utf8.AppendRune(valid, r), raw[n:]
	}
	return string(valid)
}

// validTail makes a text's end valid, of at most SpillKeep bytes. Where there is
// more before it, a code point that is cut at its beginning is left out.
func validTail(raw []byte, more bool) string {
	for n := 0; more && n < utf8.UTFMax-1 && len(raw) > 0 && !utf8.RuneStart(raw[0]); n++ {
		raw = raw[1:]
	}
	if utf8.Valid(raw) {
		return string(raw)
	}
	size, from := 0, len(raw)
	for from > 0 {
		r, n := utf8.DecodeLastRune(raw[:from])
		if size+utf8.RuneLen(r) > SpillKeep {
			break
		}
		size, from = size+utf8.RuneLen(r), from-n
	}
	return string([]rune(string(raw[from:])))
}

// ring holds the last SpillKeep bytes of what is written to it.
type ring struct {
	buf []byte
	// end is where the next byte goes, once buf is full.
	end int
}

func (r *ring) write(p []byte) {
	p = p[max(len(p)-SpillKeep, 0):]
	room := min(len(p), SpillKeep-len(r.buf))
	r.buf = append(r.buf, p[:room]...)
	for p = p[room:]; len(p) > 0; {
		n := copy(r.buf[r.end:], p)
		p, r.end = p[n:], (r.end+n)%SpillKeep
	}
}

// bytes returns what the ring holds, in order.
func (r *ring) bytes() []byte {
	return append(bytes.Clone(r.buf[r.end:]), r.buf[:r.end]...)
}
