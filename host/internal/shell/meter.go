package shell

import (
	"bytes"
	"unicode/utf8"
)

// meter counts what is in a stream that comes in pieces.
type meter struct {
	bytes, lines, invalid int64
	// cut is the beginning of a code point whose end has not come yet.
	cut []byte
}

// add counts the next piece.
func (m *meter) add(p []byte) {
	m.bytes += int64(len(p))
	m.lines += int64(bytes.Count(p, []byte{'\n'}))
	for len(m.cut) > 0 && len(p) > 0 {
		m.cut, p = append(m.cut, p[0]), p[1:]
		n, rest := invalidIn(m.cut)
		m.invalid += int64(n)
		m.cut = append(m.cut[:0], rest...)
	}
	n, rest := invalidIn(p)
	m.invalid += int64(n)
	m.cut = append(m.cut, rest...)
}

// invalidSoFar counts the bytes that are no UTF-8 where nothing more came.
func (m *meter) invalidSoFar() int64 { return m.invalid + int64(len(m.cut)) }

// invalidIn counts the bytes of p that are no UTF-8, each by itself, and returns what
// may be the beginning of a code point at its end.
func invalidIn(p []byte) (n int, rest []byte) {
	whole := p[:len(p)-cutAtEnd(p)]
	rest = p[len(whole):]
	if utf8.Valid(whole) {
		return 0, rest
	}
	for i := 0; i < len(whole); {
		if whole[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(whole[i:])
		if r == utf8.RuneError && size == 1 {
			n++
		}
		i += size
	}
	return n, rest
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

// appendValid appends p with U+FFFD for each byte that is no UTF-8.
func appendValid(dst, p []byte) []byte {
	if utf8.Valid(p) {
		return append(dst, p...)
	}
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		dst, p = utf8.AppendRune(dst, r), p[size:]
	}
	return dst
}
