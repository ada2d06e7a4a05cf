package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// splice is a place in a text where something goes in, or out.
type splice struct {
	// at and to enclose what goes out.
	at, to int
	text   string
}

func insert(at int, text string) splice { return splice{at, at, text} }

// spliced returns a body with the splices, in order of their places, done.
func spliced(body []byte, splices ...splice) []byte {
	var out []byte
	from := 0
	for _, s := range splices {
		out = append(out, body[from:s.at]...)
		out = append(out, s.text...)
		from = s.to
	}
	return slices.Concat(out, body[from:])
}

// newline is how lines of a text end.
func newline(body []byte) string {
	if i := bytes.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart is where the line of an offset starts.
func lineStart(body []byte, at int) int {
	return bytes.LastIndexByte(body[:at], '\n') + 1
}

// lineEnd is where the line of an offset ends, before its newline.
func lineEnd(body []byte, at int) int {
	end := len(body)
	if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > at && body[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine is where the line after that of an offset starts, or the text's end.
func nextLine(body []byte, at int) int {
	if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(body)
}

// indentation is the blank that the line of an offset starts with.
func indentation(body []byte, at int) string {
	line := string(body[lineStart(body, at):at])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// leads reports whether nothing stands before an offset on its line.
func leads(body []byte, at int) bool { return blank(body[lineStart(body, at):at]) }

func blank(b []byte) bool { return len(bytes.Trim(b, " \t\r")) == 0 }

// quoted writes a string as both TOML and JSON read it. What a person would not
// see, or see elsewhere, is escaped.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r) || r >= 1<<16: // TOML and JSON escape the latter differently
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
