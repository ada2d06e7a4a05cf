package schemas

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"
)

// Most tools take an object of strings and whole numbers, answer with one, perhaps with
// lists in it, and most inputs and answers are valid. Such a schema is also held as a plainSchema, which reads the input where
// it lies and says yes, or that it does not know. What it does not know the
// library is asked, so that it alone ever says no, and why: there is one reading
// of every schema, and a test holds the two against each other. The library took a
// sixth of the time of a small call, and two fifths of its allocations, to say yes.

// plainSchema accepts some of the values that a schema, or a part of one, allows.
// The nil plainSchema accepts none.
type plainSchema struct {
	kinds plainKind
	// values are what an enum lists, nil where there is none.
	values map[string]bool
	// lowest and highest bound whole numbers, shortest and longest strings, in
	// code points.
	lowest, highest   int64
	shortest, longest int64
	// items is what each item of an array is held to; nil where no array is accepted.
	items *plainSchema
	// members are the properties by name, required the bits of those that must be
	// there.
	members  map[string]plainMember
	required uint64
}

type plainMember struct {
	bit    uint64
	schema *plainSchema
}

// plainKind is a set of JSON's types.
type plainKind uint8

const (
	plainString plainKind = 1 << iota
	plainInteger
	plainBoolean
	plainNull
	plainObject
	plainArray
)

// plainKinds are the types that a schema may name.
var plainKinds = map[string]plainKind{
	"string": plainString, "integer": plainInteger, "number": plainInteger, "boolean": plainBoolean,
	"null": plainNull, "object": plainObject, "array": plainArray,
}

const (
	// maxPlainMembers is how many properties have a bit of their own.
	maxPlainMembers = 64
	// maxPlainDigits keeps whole numbers within what a float64 holds exactly, so
	// that nobody can calculate otherwise.
	maxPlainDigits = 15
)

// plainOf returns the plain form of a schema that the library compiled, nil where
// it says anything that is not plain. Of its properties some may be plain and
// others not.
func plainOf(schema any) *plainSchema {
	node, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	p := &plainSchema{
		kinds:  plainString | plainInteger | plainBoolean | plainNull | plainObject | plainArray,
		lowest: math.MinInt64, highest: math.MaxInt64, longest: math.MaxInt64,
	}
	for keyword, value := range node {
		if !p.take(keyword, value) {
			return nil
		}
	}
	if !p.require(node["required"]) {
		return nil
	}
	return p
}

// take takes one keyword in and reports whether it is plain.
func (p *plainSchema) take(keyword string, value any) (ok bool) {
	switch keyword {
	case "type":
		p.kinds, ok = plainTypes(value)
	case "enum":
		p.values, ok = plainValues(value)
	case "minimum":
		p.lowest, ok = plainBound(value)
	case "maximum":
		p.highest, ok = plainBound(value)
	case "minLength":
		p.shortest, ok = plainBound(value)
	case "maxLength":
		p.longest, ok = plainBound(value)
	case "items":
		p.items = plainOf(value)
		return true // where they are not plain, no array is accepted
	case "properties":
		p.members, ok = plainMembers(value)
	case "$schema":
		// In these two what is plain means the same.
		return value == "https://json-schema.org/draft/2020-12/schema" || value == "http://json-schema.org/draft-07/schema#"
	case "required": // taken when the properties are known
		return true
	case "additionalProperties": // says nothing of objects without any, and no others are accepted
		return true
	case "title", "description", "default", "examples", "$comment":
		return true
	}
	return ok
}

func plainTypes(value any) (kinds plainKind, ok bool) {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	for _, name := range names {
		text, _ := name.(string)
		kind, known := plainKinds[text]
		if !known {
			return 0, false
		}
		kinds |= kind
	}
	return kinds, true
}

func plainValues(value any) (map[string]bool, bool) {
	list, ok := value.([]any)
	values := make(map[string]bool, len(list))
	for _, v := range list {
		text, isText := v.(string)
		ok = ok && isText && verbatim(text)
		values[text] = true
	}
	return values, ok
}

// verbatim reports whether no text that is written with an escape can be taken for
// this one: names and values are compared as they are written.
func verbatim(text string) bool { return strings.IndexByte(text, '\\') < 0 }

func plainBound(value any) (int64, bool) {
	number, _ := value.(json.Number)
	n, rest, ok := plainInt([]byte(number))
	return n, ok && len(rest) == 0
}

