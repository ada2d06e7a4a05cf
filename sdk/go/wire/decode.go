package wire

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 256

// Decoder reads one JSON document. After a fault every method returns zero
// values, and Err says what was wrong.
type Decoder struct {
	b     []byte
	pos   int
	depth int
	err   *Error
}

// NewDecoder returns a decoder of b. What Raw returns aliases b.
func NewDecoder(b []byte) *Decoder { return &Decoder{b: b} }

// Unmarshal reads b, which must hold one JSON object and nothing else, into v.
func Unmarshal(b []byte, v interface{ DecodeJSON(*Decoder) }) error {
	d := NewDecoder(b)
	if d.peek() != '{' {
		d.fail("no JSON object")
	}
	v.DecodeJSON(d)
	return d.End()
}

// End reports the first fault, or that something follows the value.
func (d *Decoder) End() error {
	if d.err == nil && d.peek() != 0 {
		d.fail("something follows the JSON value")
	}
	if d.err != nil {
		return d.err
	}
	return nil
}

func (d *Decoder) fail(what string) {
	if d.err == nil {
		d.err = &Error{Code: CodeProtocol, Message: what + " at byte " + strconv.Itoa(d.pos)}
		d.pos = len(d.b)
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (d *Decoder) peek() byte {
	for d.pos < len(d.b) {
		switch c := d.b[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		case 0:
			d.fail("a NUL")
		default:
			return c
		}
	}
	return 0
}

func (d *Decoder) take(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

// Null takes a null if one is next.
func (d *Decoder) Null() bool {
	if d.peek() != 'n' {
		return false
	}
	return d.word("null")
}

func (d *Decoder) word(w string) bool {
	if len(d.b)-d.pos < len(w) || string(d.b[d.pos:d.pos+len(w)]) != w {
		d.fail("no JSON value")
		return false
	}
	d.pos += len(w)
	return true
}

// Object reads an object and calls member for each key; member must read or
// Skip the value. A null counts as an empty object.
func (d *Decoder) Object(member func(key string)) {
	d.sequence('{', '}', func() {
		if d.peek() != '"' {
			d.fail("no key of an object")
			return
		}
		key := d.String()
		if !d.take(':') {
			d.fail("no colon after a key")
			return
		}
		member(key)
	})
}

// Array reads an array and calls item for each element; item must read it. A
// null counts as an empty array.
func (d *Decoder) Array(item func()) { d.sequence('[', ']', item) }

func (d *Decoder) sequence(open, end byte, item func()) {
	if d.err != nil || d.Null() {
		return
	}
	if !d.take(open) {
		d.fail("no " + string(open))
		return
	}
	d.depth++
	if d.depth > maxDepth {
		d.fail("JSON is nested too deep")
	}
	if d.take(end) {
		d.depth--
		return
	}
	for d.err == nil {
		item()
		if d.take(end) {
			d.depth--
			return
		}
		if !d.take(',') {
			d.fail("no comma and no end of a list or object")
		}
	}
}

// Bool reads a boolean; null is false.
func (d *Decoder) Bool() bool {
	switch {
	case d.err != nil || d.Null():
	case d.peek() == 't':
		return d.word("true")
	default:
		d.word("false")
	}
	return false
}

// Int reads a whole number from low to high; null is 0.
func (d *Decoder) Int(low, high int64) int64 {
	if d.err != nil || d.Null() {
		return 0
	}
	n, err := strconv.ParseInt(d.number(), 10, 64)
	if err != nil || n < low || n > high {
		d.fail("no whole number within its range")
		return 0
	}
	return n
}

// Float reads a number; null is 0.
func (d *Decoder) Float() float64 {
	if d.err != nil || d.Null() {
		return 0
	}
	n, err := strconv.ParseFloat(d.number(), 64)
	if err != nil {
		d.fail("no number within its range")
	}
	return n
}

func (d *Decoder) number() string {
	d.peek()
	start := d.pos
	for d.pos < len(d.b) {
		switch c := d.b[d.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			d.pos++
			continue
		}
		break
	}
	return string(d.b[start:d.pos])
}

// Raw returns the next value as it is written, without reading it closer than
// finding its end takes.
func (d *Decoder) Raw() Raw {
	d.peek()
	start := d.pos
	d.Skip()
	if d.err != nil {
		return nil
	}
	return Raw(d.b[start:d.pos:d.pos])
}

// Skip passes over the next value.
func (d *Decoder) Skip() {
	switch c := d.peek(); {
	case d.err != nil:
	case c == '{':
		d.Object(func(string) { d.Skip() })
	case c == '[':
		d.Array(d.Skip)
	case c == '"':
		_ = d.String()
	case c == 't' || c == 'f':
		d.Bool()
	case c == 'n':
		d.Null()
	default:
		if _, err := strconv.ParseFloat(d.number(), 64); err != nil && !outOfRange(err) {
			d.fail("no JSON value")
		}
	}
}

func outOfRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

// String reads a string; null is the empty one.
func (d *Decoder) String() string {
	if d.err != nil || d.Null() {
		return ""
	}
	if !d.take('"') {
		d.fail("no string")
		return ""
	}
	start := d.pos
	for d.pos < len(d.b) {
		switch c := d.b[d.pos]; {
		case c == '"':
			s := d.b[start:d.pos]
			d.pos++
			return d.checked(s)
		case c == '\\':
			return d.escaped(append([]byte(nil), d.b[start:d.pos]...))
		case c < ' ':
			d.fail("a control character in a string")
			return ""
		}
		d.pos++
	}
	d.fail("a string that does not end")
	return ""
}

func (d *Decoder) checked(s []byte) string {
	if !utf8.Valid(s) {
		d.fail("a string that is not UTF-8")
		return ""
	}
	return string(s)
}

// escaped reads on from the first escape.
func (d *Decoder) escaped(s []byte) string {
	for d.pos < len(d.b) {
		c := d.b[d.pos]
		d.pos++
		switch {
		case c == '"':
			return d.checked(s)
		case c == '\\':
			s = d.escape(s)
		case c < ' ':
			d.fail("a control character in a string")
			return ""
		default:
			s = append(s, c)
		}
	}
	d.fail("a string that does not end")
	return ""
}

func (d *Decoder) escape(s []byte) []byte {
	if d.pos >= len(d.b) {
		return s
	}
	c := d.b[d.pos]
	d.pos++
	switch c {
	case '"', '\\', '/':
		return append(s, c)
	case 'b':
		return append(s, '\b')
	case 'f':
		return append(s, '\f')
	case 'n':
		return append(s, '\n')
	case 'r':
		return append(s, '\r')
	case 't':
		return append(s, '\t')
	case 'u':
		r := d.hex4()
		if utf16.IsSurrogate(r) {
			if d.pos+1 < len(d.b) && d.b[d.pos] == '\\' && d.b[d.pos+1] == 'u' {
				d.pos += 2
				r = utf16.DecodeRune(r, d.hex4())
			} else {
				r = utf8.RuneError
			}
			if r == utf8.RuneError {
				d.fail("half a surrogate pair")
			}
		}
		return utf8.AppendRune(s, r)
	}
	d.fail("an escape that JSON does not have")
	return s
}

func (d *Decoder) hex4() rune {
	if len(d.b)-d.pos < 4 {
		d.fail("an escape cut short")
		return 0
	}
	n, err := strconv.ParseUint(string(d.b[d.pos:d.pos+4]), 16, 16)
	if err != nil {
		d.fail("an escape that JSON does not have")
		return 0
	}
	d.pos += 4
	return rune(n)
}
