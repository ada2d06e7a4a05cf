package fs

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// maxLatin1 is the last character that Latin-1 has.
const maxLatin1 = 0xff

// checkText fails where a text is no UTF-8.
func checkText(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n <= 1 {
			return abi.Errorf(abi.CodeInvalidInput, "the text is no UTF-8 at byte %d; write it as bytes", at)
		}
		at += n
	}
}

// encode appends text, which is valid UTF-8, as the bytes it has in a file. A
// character that Latin-1 does not have is an error: to write the file as UTF-8 without
// a word would change every other character beyond ASCII for whoever reads it.
func (e encoding) encode(dst, text []byte) ([]byte, error) {
	if !e.decoded() {
		return append(dst, text...), nil
	}
	if e == latin1 {
		if err := checkLatin1(text); err != nil {
			return dst, err
		}
	}
	return e.appendRaw(dst, text), nil
}

func checkLatin1(text []byte) error {
	line, column := 1, 1
	for _, r := range string(text) {
		switch {
		case r > maxLatin1:
			return abi.Errorf(abi.CodeInvalidInput,
				"the file is in Latin-1, which has no %q (U+%04X), as in line %d, column %d of the text; "+
					"write it another way, or convert the file to UTF-8 first", r, r, line, column)
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
	}
	return nil
}

// tally counts the lines of a file by their endings, in its own bytes, without the
// byte order mark. A CR that no LF follows ends no line.
type tally struct {
	enc      encoding
	lf, crlf int64
	cr       bool // the last character was a CR
}

// lines is how many endings there were.
func (t *tally) lines() int64 { return t.lf + t.crlf }

// add goes on with the next bytes: of UTF-16, whole units.
func (t *tally) add(raw []byte) {
	if len(raw) == 0 {
		return
	}
	if t.enc.wide() {
		t.addWide(raw)
		return
	}
	all := int64(bytes.Count(raw, newline))
	crlf := int64(0)
	if t.cr && raw[0] == '\n' {
		crlf++
	}
	if bytes.IndexByte(raw, '\r') >= 0 {
		crlf += int64(bytes.Count(raw, crlfBytes))
	}
	t.crlf, t.lf = t.crlf+crlf, t.lf+all-crlf
	t.cr = raw[len(raw)-1] == '\r'
}

func (t *tally) addWide(raw []byte) {
	order := binary.ByteOrder(t.enc.order())
	for ; len(raw) >= 2; raw = raw[2:] {
		unit := order.Uint16(raw)
		switch {
		case unit == '\n' && t.cr:
			t.crlf++
		case unit == '\n':
			t.lf++
		}
		t.cr = unit == '\r'
	}
}

// major reports whether most lines end with CRLF. Where there are as many of both,
// and where there is none, it is LF.
func (t *tally) major() bool { return t.crlf > t.lf }

// name is the line ending as package abi names it, empty where there is one line.
func (t *tally) name() string {
	switch {
	case t.lf > 0 && t.crlf > 0:
		return abi.LineEndingMixed
	case t.crlf > 0:
		return abi.LineEndingCRLF
	case t.lf > 0:
		return abi.LineEndingLF
	}
	return ""
}

var crlfBytes = []byte("\r\n")

// toLF makes every CRLF an LF.
func toLF(text []byte) []byte {
	if !bytes.Contains(text, crlfBytes) {
		return text
	}
	return bytes.ReplaceAll(text, crlfBytes, newline)
}

// withEndings gives a text with LF the line ending of a file.
func withEndings(text []byte, crlf bool) []byte {
	if !crlf {
		return text
	}
	return bytes.ReplaceAll(text, newline, crlfBytes)
}
