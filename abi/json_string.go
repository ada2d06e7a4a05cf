package abi

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string and writes it with no more escapes than needed.
func (p *jsonParser) text() *jsonFault {
	p.pos++
	p.dst = append(p.dst, '"')
	for {
		n, ascii := plainRun(p.src[p.pos:])
		run := p.src[p.pos : p.pos+n]
		if !ascii && !utf8.Valid(run) {
			return faultAt(p.pos+invalidUTF8(run), "bytes that are not UTF-8")
		}
		p.dst = append(p.dst, run...)
		p.pos += n
		if p.pos == len(p.src) {
			return faultAt(p.pos, "a string that does not end")
		}
		switch c := p.src[p.pos]; c {
		case '"':
			p.pos++
			p.dst = append(p.dst, '"')
			return nil
		case '\\':
			if f := p.escape(); f != nil {
				return f
			}
		default:
			return faultAt(p.pos, "a control character %#02x in a string; write it as an escape", c)
		}
	}
}

// escape reads one escape, or two that make a surrogate pair.
func (p *jsonParser) escape() *jsonFault {
	at := p.pos
	if at+1 == len(p.src) {
		return faultAt(at+1, "a string that does not end")
	}
	c := p.src[at+1]
	if c == 'u' {
		return p.unicodeEscape(at)
	}
	r, ok := shortEscape(c)
	if !ok {
		return faultAt(at, "an unknown escape in a string")
	}
	p.pos += 2
	p.dst = appendEscaped(p.dst, r)
	return nil
}

func shortEscape(c byte) (rune, bool) {
	switch c {
	case '"', '\\', '/':
		return rune(c), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

func (p *jsonParser) unicodeEscape(at int) *jsonFault {
	r, ok := hexEscape(p.src[at:])
	if !ok {
		return faultAt(at, `a \u escape without four hexadecimal digits`)
	}
	size := 6
	if utf16.IsSurrogate(r) {
		low, _ := hexEscape(p.src[at+size:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return faultAt(at, "an escape of half a surrogate pair")
		}
		size *= 2
	}
	p.pos += size
	p.dst = appendEscaped(p.dst, r)
	return nil
}

// hexEscape reads \uXXXX at the start of b.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		r <<= 4
		switch {
		case '0' <= c && c <= '9':
			r |= rune(c - '0')
		case 'a' <= c && c <= 'f':
			r |= rune(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			r |= rune(c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return r, true
}

// appendEscaped writes one character of a string canonically.
func appendEscaped(dst []byte, r rune) []byte {
	const hexDigits = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r < ' ' {
		return append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// appendUnescaped undoes the escapes of a string written canonically.
func appendUnescaped(dst, written []byte) []byte {
	for {
		at := bytes.IndexByte(written, '\\')
		if at < 0 {
			return append(dst, written...)
		}
		dst, written = append(dst, written[:at]...), written[at:]
		if r, ok := hexEscape(written); ok {
			dst, written = append(dst, byte(r)), written[6:]
			continue
		}
		r, _ := shortEscape(written[1])
		dst, written = append(dst, byte(r)), written[2:]
	}
}

// appendString writes s as a canonical JSON string. What is not UTF-8 in it
// becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		dst = appendEscaped(dst, r)
	}
	return append(dst, '"')
}

// plainRun returns how many bytes at the start of b can stand in a JSON string
// as they are, eight at a time, and whether they are surely all ASCII.
func plainRun(b []byte) (n int, ascii bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var seen uint64
	for len(b)-n >= 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		// The lowest bit set marks the first byte that is below 0x20, or equal
		// to one of the two: a borrow can only come from a byte that is.
		stop := ((x - ones*0x20) &^ x) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
		if stop &= highs; stop != 0 {
			k := bits.TrailingZeros64(stop) / 8
			return n + k, (seen|x&(1<<(8*k)-1))&highs == 0
		}
		seen |= x
		n += 8
	}
	for n < len(b) {
		c := b[n]
		if c < ' ' || c == '"' || c == '\\' {
			break
		}
		seen |= uint64(c)
		n++
	}
	return n, seen&highs == 0
}

// invalidUTF8 returns where the first byte lies that is not UTF-8.
func invalidUTF8(b []byte) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}
