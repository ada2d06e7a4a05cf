package stricttoml

import (
	"fmt"
	"strconv"
	"strings"
)

// Document knows where the values of a decoded document are.
type Document struct{ root *node }

// Line returns the line of a path such as "tools[2].name", 1-based. Where the
// document has no such value it is the line of its nearest parent, at last 1.
func (d *Document) Line(path string) int {
	n, _ := d.find(path)
	return n.line
}

// Has reports whether the document has a value at a path.
func (d *Document) Has(path string) bool {
	_, found := d.find(path)
	return found
}

// Fault returns a fault at a path, for checks that come after decoding.
func (d *Document) Fault(path, format string, args ...any) Fault {
	return Fault{Line: d.Line(path), Path: path, Message: fmt.Sprintf(format, args...)}
}

// find returns the node at a path or its nearest parent.
func (d *Document) find(path string) (n *node, found bool) {
	n = d.root
	if n == nil {
		return &node{line: 1}, false
	}
	for path != "" {
		var next *node
		next, path = step(n, path)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

// step follows the first segment of a path and returns the rest.
func step(n *node, path string) (next *node, rest string) {
	path = strings.TrimPrefix(path, ".")
	switch {
	case path == "":
		return nil, ""
	case path[0] == '[':
		digits, rest, ok := strings.Cut(path[1:], "]")
		i, err := strconv.Atoi(digits)
		if !ok || err != nil || i < 0 || i >= len(n.elems) {
			return nil, ""
		}
		return n.elems[i], rest
	case path[0] == '"':
		quoted, err := strconv.QuotedPrefix(path)
		if err != nil {
			return nil, ""
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, ""
		}
		return n.kids[key], path[len(quoted):]
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	return n.kids[path[:end]], path[end:]
}

// place is a value's path, built only where a fault needs it.
type place struct {
	parent *place
	key    string
	elem   int // the element of an array; -1 for a key
}

func (p *place) String() string {
	if p == nil {
		return ""
	}
	parent := p.parent.String()
	if p.elem >= 0 {
		return parent + "[" + strconv.Itoa(p.elem) + "]"
	}
	key := p.key
	if !bare(key) {
		key = strconv.Quote(key)
	}
	if parent == "" {
		return key
	}
	return parent + "." + key
}

func bare(key string) bool {
	for i := range len(key) {
		c := key[i] | 0x20
		if (c < 'a' || c > 'z') && (key[i] < '0' || key[i] > '9') && key[i] != '_' && key[i] != '-' {
			return false
		}
	}
	return key != ""
}
