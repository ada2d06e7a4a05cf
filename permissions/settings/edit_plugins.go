package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/toolquay/toolquay/internal/stricttoml"
)

// SetPluginConfig writes a value of a plugin's configuration to a settings.toml and
// reports whether the file changed. value is a JSON string, number or boolean; nil
// takes the key out. It is as careful with the rest of the file as [AddRule], and
// fails with a [*ManualError] where that cannot be had.
func SetPluginConfig(t Target, plugin, key string, value json.RawMessage) (changed bool, err error) {
	if strings.HasSuffix(t.Path, ".json") || projects(t.Kind) {
		return false, errors.New("plugins are configured in the user's settings.toml only")
	}
	text, err := tomlValue(value)
	if err != nil {
		return false, fmt.Errorf("the value of %s: %w", key, err)
	}
	return t.change(value != nil, func(w *writable) (bool, error) {
		old, there := w.file.PluginConfig[plugin][key]
		if there == (value != nil) && string(old.Value) == string(value) {
			return false, nil
		}
		edit := configEdit{body: w.body, table: keyText(plugin), key: keyText(key), value: text}
		for _, after := range edit.candidates() {
			if verifyConfig(w.body, after, plugin, key, text) != nil {
				continue
			}
			if file, err := w.format.parse(w.kind, w.path, after); err == nil {
				w.body, w.file = after, file
				return true, nil
			}
		}
		do := fmt.Sprintf("take %s out of the table [plugins.%s]", edit.key, edit.table)
		if value != nil {
			do = fmt.Sprintf("write %s = %s into the table [plugins.%s]", edit.key, text, edit.table)
		}
		return false, &ManualError{w.path, do, errDiffers}
	})
}

// tomlValue writes a JSON value as TOML; nil is "".
func tomlValue(value json.RawMessage) (string, error) {
	if value == nil {
		return "", nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return quoted(v), nil
	case bool, float64:
		return string(value), nil
	}
	return "", errors.New("it is no string, number or boolean")
}

// configEdit is one change of a table [plugins.NAME]. Its keys are as TOML has them.
type configEdit struct {
	body              []byte
	table, key, value string
}

// candidates are the ways to make the change. By how the file is laid out some of
// them break it or change something else: the first that does not is the one.
func (e *configEdit) candidates() [][]byte {
	doc, _ := stricttoml.Decode(e.body, new(format))
	path := "plugins." + e.table
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
		last := 0
		for _, k := range table.Keys {
			last = max(last, doc.Layout(path+"."+keyText(k)).End)
		}
		if last > 0 { // dotted keys, under a header or without one
			indent := indentation(e.body, last)
			out = append(out, appendLine(e.body, last, indent+e.table+"."+pair), appendLine(e.body, last, indent+path+"."+pair))
		}
		if all := doc.Layout("plugins"); all.Form == stricttoml.FormValue {
			out = append(out, tomlText{}.addToInline(e.body, doc, "plugins", all, e.table+" = { "+pair+" }"))
		}
	}
	header := "[" + path + "]" + nl + pair
	if len(e.body) > 0 {
		header = nl + header
	}
	return append(out, appendLine(e.body, len(e.body), header))
}

// verifyConfig fails unless two bodies differ just by one value.
func verifyConfig(before, after []byte, plugin, key, value string) error {
	var was, is map[string]any
	_, err1 := toml.Decode(string(before), &was)
	_, err2 := toml.Decode(string(after), &is)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	table := pluginTableOf(was, plugin, true)
	if value == "" {
		delete(table, key)
	} else {
		v, err := tomlText{}.value(value)
		if err != nil {
			return err
		}
		table[key] = v
	}
	// An empty table, or none, is the same.
	for _, doc := range []map[string]any{was, is} {
		if table := pluginTableOf(doc, plugin, false); table != nil && len(table) == 0 {
			if all, ok := doc["plugins"].(map[string]any); ok {
				delete(all, plugin)
			}
		}
		if all, ok := doc["plugins"].(map[string]any); ok && len(all) == 0 {
			delete(doc, "plugins")
		}
	}
	if !reflect.DeepEqual(was, is) {
		return errDiffers
	}
	return nil
}

// pluginTableOf is a plugin's table in a document, made if it is to be.
func pluginTableOf(doc map[string]any, plugin string, create bool) map[string]any {
	all, _ := doc["plugins"].(map[string]any)
	if all == nil {
		if !create {
			return nil
		}
		all = make(map[string]any)
		doc["plugins"] = all
	}
	table, _ := all[plugin].(map[string]any)
	if table == nil && create {
		table = make(map[string]any)
		all[plugin] = table
	}
	return table
}
