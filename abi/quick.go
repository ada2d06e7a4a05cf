package abi

import "bytes"

// Most heads are of two plain shapes: a request with its arguments, and a result
// of text. Reading those by hand, as the SDKs write them, takes a tenth of what
// encoding/json takes, which was most of what a small call cost. Whatever looks
// different in any way is left to encoding/json, so that there is one reading of
// every head; a test compares the two.

// quickHead is a head that can read its plain shape, which is strict JSON by
// being matched to the last byte. It reports false where the head has another
// one, and may have set fields then.
type quickHead interface{ quick(head []byte) bool }

// quick reads {"capability":"...","args":{...}}; the arguments may be missing.
func (h *RequestHead) quick(b []byte) bool {
	c := cursor{b}
	if !c.eat(`{"capability":`) {
		return false
	}
	name, ok := c.ascii()
	if !ok {
		return false
	}
	h.Capability = name
	if !c.eat(`,"args":{`) {
		return c.eat(`}`) && c.ended()
	}
	// Where more follows the arguments they are not one document.
	rest := b[len(b)-len(c.rest)-1:]
	args, ok := bytes.CutSuffix(rest, []byte(`}`))
	if !ok {
		return false
	}
	canonical, fault := appendCanonical(nil, args, 1)
	h.Args = canonical
	return fault == nil
}

// quick reads {"content":[{"type":"text","source":[...]},...]}, with or without
// "is_error" behind it.
func (h *ResultHead) quick(b []byte) bool {
	c := cursor{b}
	if !c.eat(`{"content":[`) {
		return false
	}
	for {
		block := BlockHead{Type: BlockText}
		if !c.eat(`{"type":"text","source":[`) || !c.sources(&block) || !c.eat(`}`) {
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

// cursor reads JSON piece by piece.
type cursor struct{ rest []byte }

func (c *cursor) eat(what string) bool {
	if len(c.rest) < len(what) || string(c.rest[:len(what)]) != what {
		return false
	}
	c.rest = c.rest[len(what):]
	return true
}

func (c *cursor) ended() bool { return len(c.rest) == 0 }

// ascii reads a string of printable ASCII without escapes.
func (c *cursor) ascii() (string, bool) {
	if !c.eat(`"`) {
		return "", false
	}
	end := bytes.IndexByte(c.rest, '"')
	if end < 0 {
		return "", false
	}
	for _, b := range c.rest[:end] {
		if b < ' ' || b > '~' || b == '\\' {
			return "", false
		}
	}
	s := string(c.rest[:end])
	c.rest = c.rest[end+1:]
	return s, true
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
// at: a fraction or exponent fits nothing that may come next, nor do digits after
// a leading zero.
func (c *cursor) index() (int, bool) {
	if c.eat(`0`) {
		return 0, true
	}
	n, digits := 0, 0
	for digits < len(c.rest) && digits < 9 && '0' <= c.rest[digits] && c.rest[digits] <= '9' {
		n = 10*n + int(c.rest[digits]-'0')
		digits++
	}
	c.rest = c.rest[digits:]
	return n, digits > 0
}
