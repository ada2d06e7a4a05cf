// Package toml reads what TOML 1.0 a plugin.toml is written in. It knows no dates and no
// special numbers, which no manifest has.
package toml

import (
	"fmt"
	"strconv"
	"strings"
)

// Table is a table: its values are string, int64, float64, bool, []any and Table.
type Table = map[string]any

// Parse reads a document. Errors name the line.
func Parse(text string) (root Table, err error) {
	p := &parser{text: strings.ReplaceAll(text, "\r\n", "\n"), line: 1}
	defer func() {
		r := recover()
		why, ok := r.(fault)
		if r != nil && !ok {
			panic(r)
		}
		if ok {
			root, err = nil, fmt.Errorf("line %d: %s", p.line, string(why))
		}
	}()
	root = Table{}
	p.document(root)
	return root, nil
}

// fault is the panic that ends parsing.
type fault string

type parser struct {
	text string
	pos  int
	line int
}

func (p *parser) fail(format string, args ...any) { panic(fault(fmt.Sprintf(format, args...))) }

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) next() byte {
	c := p.peek()
	if p.pos++; c == '\n' {
		p.line++
	}
	return c
}

// take passes over a text that comes next.
func (p *parser) take(text string) bool {
	if !strings.HasPrefix(p.text[min(p.pos, len(p.text)):], text) {
		return false
	}
	for range text {
		p.next()
	}
	return true
}

func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail("%q is missing", text)
	}
}

func (p *parser) blanks() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.next()
	}
}

// space passes over blanks, comments and ends of lines.
func (p *parser) space() {
	for {
		p.blanks()
		switch p.peek() {
		case '#':
			for p.pos < len(p.text) && p.peek() != '\n' {
				p.next()
			}
		case '\n':
			p.next()
		default:
			return
		}
	}
}

// end wants nothing more on the line than a comment.
func (p *parser) end() {
	line := p.line
	p.space()
	if p.pos < len(p.text) && p.line == line {
		p.fail("there is more on the line than a value")
	}
}

func (p *parser) document(root Table) {
	table := root
	for p.space(); p.pos < len(p.text); p.space() {
		switch {
		case p.take("[["):
			keys := p.keys()
			p.want("]]")
			table = p.element(root, keys)
		case p.take("["):
			keys := p.keys()
			p.want("]")
			table = p.descend(root, keys)
		default:
			p.pair(table)
		}
		p.end()
	}
}

// element adds a table to an array of tables.
func (p *parser) element(root Table, keys []string) Table {
	above, last := p.descend(root, keys[:len(keys)-1]), keys[len(keys)-1]
	list, ok := above[last].([]any)
	if !ok && above[last] != nil {
		p.fail("%s is no array of tables", last)
	}
	table := Table{}
	above[last] = append(list, table)
	return table
}

// descend returns the table of a name, made where it is missing; of an array of tables
// the last.
func (p *parser) descend(table Table, keys []string) Table {
	for _, key := range keys {
		value := table[key]
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[len(list)-1]
		}
		if value == nil {
			value = Table{}
			table[key] = value
		}
		below, ok := value.(Table)
		if !ok {
			p.fail("%s is no table", key)
		}
		table = below
	}
	return table
}

// keys reads a name with dots.
func (p *parser) keys() (keys []string) {
	for {
		p.blanks()
		keys = append(keys, p.key())
		p.blanks()
		if !p.take(".") {
			return keys
		}
	}
}

func (p *parser) key() string {
	switch p.peek() {
	case '"':
		p.next()
		return p.basic()
	case '\'':
		p.next()
		return p.literal()
	}
	return p.word("a key", "-_")
}

// word reads letters, digits and some characters more.
func (p *parser) word(what, more string) string {
	start := p.pos
	for c := p.peek(); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c != 0 && strings.IndexByte(more, c) >= 0; c = p.peek() {
		p.next()
	}
	if p.pos == start {
		p.fail("%s is missing", what)
	}
	return p.text[start:p.pos]
}

