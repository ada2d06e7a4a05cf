package settings

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/toolquay/toolquay/internal/stricttoml"
)

// keyEdit puts a pair into a table of a file, or takes it out where the value is empty.
type keyEdit struct {
	body []byte
	// tables are the names of the tables that lead to the key, each as it is written.
	tables     []string
	key, value string
}

// newKeyEdit makes an edit of what stands at a path, of at least two names.
func newKeyEdit(body []byte, path []string, value string) *keyEdit {
	written := make([]string, len(path))
	for i, name := range path {
		written[i] = keyText(name)
	}
	last := len(written) - 1
	return &keyEdit{body: body, tables: written[:last], key: written[last], value: value}
}

// table is the table's name as a header has it.
func (e *keyEdit) table() string { return strings.Join(e.tables, ".") }

// candidates returns bodies, one of which is the right one wherever the table is written: which
// of them is decided by what they parse to.
func (e *keyEdit) candidates() [][]byte {
	doc, _ := stricttoml.Decode(e.body, new(format))
	path := e.table()
	if own := doc.Layout(path + "." + e.key); own.Form == stricttoml.FormValue {
		if e.value == "" {
			return [][]byte{spliced(e.body, splice{lineStart(e.body, own.Start), nextLine(e.body, own.End), ""})}
		}
		return [][]byte{spliced(e.body, splice{own.Start, own.End, e.value})}
	}
	pair, nl := e.key+" = "+e.value, newline(e.body)
	var out [][]byte
	switch table := doc.Layout(path); table.Form {
	case stricttoml.FormTable:
		out = append(out, appendLine(e.body, table.End, indentation(e.body, table.End)+pair))
	case stricttoml.FormValue:
		out = append(out, tomlText{}.addToInline(e.body, doc, path, table, pair))
	default:
		out = append(out, e.besideDotted(doc, table.Keys, pair)...)
		out = append(out, e.intoInline(doc, pair)...)
	}
	header := "[" + path + "]" + nl + pair
	if len(e.body) > 0 {
		header = nl + header
	}
	return append(out, appendLine(e.body, len(e.body), header))
}

// besideDotted puts the pair behind the last of the table's keys that are dotted, under the
// header of one of the tables above, or without one.
func (e *keyEdit) besideDotted(doc *stricttoml.Document, keys []string, pair string) (out [][]byte) {
	last := 0
	for _, k := range keys {
		last = max(last, doc.Layout(e.table()+"."+keyText(k)).End)
	}
	if last == 0 {
		return nil
	}
	indent := indentation(e.body, last)
	for i := range slices.Backward(e.tables) {
		out = append(out, appendLine(e.body, last, indent+strings.Join(e.tables[i:], ".")+"."+pair))
	}
	return out
}

// intoInline puts the table into one of the tables above that is written inline.
func (e *keyEdit) intoInline(doc *stricttoml.Document, pair string) (out [][]byte) {
	for i := len(e.tables) - 1; i > 0; i-- {
		above := strings.Join(e.tables[:i], ".")
		if all := doc.Layout(above); all.Form == stricttoml.FormValue {
			entry := strings.Join(e.tables[i:], ".") + " = { " + pair + " }"
			out = append(out, tomlText{}.addToInline(e.body, doc, above, all, entry))
		}
	}
	return out
}

// verifyKey fails unless two bodies differ just by what stands at a path: an empty value is
// that nothing does.
func verifyKey(before, after []byte, path []string, value string) error {
	var was, is map[string]any
	_, err1 := toml.Decode(string(before), &was)
	_, err2 := toml.Decode(string(after), &is)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if was == nil {
		was = make(map[string]any)
	}
	table, key := was, path[len(path)-1]
	for _, name := range path[:len(path)-1] {
		below, ok := table[name].(map[string]any)
		if !ok {
			below = make(map[string]any)
			table[name] = below
		}
		table = below
	}
	if value == "" {
		delete(table, key)
	} else {
		v, err := tomlText{}.value(value)
		if err != nil {
			return err
		}
		table[key] = v
	}
	prune(was, path[:len(path)-1])
	prune(is, path[:len(path)-1])
	if !reflect.DeepEqual(was, is) {
		return errDiffers
	}
	return nil
}

// prune takes empty tables on a path out of a document: such a table, or none, is the same.
func prune(table map[string]any, path []string) {
	if len(path) == 0 {
		return
	}
	below, ok := table[path[0]].(map[string]any)
	if !ok {
		return
	}
	prune(below, path[1:])
	if len(below) == 0 {
		delete(table, path[0])
	}
}
