package settings

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// tomlText changes settings.toml.
type tomlText struct{}

func (tomlText) parse(kind permissions.SourceKind, path string, body []byte) (*File, error) {
	return Parse(kind, path, body)
}

func (tomlText) entry(r Rule) (string, error) {
	if len(r.Match)+len(r.NotMatch) == 0 && r.Expires.IsZero() {
		return quoted(r.Text), nil
	}
	parts := []string{"rule = " + quoted(r.Text)}
	for _, list := range []struct {
		key   string
		texts []string
	}{{"match", r.Match}, {"not_match", r.NotMatch}} {
		if len(list.texts) == 0 {
			continue
		}
		quotes := make([]string, len(list.texts))
		for i, text := range list.texts {
			quotes[i] = quoted(text)
		}
		parts = append(parts, list.key+" = ["+strings.Join(quotes, ", ")+"]")
	}
	if !r.Expires.IsZero() {
		parts = append(parts, "expires = "+r.Expires.UTC().Format(time.RFC3339))
	}
	return "{ " + strings.Join(parts, ", ") + " }", nil
}

func (tomlText) value(entry string) (any, error) {
	var doc map[string]any
	_, err := toml.Decode("x = "+entry, &doc)
	return doc["x"], err
}

func (tomlText) verify(before, after []byte, list listPath, change func([]any) ([]any, error)) error {
	var was, is map[string]any
	_, err1 := toml.Decode(string(before), &was)
	_, err2 := toml.Decode(string(after), &is)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("the outcome is not understood: %w", err)
	}
	return sameButFor(was, is, list, change)
}

// errDiffers is what a change comes to that is not the one that was asked for.
var errDiffers = errors.New("more than the rule would change, by the way the file is laid out")

// sameButFor fails unless two documents differ just by what change does to a list.
func sameButFor(was, is map[string]any, list listPath, change func([]any) ([]any, error)) error {
	table, _ := was[list.table].(map[string]any)
	if table == nil {
		table = make(map[string]any)
		was[list.table] = table
	}
	changed, err := change(elements(table[list.key]))
	if err != nil {
		return err
	}
	table[list.key] = changed
	if now, _ := is[list.table].(map[string]any); now != nil && now[list.key] != nil {
		now[list.key] = elements(now[list.key])
	}
	if !reflect.DeepEqual(was, is) {
		return errDiffers
	}
	return nil
}

// elements returns an array's elements: the TOML parser has a type of its own for
// arrays of tables.
func elements(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	}
	return []any{}
}

// layout finds where things stand in a body that parses.
func (tomlText) layout(body []byte) *stricttoml.Document {
	doc, _ := stricttoml.Decode(body, new(format))
	return doc
}

func (t tomlText) add(body []byte, list listPath, entry string) ([]byte, error) {
	doc, nl := t.layout(body), newline(body)
	key := list.dotted()
	switch l := doc.Layout(key); l.Form {
	case stricttoml.FormValue:
		return t.addToArray(body, doc, key, entry), nil
	case stricttoml.FormTables:
		return nil, fmt.Errorf("the list is written as [[%s]] tables", key)
	}
	table := doc.Layout(list.table)
	rules := "[" + nl + "  " + entry + "," + nl + "]"
	switch table.Form {
	case stricttoml.FormValue:
		return t.addToInline(body, doc, list.table, table, list.key+" = ["+entry+"]"), nil
	case stricttoml.FormTable:
		indent := indentation(body, table.End)
		rules = strings.ReplaceAll(rules, nl, nl+indent)
		return appendLine(body, table.End, indent+list.key+" = "+rules), nil
	}
	last := -1
	for _, k := range table.Keys {
		if l := doc.Layout(list.table + "." + k); l.Form == stricttoml.FormValue {
			last = max(last, l.End)
		}
	}
	if last >= 0 {
		return appendLine(body, last, key+" = "+rules), nil
	}
	header := "[" + list.table + "]" + nl + list.key + " = " + rules
	if len(body) > 0 {
		header = nl + header
	}
	return appendLine(body, len(body), header), nil
}