func (p *parser) pair(table Table) {
	keys := p.keys()
	p.want("=")
	p.blanks()
	above, last := p.descend(table, keys[:len(keys)-1]), keys[len(keys)-1]
	if _, taken := above[last]; taken {
		p.fail("%s is there twice", last)
	}
	above[last] = p.value()
}

func (p *parser) value() any {
	switch {
	case p.take(`"""`):
		return p.long(`"""`)
	case p.take("'''"):
		return p.long("'''")
	case p.take(`"`):
		return p.basic()
	case p.take("'"):
		return p.literal()
	case p.take("["):
		return p.array()
	case p.take("{"):
		return p.inline()
	}
	return p.plain()
}

func (p *parser) plain() any {
	word := p.word("a value", "+-_.:")
	switch word {
	case "true":
		return true
	case "false":
		return false
	}
	if n, err := strconv.ParseInt(word, 0, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	if err != nil {
		p.fail("%s is no value that is known here", word)
	}
	return f
}

func (p *parser) array() any {
	list := []any{}
	for p.space(); !p.take("]"); p.space() {
		list = append(list, p.value())
		if p.space(); !p.take(",") {
			p.space()
			p.want("]")
			break
		}
	}
	return list
}

func (p *parser) inline() any {
	table := Table{}
	p.blanks()
	if p.take("}") {
		return table
	}
	for {
		p.pair(table)
		p.blanks()
		if p.take("}") {
			return table
		}
		p.want(",")
	}
}

// literal reads to the closing quote.
func (p *parser) literal() string {
	start := p.pos
	for p.peek() != '\'' {
		if p.peek() == '\n' || p.pos >= len(p.text) {
			p.fail("a string does not end")
		}
		p.next()
	}
	p.next()
	return p.text[start : p.pos-1]
}

// basic reads to the closing quote, with escapes.
func (p *parser) basic() string {
	var b strings.Builder
	for !p.take(`"`) {
		if p.peek() == '\n' || p.pos >= len(p.text) {
			p.fail("a string does not end")
		}
		p.char(&b)
	}
	return b.String()
}

// long reads a string of several lines, to its closing quotes, before which there may
// be two more.
func (p *parser) long(quotes string) string {
	p.take("\n")
	var b strings.Builder
	for {
		switch {
		case p.pos >= len(p.text):
			p.fail("a string does not end")
		case p.take(quotes):
			for range 2 {
				if p.take(quotes[:1]) {
					b.WriteByte(quotes[0])
				}
			}
			return b.String()
		case quotes == "'''":
			b.WriteByte(p.next())
		case p.folded():
		default:
			p.char(&b)
		}
	}
}

// folded passes over a backslash at the end of a line with the blanks that follow it.
func (p *parser) folded() bool {
	rest := p.text[p.pos:]
	if rest[0] != '\\' || !strings.HasPrefix(strings.TrimLeft(rest[1:], " \t"), "\n") {
		return false
	}
	p.next()
	for c := p.peek(); c == ' ' || c == '\t' || c == '\n'; c = p.peek() {
		p.next()
	}
	return true
}

var escapes = map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", '"': `"`, '\\': `\`}

// char reads one byte, or an escape.
func (p *parser) char(b *strings.Builder) {
	c := p.next()
	if c != '\\' {
		b.WriteByte(c)
		return
	}
	c = p.next()
	if text, ok := escapes[c]; ok {
		b.WriteString(text)
		return
	}
	digits := map[byte]int{'u': 4, 'U': 8}[c]
	if digits == 0 || p.pos+digits > len(p.text) {
		p.fail("\\%c is no escape", c)
	}
	n, err := strconv.ParseUint(p.text[p.pos:p.pos+digits], 16, 32)
	if err != nil {
		p.fail("\\%c wants %d digits", c, digits)
	}
	p.pos += digits
	b.WriteRune(rune(n))
}
