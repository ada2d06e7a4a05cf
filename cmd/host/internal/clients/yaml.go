package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlText is YAML in block style, as people and serialisers write files.
type yamlText struct{}

func (yamlText) empty() string { return "" }

func (yamlText) decode(body []byte) (map[string]any, error) {
	d := yaml.NewDecoder(bytes.NewReader(body))
	doc := make(map[string]any)
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more than one document")
	}
	if doc == nil { // it says null
		doc = make(map[string]any)
	}
	return doc, nil
}

// yamlDoc is a document by its lines; lines are counted from 0.
type yamlDoc struct {
	lines []string
	nl    string
}

func (yamlText) set(body []byte, path []string, value string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(body, &root); err != nil {
		return nil, err
	}
	d, at := splitYAML(body), new(yaml.Node)
	if len(root.Content) > 0 {
		at = root.Content[0]
	}
	end, indent := len(d.lines), "" // where the mapping ends, and how far in its keys stand
	for i, key := range path {
		found, next, err := child(at, key)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", strings.Join(path[:i], "."), err)
		case found == nil:
			return d.replace(end, end, d.nested(path[i:], value, indent)), nil
		case i == len(path)-1:
			return d.replace(found.Line-1, d.end(found), d.nested(path[i:], value, indent)), nil
		case empty(next): // nothing, or {}: it becomes a mapping in block style
			return d.replace(found.Line-1, found.Line, d.nested(path[i:], value, indent)), nil
		}
		at, end = next, d.end(found)
		if len(at.Content) > 0 {
			indent = strings.Repeat(" ", at.Content[0].Column-1)
		}
	}
	return nil, errors.New("there is no path")
}

func empty(n *yaml.Node) bool {
	return n.Tag == "!!null" || n.Kind == yaml.MappingNode && len(n.Content) == 0
}

// child finds a key of a mapping in block style. Both are nil if it has none.
func child(at *yaml.Node, key string) (found, value *yaml.Node, err error) {
	switch {
	case at.Kind == 0 || at.Tag == "!!null":
		return nil, nil, nil
	case at.Kind != yaml.MappingNode:
		return nil, nil, errors.New("it is not a mapping")
	case at.Style&yaml.FlowStyle != 0:
		return nil, nil, errors.New("it is a mapping in braces")
	}
	for i := 0; i < len(at.Content); i += 2 {
		if at.Content[i].Value == key {
			return at.Content[i], at.Content[i+1], nil
		}
	}
	return nil, nil, nil
}

func (yamlText) remove(body []byte, path []string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(body, &root); err != nil {
		return nil, err
	}
	d, at := splitYAML(body), root.Content[0]
	var holder, found *yaml.Node
	last := false // whether the mapping has this key alone
	for _, key := range path {
		next, value, err := child(at, key)
		if err != nil || next == nil {
			return nil, fmt.Errorf("%s is not in block style", strings.Join(path, "."))
		}
		last = len(at.Content) == len([]string{"key", "value"})
		holder, found, at = found, next, value
	}
	if last && holder != nil {
		line := strings.TrimRight(d.lines[holder.Line-1], " \r\n")
		if strings.HasSuffix(line, ":") {
			d.lines[holder.Line-1] = line + " {}" + d.nl
		}
	}
	return d.replace(found.Line-1, d.end(found), ""), nil
}

func splitYAML(body []byte) *yamlDoc {
	d := &yamlDoc{nl: newline(body)}
	if len(body) > 0 {
		d.lines = strings.SplitAfter(string(body), "\n")
	}
	if n := len(d.lines); n > 0 && d.lines[n-1] == "" {
		d.lines = d.lines[:n-1]
	}
	return d
}

// end is the line after the value of a key: those that stand further in, or are elements of a
// list, which may stand as far out as its key. Blank lines and comments at the end are not of it.
func (d *yamlDoc) end(key *yaml.Node) int {
	end := key.Line
	for i := key.Line; i < len(d.lines); i++ {
		text := strings.TrimLeft(d.lines[i], " ")
		indent := len(d.lines[i]) - len(text)
		text = strings.TrimSpace(text)
		element := indent == key.Column-1 && strings.HasPrefix(text, "-")
		switch {
		case text == "" || text[0] == '#':
		case indent >= key.Column || element:
			end = i + 1
		default:
			return end
		}
	}
	return end
}

// nested are the lines of a key, whose value is inside of one mapping for each further key.
func (d *yamlDoc) nested(path []string, value, indent string) string {
	text := indent + path[0] + ":"
	if len(path) == 1 {
		return text + " " + value + d.nl
	}
	return text + d.nl + d.nested(path[1:], value, indent+"  ")
}

// replace puts text in the place of lines.
func (d *yamlDoc) replace(from, to int, text string) []byte {
	before := strings.Join(d.lines[:from], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += d.nl
	}
	return []byte(before + text + strings.Join(d.lines[to:], ""))
}