// appendLine puts lines after the one of an offset.
func appendLine(body []byte, at int, text string) []byte {
	nl := newline(body)
	next := nextLine(body, at)
	if next == len(body) && next > 0 && body[next-1] != '\n' {
		return spliced(body, insert(next, nl+text+nl))
	}
	return spliced(body, insert(next, text+nl))
}

// addToInline adds a pair to the inline table at a path.
func (tomlText) addToInline(body []byte, doc *stricttoml.Document, path string, table stricttoml.Layout, pair string) []byte {
	if len(table.Keys) == 0 {
		return spliced(body, insert(table.Start+1, " "+pair+" "))
	}
	last := 0
	for _, k := range table.Keys {
		last = max(last, doc.Layout(path+"."+keyText(k)).End)
	}
	return spliced(body, insert(last, ", "+pair))
}

// addToArray adds an element to the end of an array, in the layout of the last.
func (t tomlText) addToArray(body []byte, doc *stricttoml.Document, key, entry string) []byte {
	array, nl := doc.Layout(key), newline(body)
	bracket := array.End - 1
	if array.Elems == 0 {
		line := lineStart(body, bracket)
		if line <= array.Start {
			return spliced(body, insert(array.Start+1, entry))
		}
		return spliced(body, insert(line, indentation(body, bracket)+"  "+entry+","+nl))
	}
	last := doc.Layout(fmt.Sprintf("%s[%d]", key, array.Elems-1))
	comma := t.comma(body, last.End)
	after := last.End // of the last element with its comma, if it has one
	if comma >= 0 {
		after = comma + 1
	}
	if !leads(body, last.Start) {
		if comma >= 0 {
			return spliced(body, insert(after, " "+entry+","))
		}
		return spliced(body, insert(after, ", "+entry))
	}
	line := nl + indentation(body, last.Start) + entry
	end := lineEnd(body, after)
	if bracket < end { // on the same line
		end = after
	}
	if comma >= 0 {
		return spliced(body, insert(end, line+","))
	}
	return spliced(body, insert(after, ","), insert(end, line))
}

// comma finds the comma after an element of an array, or returns -1.
func (tomlText) comma(body []byte, at int) int {
	for ; at < len(body); at++ {
		switch body[at] {
		case ',':
			return at
		case '#':
			at = nextLine(body, at) - 1
		case ' ', '\t', '\r', '\n':
		default:
			return -1
		}
	}
	return -1
}

func (t tomlText) remove(body []byte, list listPath, i int) ([]byte, error) {
	doc, key := t.layout(body), list.dotted()
	array := doc.Layout(key)
	if array.Form != stricttoml.FormValue {
		return nil, fmt.Errorf("the list is written as [[%s]] tables", key)
	}
	elem := doc.Layout(fmt.Sprintf("%s[%d]", key, i))
	comma := t.comma(body, elem.End)
	at, to := elem.Start, elem.End
	if comma >= 0 && blank(body[to:comma]) {
		to = comma + 1
	}
	end := lineEnd(body, to)
	rest := strings.TrimLeft(string(body[to:end]), " \t")
	switch {
	case leads(body, at) && (rest == "" || rest[0] == '#'):
		at, to = lineStart(body, at), nextLine(body, to)
	case comma < 0 && i > 0: // a comma may stand before the bracket, but need not
		if before := doc.Layout(fmt.Sprintf("%s[%d]", key, i-1)).End; strings.Trim(string(body[before:at]), " \t,") == "" {
			at = before
		}
	case comma >= 0:
		to = end - len(rest)
	}
	cuts := []splice{{at, to, ""}}
	if comma >= to { // it stands on a later line, or after a comment
		cuts = append(cuts, splice{comma, comma + 1, ""})
	}
	return spliced(body, cuts...), nil
}