func plainMembers(value any) (map[string]plainMember, bool) {
	table, ok := value.(map[string]any)
	if !ok || len(table) > maxPlainMembers {
		return nil, false
	}
	members := make(map[string]plainMember, len(table))
	for name, schema := range table {
		if !verbatim(name) {
			return nil, false
		}
		members[name] = plainMember{bit: 1 << len(members), schema: plainOf(schema)}
	}
	return members, true
}

// require takes in the names of properties that must be there, which must be among
// those that have a schema.
func (p *plainSchema) require(names any) bool {
	list, _ := names.([]any)
	for _, name := range list {
		text, _ := name.(string)
		member, ok := p.members[text]
		if !ok {
			return false
		}
		p.required |= member.bit
	}
	return true
}

// accepts reports whether canonical JSON is certainly valid.
func (p *plainSchema) accepts(canonical []byte) bool {
	rest, ok := p.value(canonical)
	return ok && len(rest) == 0
}

// value accepts the value that b begins with, and returns what follows it.
func (p *plainSchema) value(b []byte) (rest []byte, ok bool) {
	if p == nil || len(b) == 0 {
		return nil, false
	}
	switch b[0] {
	case '"':
		return p.text(b)
	case '{':
		return p.object(b)
	case '[':
		return p.array(b)
	case 't':
		return p.word(b, "true", plainBoolean)
	case 'f':
		return p.word(b, "false", plainBoolean)
	case 'n':
		return p.word(b, "null", plainNull)
	}
	return p.integer(b)
}

func (p *plainSchema) allows(kind plainKind) bool { return p.kinds&kind != 0 }

func (p *plainSchema) word(b []byte, word string, kind plainKind) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(b, []byte(word))
	return rest, ok && p.allows(kind) && p.values == nil
}

func (p *plainSchema) integer(b []byte) ([]byte, bool) {
	n, rest, ok := plainInt(b)
	return rest, ok && p.allows(plainInteger) && p.values == nil && p.lowest <= n && n <= p.highest
}

func (p *plainSchema) text(b []byte) ([]byte, bool) {
	written, rest, ok := plainText(b)
	if !ok || !p.allows(plainString) {
		return nil, false
	}
	if p.values != nil && !p.values[string(written)] {
		return nil, false
	}
	if p.shortest == 0 && p.longest == math.MaxInt64 {
		return rest, true
	}
	if bytes.IndexByte(written, '\\') >= 0 {
		return nil, false // what is written is longer than what it says
	}
	length := int64(utf8.RuneCount(written))
	return rest, p.shortest <= length && length <= p.longest
}

func (p *plainSchema) object(b []byte) ([]byte, bool) {
	if !p.allows(plainObject) || p.values != nil {
		return nil, false
	}
	var seen uint64
	rest := b[1:]
	for len(rest) > 0 && rest[0] != '}' {
		if seen != 0 {
			if rest[0] != ',' {
				return nil, false
			}
			rest = rest[1:]
		}
		name, after, ok := plainText(rest)
		if !ok || len(after) == 0 || after[0] != ':' {
			return nil, false
		}
		member, known := p.members[string(name)]
		if !known || seen&member.bit != 0 {
			return nil, false
		}
		seen |= member.bit
		if rest, ok = member.schema.value(after[1:]); !ok {
			return nil, false
		}
	}
	return bytes.TrimPrefix(rest, []byte("}")), len(rest) > 0 && seen&p.required == p.required
}

func (p *plainSchema) array(b []byte) ([]byte, bool) {
	if !p.allows(plainArray) || p.values != nil || p.items == nil {
		return nil, false
	}
	rest := b[1:]
	for first := true; len(rest) > 0 && rest[0] != ']'; first = false {
		if !first {
			if rest[0] != ',' {
				return nil, false
			}
			rest = rest[1:]
		}
		var ok bool
		if rest, ok = p.items.value(rest); !ok {
			return nil, false
		}
	}
	return bytes.TrimPrefix(rest, []byte("]")), len(rest) > 0
}

// plainText reads a string as it is written, without its quotes.
func plainText(b []byte) (written, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			return b[1:i], b[i+1:], true
		case '\\':
			i++ // whatever is escaped does not end it
		}
	}
	return nil, nil, false
}

// plainInt reads a whole number of few digits. What follows is not looked at: a
// fraction or a power fits nothing that may come next.
func plainInt(b []byte) (n int64, rest []byte, ok bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	digits := 0
	for ; digits < len(b) && '0' <= b[digits] && b[digits] <= '9'; digits++ {
		if digits == maxPlainDigits {
			return 0, nil, false
		}
		n = 10*n + int64(b[digits]-'0')
	}
	if negative {
		n = -n
	}
	return n, b[digits:], digits > 0
}
