package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonc is JSON in which comments and trailing commas may stand. A file without them gets none.
type jsonc struct{}

func (jsonc) empty() string { return "{}\n" }

func (jsonc) decode(body []byte) (map[string]any, error) {
	root, err := hujson.Parse(bytes.Clone(body))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	root.Standardize()
	d := json.NewDecoder(bytes.NewReader(root.Pack()))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil || doc == nil {
		return nil, errors.New("line 1: the file is not an object")
	}
	return doc, nil
}

// jsonDoc is a document and how it is laid out.
type jsonDoc struct {
	body []byte
	root hujson.Value
	// nl ends a line, and unit is one level of indentation; both are empty in a document
	// on one line.
	nl, unit string
}

func layoutJSON(body []byte) (*jsonDoc, error) {
	root, err := hujson.Parse(bytes.Clone(body))
	if err != nil {
		return nil, err
	}
	d := &jsonDoc{body: body, root: root}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("the file is not an object")
	}
	if len(object.Members) > 0 && bytes.IndexByte(body[root.StartOffset:root.EndOffset], '\n') < 0 {
		return d, nil
	}
	d.nl, d.unit = newline(body), "  "
	if len(object.Members) > 0 {
		first := object.Members[0].Name.StartOffset
		if indent := indentation(body, first); leads(body, first) && indent != "" {
			d.unit = indent
		}
	}
	return d, nil
}

func (jsonc) set(body []byte, path []string, value string) ([]byte, error) {
	d, err := layoutJSON(body)
	if err != nil {
		return nil, err
	}
	at := d.root
	for i, key := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%q is not an object", path[i-1])
		}
		j, err := member(object, key)
		if err != nil {
			return nil, err
		}
		if j < 0 {
			return d.add(at, object, path[i:], value), nil
		}
		at = object.Members[j].Value
	}
	return spliced(body, splice{at.StartOffset, at.EndOffset, value}), nil
}

// member finds a member by its key, or returns -1.
func member(object *hujson.Object, key string) (int, error) {
	found := -1
	for i := range object.Members {
		name, ok := object.Members[i].Name.Value.(hujson.Literal)
		if !ok || name.String() != key {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("the key %q is there twice", key)
		}
		found = i
	}
	return found, nil
}

// add adds a value below an object, and the objects on the way to it.
func (d *jsonDoc) add(at hujson.Value, object *hujson.Object, path []string, value string) []byte {
	n := len(object.Members)
	if n == 0 {
		indent := d.indent(at.StartOffset)
		text := d.nl + indent + d.unit + d.nested(path, value, indent+d.unit)
		if bytes.IndexByte(d.body[at.StartOffset:at.EndOffset], '\n') < 0 {
			text += d.nl + indent
		}
		return spliced(d.body, splice{at.StartOffset + 1, at.StartOffset + 1, text})
	}
	last := object.Members[n-1]
	start, end := last.Name.StartOffset, last.Value.EndOffset
	after, trailing := end, last.Value.AfterExtra != nil
	if trailing {
		after = end + len(last.Value.AfterExtra) + 1
	}
	if !leads(d.body, start) {
		text := ", " + d.oneLine().nested(path, value, "")
		if trailing {
			return spliced(d.body, splice{after, after, text[1:] + ","})
		}
		return spliced(d.body, splice{end, end, text})
	}
	indent := indentation(d.body, start)
	text := d.nl + indent + d.nested(path, value, indent)
	if line := lineEnd(d.body, after); line < at.EndOffset {
		after = line // a comment may stand after the last member
	}
	if trailing {
		return spliced(d.body, splice{after, after, text + ","})
	}
	return spliced(d.body, splice{end, end, ","}, splice{after, after, text})
}

// indent is the indentation of what an offset is in.
func (d *jsonDoc) indent(at int) string {
	if d.nl == "" {
		return ""
	}
	return indentation(d.body, at)
}

func (d *jsonDoc) oneLine() *jsonDoc { return &jsonDoc{body: d.body} }

// nested is a member, whose value is inside of one object for each further key.
func (d *jsonDoc) nested(path []string, value, indent string) string {
	text := asJSON(path[0]) + ": "
	if len(path) == 1 {
		return text + value
	}
	return text + "{" + d.nl + indent + d.unit + d.nested(path[1:], value, indent+d.unit) + d.nl + indent + "}"
}

func (jsonc) remove(body []byte, path []string) ([]byte, error) {
	d, err := layoutJSON(body)
	if err != nil {
		return nil, err
	}
	at := d.root
	for _, key := range path[:len(path)-1] {
		object, _ := at.Value.(*hujson.Object)
		j, err := member(object, key)
		if err != nil {
			return nil, err
		}
		at = object.Members[j].Value
	}
	object, _ := at.Value.(*hujson.Object)
	i, err := member(object, path[len(path)-1])
	if err != nil {
		return nil, err
	}
	return d.cut(at, object, i), nil
}

// cut takes a member out of an object, with its comma, and its lines where it has them alone.
func (d *jsonDoc) cut(at hujson.Value, object *hujson.Object, i int) []byte {
	m := object.Members[i]
	inside := string(d.body[at.StartOffset+1:m.Name.StartOffset]) + string(d.body[m.Value.EndOffset:at.EndOffset-1])
	if len(object.Members) == 1 && blank(bytes.ReplaceAll([]byte(inside), []byte(","), nil)) {
		return spliced(d.body, splice{at.StartOffset, at.EndOffset, "{}"})
	}
	from, to := m.Name.StartOffset, m.Value.EndOffset
	if i+1 < len(object.Members) || m.Value.AfterExtra != nil {
		to += len(m.Value.AfterExtra) + 1 // the comma
	}
	var out []splice
	if i > 0 && i+1 == len(object.Members) && m.Value.AfterExtra == nil {
		before := object.Members[i-1].Value
		comma := before.EndOffset + len(before.AfterExtra)
		out = append(out, splice{comma, comma + 1, ""})
	}
	if end := lineEnd(d.body, to); leads(d.body, from) && blank(d.body[to:end]) && end < at.EndOffset {
		from, to = lineStart(d.body, from), nextLine(d.body, to)
	} else {
		for to < len(d.body) && d.body[to] == ' ' {
			to++
		}
		if len(out) > 0 {
			from, to = out[0].to, m.Value.EndOffset
		}
	}
	return spliced(d.body, append(out, splice{from, to, ""})...)
}
