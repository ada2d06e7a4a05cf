package abi

import (
	"bytes"
	"encoding/json"
)

// Value returns what a canonical document holds: nil, a bool, a [json.Number], a
// string, a []any or a map[string]any. Of a document that is not canonical it
// may answer anything, or an error.
func Value(canonical []byte) (any, error) {
	c := cursor{canonical}
	if v, ok := c.value(0); ok && c.ended() {
		return v, nil
	}
	// It is not canonical. This knows best what is wrong, if anything is.
	decoder := json.NewDecoder(bytes.NewReader(canonical))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, Errorf(CodeInvalidInput, "%w", err)
	}
	return v, nil
}

// value reads a canonical value, which lies so deep in the document.
func (c *cursor) value(depth int) (v any, ok bool) {
	if len(c.rest) == 0 || depth > MaxDepth {
		return nil, false
	}
	switch c.rest[0] {
	case '"':
		return c.text()
	case '{':
		return c.members(depth + 1)
	case '[':
		return c.elements(depth + 1)
	case 't':
		return true, c.eat("true")
	case 'f':
		return false, c.eat("false")
	case 'n':
		return nil, c.eat("null")
	}
	return c.number()
}

// text reads a canonical string.
func (c *cursor) text() (string, bool) {
	if !c.eat(`"`) {
		return "", false
	}
	end, escapes := 0, false
	for {
		n, _ := plainRun(c.rest[end:])
		end += n
		if len(c.rest)-end < 2 || c.rest[end] != '\\' {
			break
		}
		end, escapes = end+2, true
	}
	written := c.rest[:end]
	c.rest = c.rest[end:]
	if escapes {
		written = appendUnescaped(make([]byte, 0, len(written)), written)
	}
	return string(written), c.eat(`"`)
}

func (c *cursor) members(depth int) (any, bool) {
	object := map[string]any{}
	if c.eat(`{}`) {
		return object, true
	}
	for sep := `{`; c.eat(sep); sep = `,` {
		key, ok := c.text()
		if !ok || !c.eat(`:`) {
			return nil, false
		}
		if object[key], ok = c.value(depth); !ok {
			return nil, false
		}
	}
	return object, c.eat(`}`)
}

func (c *cursor) elements(depth int) (any, bool) {
	array := []any{}
	if c.eat(`[]`) {
		return array, true
	}
	for sep := `[`; c.eat(sep); sep = `,` {
		v, ok := c.value(depth)
		if !ok {
			return nil, false
		}
		array = append(array, v)
	}
	return array, c.eat(`]`)
}

func (c *cursor) number() (any, bool) {
	end := bytes.IndexAny(c.rest, ",]}")
	if end < 0 {
		end = len(c.rest)
	}
	n := json.Number(c.rest[:end])
	c.rest = c.rest[end:]
	return n, n != ""
}
