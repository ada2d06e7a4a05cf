package fs

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// encoding is how a file's bytes are text.
type encoding uint8

const (
	utf8Plain encoding = iota
	utf8BOM
	utf16LE // with a byte order mark, as is utf16BE
	utf16BE
	latin1
)

const (
	// headSize is how much of a file's start tells its encoding: what a read looks at
	// in one go anyway.
	headSize = chunkSize
	// sniffSize is how much of it tells text from binary, as in git and ripgrep.
	sniffSize = 8 << 10
	// controlShare is the share of control characters, one in so many bytes, above
	// which bytes that are no UTF-8 are no Latin-1 either.
	controlShare = 32
)

var errBinary = errors.New("a NUL byte near the start of the file, or bytes of no known encoding")

// boms are the byte order marks, by encoding.
var boms = [...]string{utf8BOM: "\xef\xbb\xbf", utf16LE: "\xff\xfe", utf16BE: "\xfe\xff", latin1: ""}

// utf32LE is a byte order mark that begins like another one.
const utf32LE = "\xff\xfe\x00\x00"

// String returns the encoding's name, one of those in package abi.
func (e encoding) String() string {
	return [...]string{
		abi.EncodingUTF8, abi.EncodingUTF8BOM, abi.EncodingUTF16LE, abi.EncodingUTF16BE, abi.EncodingLatin1,
	}[e]
}

// bom is how many bytes of byte order mark the encoding begins with.
func (e encoding) bom() int { return len(boms[e]) }

// wide reports whether the encoding counts in units of two bytes.
func (e encoding) wide() bool { return e == utf16LE || e == utf16BE }

// decoded reports whether a file's text is another than its bytes.
func (e encoding) decoded() bool { return e.wide() || e == latin1 }

// sniff tells the encoding of a file by its head: the first headSize bytes, or the
// whole file where that is shorter. It returns errBinary for what is no text.
//
// A byte order mark decides. Without one, a NUL in the first sniffSize bytes is
// binary (UTF-16 without a mark too), valid UTF-8 is UTF-8, and anything else Latin-1,
// unless it has more control characters than text has. Bytes behind the head do not
// change what the head said, so a file is read the same way at any offset.
func sniff(head []byte, whole bool) (encoding, error) {
	e := marked(head)
	first := head[e.bom():min(len(head), sniffSize)]
	switch {
	case e.wide():
		if bytes.HasPrefix(head, []byte(utf32LE)) || hasNULUnit(first) {
			return 0, errBinary
		}
		return e, nil
	case bytes.IndexByte(first, 0) >= 0:
		return 0, errBinary
	case e == utf8BOM || validHead(head, whole):
		return e, nil
	case tooManyControls(head):
		return 0, errBinary
	}
	return latin1, nil
}

// marked returns the encoding that a byte order mark names, utf8Plain without one.
func marked(head []byte) encoding {
	for _, e := range []encoding{utf8BOM, utf16LE, utf16BE} {
		if len(head) >= e.bom() && string(head[:e.bom()]) == boms[e] {
			return e
		}
	}
	return utf8Plain
}

// validHead reports whether a head is UTF-8; one that is not the whole file may end
// within a character.
func validHead(head []byte, whole bool) bool {
	if isASCII(head) {
		return true
	}
	if !whole {
		head = head[:len(head)-partial(head)]
	}
	return utf8.Valid(head)
}

// partial is how many bytes at the end of text begin a character of UTF-8 that goes
// on behind it.
func partial(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

func hasNULUnit(text []byte) bool {
	for ; len(text) >= 2; text = text[2:] {
		if text[0]|text[1] == 0 {
			return true
		}
	}
	return false
}

// tooManyControls counts the control characters that text has no use for: all but
// BEL to CR, and ESC.
func tooManyControls(head []byte) bool {
	n := 0
	for _, c := range head {
		if c < 7 || 13 < c && c < ' ' && c != 27 || c == 0x7f {
			n++
		}
	}
	return n*controlShare > len(head)
}
