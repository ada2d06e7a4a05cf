package clients

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/toolquay/toolquay/internal/stricttoml"
)

// tomlText is TOML. A server is a table of its own, [servers.NAME].
type tomlText struct{}

func (tomlText) empty() string { return "" }

func (tomlText) decode(body []byte) (map[string]any, error) {
	doc := make(map[string]any)
	if _, err := toml.Decode(string(body), &doc); err != nil {
		if bad, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("line %d: %s", bad.Position.Line, bad.Message)
		}
		return nil, err
	}
	return doc, nil
}

// layout finds where things stand in a body that parses.
func (tomlText) layout(body []byte) *stricttoml.Document {
	doc, _ := stricttoml.Decode(body, new(struct{})) // every key is unknown to it, and has its place
	return doc
}

func (t tomlText) set(body []byte, path []string, value string) ([]byte, error) {
	doc, nl := t.layout(body), newline(body)
	pair := path[len(path)-1] + " = " + value
	if at := doc.Layout(strings.Join(path, ".")); at.Form == stricttoml.FormValue {
		return spliced(body, splice{at.Start, at.End, value}), nil
	}
	for i := range path {
		if at := strings.Join(path[:i], "."); i > 0 && doc.Layout(at).Form == stricttoml.FormValue {
			return nil, fmt.Errorf("%s is a table in braces", at)
		}
	}
	entry := strings.Join(path[:len(path)-1], ".")
	switch table := doc.Layout(entry); {
	case table.Form == stricttoml.FormTable:
		end := nextLine(body, table.End)
		if body[end-1] != '\n' {
			return spliced(body, splice{end, end, nl + pair + nl}), nil
		}
		return spliced(body, splice{end, end, indentation(body, table.Start) + pair + nl}), nil
	case table.Form != stricttoml.FormNone:
		return nil, fmt.Errorf("%s is not written as a table [%s]", entry, entry)
	}
	text := "[" + entry + "]" + nl + pair + nl
	if len(body) > 0 {
		text = nl + text
		if !bytes.HasSuffix(body, []byte("\n")) {
			text = nl + text
		}
	}
	return spliced(body, splice{len(body), len(body), text}), nil
}

func (t tomlText) remove(body []byte, path []string) ([]byte, error) {
	doc, entry := t.layout(body), strings.Join(path, ".")
	table := doc.Layout(entry)
	if table.Form != stricttoml.FormTable {
		return nil, fmt.Errorf("%s is not written as a table [%s]", entry, entry)
	}
	for _, key := range table.Keys {
		if doc.Layout(entry+"."+asJSON(key)).Form == stricttoml.FormTable {
			return nil, fmt.Errorf("it has a table [%s.%s] of its own", entry, key)
		}
	}
	from, to := lineStart(body, table.Start), nextLine(body, table.End)
	switch before := lineStart(body, max(from-1, 0)); {
	case from > 0 && blank(body[before:from]):
		from = before // the blank line that set put there
	case from == 0 && blank(body[to:nextLine(body, to)]):
		to = nextLine(body, to)
	}
	return spliced(body, splice{from, to, ""}), nil
}
