package display

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

const (
	// maxStructured is how much structured content is looked into, in bytes.
	maxStructured = 1 << 20
	// maxWork bounds how much JSON is decoded for one line, in bytes of text, or a quarter of lists
	// and objects: a template can name a large value some two hundred times. Behind it there are
	// no values.
	maxWork = 4 << 20
	// maxWhole is where a text for a judge ends, in bytes: it is too long to be judged.
	maxWhole = 64 << 10
)

// values are what a line is filled with beside the input.
type values struct {
	own    map[string]value
	result json.RawMessage
	// whole says that values are put in as they are: for a judge, not for a line.
	whole bool
}

// filling fills one template.
type filling struct {
	call *Call
	kind abi.LineKind
	values
	// members are those of the structured content, once they were needed.
	members map[string]json.RawMessage
	// work is how much was decoded.
	work int
}

// text puts pieces together.
func (f *filling) text(pieces []abi.Piece) string {
	var b strings.Builder
	for i := range pieces {
		if b.Len() > maxWhole {
			break
		}
		switch p := &pieces[i]; {
		case p.Place != nil:
			text, _ := f.place(p.Place)
			b.WriteString(text)
		case p.Group != nil:
			b.WriteString(f.group(p.Group))
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// group is a text that is there only if each of its placeholders has a value.
func (f *filling) group(pieces []abi.Piece) string {
	var b strings.Builder
	for i := range pieces {
		p := &pieces[i]
		if p.Place == nil {
			b.WriteString(p.Text)
			continue
		}
		text, ok := f.place(p.Place)
		if !ok {
			return ""
		}
		b.WriteString(text)
	}
	return b.String()
}

// place is the text for a placeholder, if it has a value.
func (f *filling) place(p *abi.Placeholder) (string, bool) {
	v := f.find(p.Path)
	affordable := f.affords(v.raw)
	switch {
	case !affordable && f.whole:
		return string(v.raw[:min(len(v.raw), maxWhole+1)]), true // a judge is shown more, and never less
	case !affordable:
		return "", false
	case p.When != "":
		return p.When, v.isTrue()
	case p.One != "":
		n, ok := v.count()
		if !ok {
			return "", false
		}
		return counted(n, p.One, p.Many), true
	case f.whole:
		return v.all()
	}
	text, ok := v.short()
	if ok && f.isPath(p.Path) {
		text = fromCwd(f.call.Cwd, text)
	}
	return cut(text, maxValue), ok
}

func counted(n, one, many string) string {
	if n == "1" {
		return n + " " + one
	}
	return n + " " + many
}

// find follows the path of a placeholder.
func (f *filling) find(path []string) value {
	name := path[0]
	if slices.Contains(f.kind.Names(), name) {
		if name == abi.NameResult {
			return f.structured(path[1:])
		}
		return f.own[name]
	}
	fields, err := f.call.Fields()
	if err != nil {
		return value{}
	}
	raw, ok := fields[name]
	if !ok && name == abi.NameInput && len(path) > 1 {
		raw, path = fields[path[1]], path[1:]
	}
	return f.descend(raw, path[1:])
}

// structured follows a path into the structured content.
func (f *filling) structured(path []string) value {
	if len(path) == 0 || len(f.result) == 0 || len(f.result) > maxStructured {
		return value{}
	}
	if f.members == nil && json.Unmarshal(f.result, &f.members) != nil {
		f.result = nil
	}
	return f.descend(f.members[path[0]], path[1:])
}

// descend follows a path into a JSON value.
func (f *filling) descend(raw json.RawMessage, path []string) value {
	for _, name := range path {
		raw = bytes.TrimLeft(raw, " \t\r\n")
		if !f.affords(raw) {
			return value{raw: raw}
		}
		switch {
		case len(raw) == 0:
			return value{}
		case raw[0] == '{':
			var members map[string]json.RawMessage
			if json.Unmarshal(raw, &members) != nil {
				return value{}
			}
			raw = members[name]
		case raw[0] == '[':
			var list []json.RawMessage
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || json.Unmarshal(raw, &list) != nil || i >= len(list) {
				return value{}
			}
			raw = list[i]
		default:
			return value{}
		}
	}
	return value{raw: raw}
}

// affords reports whether a value can still be decoded for this line.
func (f *filling) affords(raw json.RawMessage) bool {
	f.work += len(raw)
	if len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') {
		f.work += 3 * len(raw)
	}
	return f.work <= maxWork
}

// isPath reports whether a placeholder is a path among the tool's fields.
func (f *filling) isPath(path []string) bool {
	if path[0] == abi.NameInput && len(path) == 2 {
		path = path[1:]
	}
	return len(path) == 1 && !slices.Contains(f.kind.Names(), path[0]) &&
		slices.ContainsFunc(f.call.Tool.Fields, func(t abi.Field) bool { return t.Kind == abi.FieldPath && t.Name == path[0] })
}

// fromCwd is a path as it is seen from the working directory, if it lies below that.
func fromCwd(cwd, path string) string {
	if cwd == "" {
		return path
	}
	rest, below := strings.CutPrefix(path, strings.TrimRight(cwd, `/\`))
	switch {
	case !below || cwd == "":
		return path
	case rest == "":
		return "."
	case rest[0] == '/' || rest[0] == filepath.Separator:
		if rest = strings.TrimLeft(rest, `/\`); rest != "" {
			return rest
		}
		return "."
	}
	return path
}
