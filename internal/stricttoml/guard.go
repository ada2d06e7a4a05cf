package stricttoml

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

const (
	// MaxSize is the longest document that is read, in bytes.
	MaxSize = 1 << 20
	// maxDepth bounds how deep arrays and inline tables nest. The parser
	// recurses on them, and a stack that overflows ends the process.
	maxDepth = 64
	// maxWork bounds the sum, over all keys, of the length of the key with all
	// that it is nested in, times its parts: what the parser spends on names.
	// A hand-written document of MaxSize stays far below it.
	maxWork = 16 << 20
)

// check refuses what should not reach a parser.
func check(src []byte) *Fault {
	if len(src) > MaxSize {
		return &Fault{Message: fmt.Sprintf("the document has %d bytes; at most %d are read", len(src), MaxSize)}
	}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		return &Fault{Line: 1, Message: "the document starts with a byte order mark; save it as UTF-8 without one"}
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return &Fault{Line: lineAt(src, i), Message: "a NUL byte; the document must be UTF-8 text"}
	}
	if !utf8.Valid(src) {
		return &Fault{Line: lineAt(src, invalidUTF8(src)), Message: "not valid UTF-8"}
	}
	g := guard{scanner: scanner{src: src, line: 1}}
	return g.run()
}

func lineAt(src []byte, offset int) int { return 1 + bytes.Count(src[:offset], []byte{'\n'}) }

func invalidUTF8(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

// guard measures nesting and names on text that is not known to be TOML. It
// need not understand the document: up to the first syntax error it sees the
// same strings, comments and brackets as the parser, and there the parser
// stops.
type guard struct {
	scanner
	// open holds, for each open bracket, the length of the names around it.
	open []int
	// context is the length of the names around the current position, header
	// of which is the current table's.
	context, header int
	// start and parts are of the name being read, if it is one.
	start, parts int
	inHeader     bool
	work         int
}

func (g *guard) run() *Fault {
	g.reset()
	for g.pos < len(g.src) {
		line := g.line
		switch c := g.src[g.pos]; c {
		case '"', '\'':
			g.skipString()
			continue
		case '#':
			g.skipComment()
			continue
		case '\n':
			g.newline()
		case '.':
			g.parts++
		case '=':
			g.key()
		case '[', '{':
			g.enter(c)
		case ']', '}':
			g.leave()
		case ',':
			g.comma()
		}
		g.advance()
		if len(g.open) > maxDepth {
			return &Fault{Line: line, Message: fmt.Sprintf("arrays and tables nest deeper than %d", maxDepth)}
		}
		if g.work > maxWork {
			return &Fault{Line: line, Message: "keys are too long, or too many under long names"}
		}
	}
	return nil
}

// reset starts a new name after the current byte.
func (g *guard) reset() { g.start, g.parts = g.pos, 1 }

func (g *guard) newline() {
	if len(g.open) == 0 {
		g.context, g.inHeader = g.header, false
	}
	g.reset()
}

// comma ends an element: in an inline table, the key's value with it.
func (g *guard) comma() {
	if n := len(g.open); n > 0 {
		g.context = g.open[n-1]
	}
	g.reset()
}

// key charges for the name before an equals sign.
func (g *guard) key() {
	g.context += g.pos - g.start
	g.work += g.context * g.parts
	g.reset()
}

func (g *guard) enter(c byte) {
	if c == '[' && len(g.open) == 0 && len(bytes.TrimSpace(g.src[g.start:g.pos])) == 0 && g.context == g.header {
		g.inHeader = true
	}
	g.open = append(g.open, g.context)
	g.reset()
}

func (g *guard) leave() {
	if g.inHeader {
		if n := g.pos - g.start; n > 0 {
			g.header = n
			g.work += n * g.parts
		}
	}
	if n := len(g.open); n > 0 {
		g.context = g.open[n-1]
		g.open = g.open[:n-1]
	}
	g.reset()
}
