package stricttoml

import (
	"bytes"
	"strconv"
	"strings"
)

// node is one value of a document: where it is, and what is in it.
type node struct {
	line  int
	kids  map[string]*node
	elems []*node
	// tables says that the elements were written as [[headers]].
	tables bool
	// form, start and end are as [Layout] has them.
	form       Form
	start, end int
}

func (n *node) kid(key string, line int) *node {
	if k, ok := n.kids[key]; ok {
		return k
	}
	if n.kids == nil {
		n.kids = make(map[string]*node)
	}
	k := &node{line: line}
	n.kids[key] = k
	return k
}

// inside returns the table that further keys under n belong to: the last
// element where n is an array of tables.
func (n *node) inside() *node {
	if n.tables && len(n.elems) > 0 {
		return n.elems[len(n.elems)-1]
	}
	return n
}

// indexer finds the line of every value of a document that has parsed well.
type indexer struct {
	scanner
	root, table *node
}

func index(src []byte) *node {
	root := &node{line: 1}
	ix := indexer{scanner: scanner{src: src, line: 1}, root: root, table: root}
	for ix.skipBlank(); ix.pos < len(ix.src); ix.skipBlank() {
		before := ix.pos
		if ix.peek() == '[' {
			ix.header()
		} else {
			ix.table.end = ix.pair(ix.table)
		}
		if ix.pos == before {
			ix.advance()
		}
	}
	return root
}

// header reads [a.b] or [[a.b]].
func (ix *indexer) header() {
	line, start := ix.line, ix.pos
	ix.advance()
	array := ix.peek() == '['
	if array {
		ix.advance()
	}
	keys := ix.keys()
	for range 2 {
		if ix.peek() == ']' {
			ix.advance()
		}
	}
	at := ix.root
	for _, key := range keys {
		at = at.inside().kid(key, line)
	}
	if array {
		at.tables, at.form = true, FormTables
		at.elems = append(at.elems, &node{line: line})
	} else {
		at.line = line // more telling than that of a header that implied it
	}
	ix.table = at.inside()
	ix.table.form, ix.table.start, ix.table.end = FormTable, start, ix.pos
}

// pair reads key = value into a table and returns where the value ends.
func (ix *indexer) pair(table *node) (end int) {
	line := ix.line
	for _, key := range ix.keys() {
		table = table.kid(key, line)
	}
	if ix.peek() == '=' {
		ix.advance()
	}
	ix.value(table)
	return table.end
}

// keys reads a dotted key and the blank after it.
func (ix *indexer) keys() []string {
	var keys []string
	for {
		ix.skipBlank()
		keys = append(keys, ix.key())
		ix.skipBlank()
		if ix.peek() != '.' {
			return keys
		}
		ix.advance()
	}
}

func (ix *indexer) key() string {
	start := ix.pos
	switch ix.peek() {
	case '"':
		ix.skipString()
		return unescape(unquote(ix.src[start:ix.pos]))
	case '\'':
		ix.skipString()
		return unquote(ix.src[start:ix.pos])
	}
	for ix.pos < len(ix.src) && !strings.ContainsRune(" \t\r\n.=]#,{}[", rune(ix.src[ix.pos])) {
		ix.pos++
	}
	return string(ix.src[start:ix.pos])
}

func unquote(b []byte) string {
	if len(b) < 2 {
		return ""
	}
	return string(b[1 : len(b)-1])
}

// value reads what stands after an equals sign or in an array. The depth of
// the recursion is bounded by the guard.
func (ix *indexer) value(n *node) {
	ix.skipBlank()
	n.form, n.start = FormValue, ix.pos
	defer func() { n.end = n.start + len(bytes.TrimRight(ix.src[n.start:ix.pos], " \t\r")) }()
	switch ix.peek() {
	case '"', '\'':
		ix.skipString()
	case '[':
		ix.list(']', func() {
			elem := &node{line: ix.line}
			n.elems = append(n.elems, elem)
			ix.value(elem)
		})
	case '{':
		ix.list('}', func() { ix.pair(n) })
	default:
		for ix.pos < len(ix.src) && !strings.ContainsRune(",]}#\n", rune(ix.src[ix.pos])) {
			ix.pos++
		}
	}
}

// list reads items between brackets, separated by commas.
func (ix *indexer) list(end byte, item func()) {
	ix.advance()
	for ix.skipBlank(); ix.pos < len(ix.src) && ix.peek() != end; ix.skipBlank() {
		before := ix.pos
		if ix.peek() == ',' {
			ix.advance()
			continue
		}
		item()
		if ix.pos == before {
			ix.advance()
		}
	}
	ix.advance()
}

var escapes = map[byte]string{
	'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`,
}

var hexDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape resolves the escapes of a basic string on one line.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if plain, ok := escapes[s[i]]; ok {
			b.WriteString(plain)
			continue
		}
		digits := hexDigits[s[i]]
		if r, err := strconv.ParseUint(s[i+1:min(i+1+digits, len(s))], 16, 32); err == nil {
			b.WriteRune(rune(r))
			i += digits
		}
	}
	return b.String()
}
