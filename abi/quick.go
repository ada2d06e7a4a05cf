package abi

import "bytes"

// Most heads are of two plain shapes: a request with its arguments, and a result
// of text. Reading those by hand takes a tenth of what encoding/json takes, which
// was most of what a small call cost. Whatever looks different in any way is left
// to encoding/json, so that there is one reading of every head; a test compares
// the two.

// quickHead is a head that can read its plain shape from canonical JSON. It
// reports false where the head has another one, and may have set fields then.
type quickHead interface{ quick(canonical []byte) bool }

// quick reads {"args":{...},"capability":"..."}; the arguments may be missing.
func (h *RequestHead) quick(b []byte) bool {
	c := cursor{b}
	if !c.eat(`{`) {
		return false
	}
	if c.eat(`"args":`) {
		args, ok := c.object()
		if !ok || !c.eat(`,`) {
			return false
		}
		h.Args = args
	}
	if !c.eat(`"capability":`) {
		return false
	}
	name, ok := c.text()
	h.Capability = name
	return ok && c.eat(`}`) && c.ended()
}

// quick reads {"content":[{"source":[...],"type":"text"},...]}, with or without
// "is_error" behind it.
func (h *ResultHead) quick(b []byte) bool {
	c := cursor{b}
	if !c.eat(`{"content":[`) {
		return false
	}
	for {
		block := BlockHead{Type: BlockText}
		if !c.eat(`{"source":[`) || !c.sources(&block) || !c.eat(`,"type":"text"}`) {
			return false
		}
		h.Content = append(h.Content, block)
		if !c.eat(`,`) {
			break
		}
	}
	if !c.eat(`]`) {
		return false
	}
	if c.eat(`,"is_error":true`) {
		h.IsError = true
	}
	return c.eat(`}`) && c.ended()
}

// cursor reads canonical JSON, which is known to be well-formed.
type cursor struct{ rest []byte }

func (c *cursor) eat(what string) bool {
	if len(c.rest) < len(what) || string(c.rest[:len(what)]) != what {
		return false
	}
	c.rest = c.rest[len(what):]
	return true
}

func (c *cursor) ended() bool { return len(c.rest) == 0 }

// text reads a string that has no escapes.
func (c *cursor) text() (string, bool) {
	if !c.eat(`"`) {
		return "", false
	}
	end := bytes.IndexByte(c.rest, '"')
	if end < 0 || bytes.IndexByte(c.rest[:end], '\\') >= 0 {
		return "", false
	}
	s := string(c.rest[:end])
	c.rest = c.rest[end+1:]
	return s, true
}

// object passes over an object and returns it.
func (c *cursor) object() ([]byte, bool) {
	if len(c.rest) == 0 || c.rest[0] != '{' {
		return nil, false
	}
	depth, quoted := 0, false
	for i := 0; i < len(c.rest); i++ {
		switch b := c.rest[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				object := c.rest[: i+1 : i+1]
				c.rest = c.rest[i+1:]
				return object, true
			}
		}
	}
	return nil, false
}

// sources reads the list of a block's sources, the bracket at its end included.
func (c *cursor) sources(block *BlockHead) bool {
	for {
		var s Source
		switch {
		case c.eat(`{"handle":`):
			n, ok := c.index()
			if !ok {
				return false
			}
			handle := uint32(n)
			s.Handle = &handle
		case c.eat(`{"part":`):
			n, ok := c.index()
			if !ok {
				return false
			}
			s.Part = &n
		default:
			return false
		}
		if !c.eat(`}`) {
			return false
		}
		block.Source = append(block.Source, s)
		if c.eat(`]`) {
			return true
		}
		if !c.eat(`,`) {
			return false
		}
	}
}

// index reads a whole number of at most nine digits. What follows is not looked
// at: a fraction or exponent fits nothing that may come next.
func (c *cursor) index() (int, bool) {
	n, digits := 0, 0
	for digits < len(c.rest) && digits < 9 && '0' <= c.rest[digits] && c.rest[digits] <= '9' {
		n = 10*n + int(c.rest[digits]-'0')
		digits++
	}
	c.rest = c.rest[digits:]
	return n, digits > 0
}
