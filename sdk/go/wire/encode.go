package wire

import (
	"math"
	"sort"
	"strconv"
	"unicode/utf8"
)

// Raw is one JSON value, as it came.
type Raw []byte

// MarshalJSON returns the value, null if it is empty.
func (r Raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of the value.
func (r *Raw) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}

// object appends the members of one JSON object.
type object struct {
	b    []byte
	some bool
}

func beginObject(dst []byte) object { return object{b: append(dst, '{')} }

func (o *object) end() []byte { return append(o.b, '}') }

func (o *object) key(key string) {
	if o.some {
		o.b = append(o.b, ',')
	}
	o.some = true
	o.b = append(o.b, '"')
	o.b = append(o.b, key...) // keys of the wire need no escapes
	o.b = append(o.b, '"', ':')
}

func (o *object) string(key, v string) {
	o.key(key)
	o.b = AppendString(o.b, v)
}

func (o *object) int(key string, v int64) {
	o.key(key)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) float(key string, v float64) {
	o.key(key)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0 // JSON has neither, and on the wire 0 is "unknown"
	}
	o.b = strconv.AppendFloat(o.b, v, 'g', -1, 64)
}

func (o *object) bool(key string, v bool) {
	o.key(key)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) raw(key string, v Raw) {
	o.key(key)
	if len(v) == 0 {
		v = Raw("null")
	}
	o.b = append(o.b, v...)
}

func (o *object) value(key string, encode func([]byte) []byte) {
	o.key(key)
	o.b = encode(o.b)
}

func (o *object) list(key string, n int, item func(i int, dst []byte) []byte) {
	o.key(key)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = item(i, o.b)
	}
	o.b = append(o.b, ']')
}

func (o *object) strings(key string, list []string) {
	o.list(key, len(list), func(i int, dst []byte) []byte { return AppendString(dst, list[i]) })
}

func (o *object) rawMap(key string, m map[string]Raw) {
	o.key(key)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	o.b = append(o.b, '{')
	for i, k := range keys {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = AppendString(o.b, k)
		o.b = append(o.b, ':')
		o.b = append(o.b, m[k]...)
	}
	o.b = append(o.b, '}')
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string, with no escapes but those JSON asks
// for. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
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
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// ValidUTF8 returns the bytes of s, with U+FFFD for what is not UTF-8.
func ValidUTF8(s string) []byte {
	if utf8.ValidString(s) {
		return []byte(s)
	}
	out := make([]byte, 0, len(s)+8)
	for _, r := range s {
		out = utf8.AppendRune(out, r)
	}
	return out
}
