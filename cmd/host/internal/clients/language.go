package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// language is how a file is written. Bodies have no byte order mark. A path is a list of keys;
// the last but one names the entry of a server.
type language interface {
	// empty is a file without anything.
	empty() string
	// decode returns what a body says. Its errors name the line.
	decode(body []byte) (map[string]any, error)
	// set gives what a path leads to a value, which is written as JSON; each language here
	// reads that. Tables on the way are made.
	set(body []byte, path []string, value string) ([]byte, error)
	// remove takes out what a path leads to, which is there.
	remove(body []byte, path []string) ([]byte, error)
}

// asJSON writes a value on one line.
func asJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v) // what JSON has no words for is not what is written here
	}
	text := strings.TrimSuffix(b.String(), "\n")
	// TOML does not take this one as it is, and JSON does not escape it.
	return strings.ReplaceAll(text, "\x7f", `\u007f`)
}

// written is a value as it goes into a file: as JSON, lists with blanks after their commas.
func written(v any) string {
	list, ok := v.([]string)
	if !ok {
		return asJSON(v)
	}
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = asJSON(list[i])
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// splice is a place in a text where something goes in, or out.
type splice struct {
	at, to int
	text   string
}

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

// newline is how the lines of a text end.
func newline(body []byte) string {
	if i := bytes.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func lineStart(body []byte, at int) int { return bytes.LastIndexByte(body[:at], '\n') + 1 }

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

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

// leads reports whether nothing stands before an offset on its line.
func leads(body []byte, at int) bool { return blank(body[lineStart(body, at):at]) }
