package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// jsonText changes settings.json.
type jsonText struct{}

func (jsonText) parse(kind permissions.SourceKind, path string, body []byte) (*File, error) {
	return ParseClaude(kind, path, body)
}

func (jsonText) entry(r Rule) (string, error) {
	if len(r.Match)+len(r.NotMatch) > 0 || !r.Expires.IsZero() {
		return "", errors.New("a settings.json holds rules alone; examples and a time to expire can stand in a settings.toml")
	}
	return quoted(r.Text), nil
}

func (jsonText) value(entry string) (any, error) {
	var v any
	err := json.Unmarshal([]byte(entry), &v)
	return v, err
}

func (jsonText) verify(before, after []byte, list listPath, change func([]any) ([]any, error)) error {
	was, err1 := decodeJSON(before)
	is, err2 := decodeJSON(after)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return sameButFor(was, is, list, change)
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(body []byte) (map[string]any, error) {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err
}

// jsonLayout is how a document is laid out.
type jsonLayout struct {
	body []byte
	root *jsonNode
	// nl ends a line, and unit is one level of indentation; both are empty in a
	// document on one line.
	nl, unit string
}

func layoutJSON(body []byte) (*jsonLayout, error) {
	root, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	l := &jsonLayout{body: body, root: root}
	oneLine := len(root.members) > 0 && !bytes.ContainsRune(body[root.start:root.end], '\n')
	if oneLine {
		return l, nil
	}
	l.nl, l.unit = newline(body), "  "
	if len(root.members) > 0 {
		if first := root.members[0].start; leads(body, first) && first > lineStart(body, first) {
			l.unit = indentation(body, first)
		}
	}
	return l, nil
}

func (jsonText) add(body []byte, list listPath, entry string) ([]byte, error) {
	l, err := layoutJSON(body)
	if err != nil {
		return nil, err
	}
	perms := l.root.member("permissions")
	if perms == nil {
		return l.addMember(l.root, "permissions", func(indent string) string {
			return "{" + l.nl + indent + l.unit + quoted(list.key) + l.colon() +
				l.array(entry, indent+l.unit) + l.nl + indent + "}"
		}), nil
	}
	rules := perms.member(list.key)
	if rules == nil {
		return l.addMember(perms, list.key, func(indent string) string { return l.array(entry, indent) }), nil
	}
	if n := len(rules.elems); n > 0 {
		last := rules.elems[n-1]
		return spliced(body, insert(last.end, l.comma(last.start)+entry)), nil
	}
	indent := indentation(body, rules.start)
	if bytes.ContainsRune(body[rules.start:rules.end], '\n') {
		return spliced(body, insert(rules.start+1, l.nl+indent+l.unit+entry)), nil
	}
	return spliced(body, insert(rules.start+1, strings.TrimSuffix(l.array(entry, indent)[1:], "]"))), nil
}

// colon separates a key from its value.
func (l *jsonLayout) colon() string {
	if l.nl == "" && !bytes.Contains(l.body, []byte(`": `)) {
		return ":"
	}
	return ": "
}

// comma separates an item from one that starts at an offset, laid out like it.
func (l *jsonLayout) comma(at int) string {
	if leads(l.body, at) {
		return "," + l.nl + indentation(l.body, at)
	}
	if l.colon() == ":" {
		return ","
	}
	return ", "
}

// array is an array of one entry, its bracket indented so far.
func (l *jsonLayout) array(entry, indent string) string {
	if l.nl == "" {
		return "[" + entry + "]"
	}
	return "[" + l.nl + indent + l.unit + entry + l.nl + indent + "]"
}

// addMember adds a member to an object. value is told the indentation.
func (l *jsonLayout) addMember(object *jsonNode, key string, value func(indent string) string) []byte {
	if n := len(object.members); n > 0 {
		last := object.members[n-1]
		text := l.comma(last.start) + quoted(key) + l.colon() + value(indentation(l.body, last.start))
		return spliced(l.body, insert(last.value.end, text))
	}
	indent := indentation(l.body, object.start)
	text := l.nl + indent + l.unit + quoted(key) + l.colon() + value(indent+l.unit)
	if !bytes.ContainsRune(l.body[object.start:object.end], '\n') {
		text += l.nl + indent
	}
	return spliced(l.body, insert(object.start+1, text))
}

func (jsonText) remove(body []byte, list listPath, i int) ([]byte, error) {
	root, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	rules := root.member("permissions").member(list.key)
	elems := rules.elems
	switch {
	case len(elems) == 1:
		return spliced(body, splice{rules.start + 1, rules.end - 1, ""}), nil
	case i+1 < len(elems):
		return spliced(body, splice{elems[i].start, elems[i+1].start, ""}), nil
	}
	return spliced(body, splice{elems[i-1].end, elems[i].end, ""}), nil
}
