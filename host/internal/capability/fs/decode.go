package fs

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeSize is how much of a file is decoded in one go; a whole number of units.
const decodeSize = 64 << 10

// oddByte stands for the last byte of UTF-16 whose unit is not whole, and is no UTF-8.
const oddByte = 0xff

// decoder turns text of a one-byte or two-byte encoding into UTF-8, with its byte
// order mark. What is no character comes out as what is no UTF-8: halves of surrogate
// pairs as UTF-8 would have them, and oddByte. So what was decoded tells how long it
// was: see rawLen.
type decoder struct {
	enc encoding
	src io.Reader
	raw []byte // what is read goes here,
	n   int    // behind so many bytes that were left over
	err error
	buf []byte
	out []byte // what of buf is not read yet
}

func newDecoder(enc encoding, src io.Reader) *decoder {
	return &decoder{enc: enc, src: src, raw: make([]byte, decodeSize), buf: make([]byte, 0, 2*decodeSize)}
}

// Read is as io.Reader has it.
func (d *decoder) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.more()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// more decodes what one read of the source brings.
func (d *decoder) more() {
	n, err := d.src.Read(d.raw[d.n:])
	d.err = err
	text := d.raw[:d.n+n]
	if d.enc.wide() {
		out, used := d.units(text, errors.Is(err, io.EOF))
		d.out, d.n = out, copy(d.raw, text[used:])
	} else {
		d.out = appendLatin1(d.buf[:0], text)
	}
	d.buf = d.out
}

func appendLatin1(dst, text []byte) []byte {
	for _, c := range text {
		dst = utf8.AppendRune(dst, rune(c))
	}
	return dst
}

// units decodes UTF-16 and says how much of it: a pair, or a unit, that is not whole
// is left for the next time, unless there is none.
func (d *decoder) units(text []byte, last bool) ([]byte, int) {
	order, out, at := d.enc.order(), d.buf[:0], 0
	for ; at+2 <= len(text); at += 2 {
		unit := rune(order.Uint16(text[at:]))
		switch {
		case unit < utf8.RuneSelf:
			out = append(out, byte(unit))
			continue
		case !utf16.IsSurrogate(unit):
			out = utf8.AppendRune(out, unit)
			continue
		case unit < 0xdc00 && at+4 > len(text) && !last:
			return out, at
		case at+4 <= len(text):
			if r := utf16.DecodeRune(unit, rune(order.Uint16(text[at+2:]))); r != utf8.RuneError {
				out = utf8.AppendRune(out, r)
				at += 2
				continue
			}
		}
		out = append(out, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
	}
	if last && at < len(text) {
		return append(out, oddByte), len(text)
	}
	return out, at
}

// byteOrder reads units and writes them.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (e encoding) order() byteOrder {
	if e == utf16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// rawLen is how many bytes of a file were decoded into text.
func (e encoding) rawLen(text []byte) int64 {
	if !e.decoded() {
		return int64(len(text))
	}
	n := 0
	for _, c := range text {
		switch {
		case c&0xc0 == 0x80: // within a character
		case e == latin1 || c == oddByte:
			n++
		case c >= 0xf0: // a pair
			n += 4
		default:
			n += 2
		}
	}
	return int64(n)
}

// appendRaw encodes text as it was before it was decoded; it must be valid UTF-8.
func (e encoding) appendRaw(dst, text []byte) []byte {
	for _, r := range string(text) {
		switch {
		case e == latin1:
			dst = append(dst, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = e.order().AppendUint16(e.order().AppendUint16(dst, uint16(high)), uint16(low))
		default:
			dst = e.order().AppendUint16(dst, uint16(r))
		}
	}
	return dst
}
