package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Size is how much of a file is decoded in one go, in bytes.
const utf16Size = 64 << 10

// byMark returns the order of bytes in UTF-16 that a text's byte order mark tells;
// nil where it has no such mark.
func byMark(text []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		return binary.LittleEndian
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	return nil
}

// utf16Reader turns UTF-16 into UTF-8. What is no character becomes U+FFFD, as with
// ripgrep.
type utf16Reader struct {
	order binary.ByteOrder
	src   io.Reader
	err   error
	raw   []byte
	n     int    // bytes of raw that were left over
	out   []byte // decoded, and not read yet
	buf   []byte
}

func newUTF16Reader(order binary.ByteOrder, src io.Reader) *utf16Reader {
	return &utf16Reader{order: order, src: src, raw: make([]byte, utf16Size)}
}

// Read is as io.Reader has it.
func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.src.Read(r.raw[r.n:])
		r.err = err
		r.decode(r.raw[:r.n+n], errors.Is(err, io.EOF))
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// decode decodes text, but for what may be half of a character, unless it is the last.
func (r *utf16Reader) decode(text []byte, last bool) {
	out := r.buf[:0]
	for len(text) >= 2 {
		c, size := rune(r.order.Uint16(text)), 2
		if utf16.IsSurrogate(c) {
			low := rune(0)
			if len(text) >= 4 {
				low = rune(r.order.Uint16(text[2:]))
			} else if !last {
				break
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				size = 4
			}
		}
		out = utf8.AppendRune(out, c)
		text = text[size:]
	}
	if last && len(text) > 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
		text = nil
	}
	r.n = copy(r.raw, text)
	r.buf, r.out = out, out
}
