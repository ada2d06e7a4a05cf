package modelschema

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// passed are keywords that say nothing to a model, or are put in place where they are
// referred to.
var passed = []string{"$schema", "$comment", "$defs", "definitions", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"}

// formats are the formats of strings that every API knows.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// bounds are what narrows a value further, in words around what it is bounded by.
// Patterns are among them: each API knows a part of the syntax only.
var bounds = map[string][2]string{
	"minimum":          {"at least ", ""},
	"maximum":          {"at most ", ""},
	"exclusiveMinimum": {"more than ", ""},
	"exclusiveMaximum": {"less than ", ""},
	"multipleOf":       {"a multiple of ", ""},
	"minLength":        {"at least ", " characters"},
	"maxLength":        {"at most ", " characters"},
	"minItems":         {"at least ", " items"},
	"maxItems":         {"at most ", " items"},
	"minProperties":    {"at least ", " properties"},
	"maxProperties":    {"at most ", " properties"},
	"pattern":          {"must match the regular expression ", ""},
	"format":           {"format ", ""},
	"default":          {"default ", ""},
}

// keyword takes one keyword of a schema in.
func (w *writer) keyword(n *node, m member, level int) (err error) {
	ok := true
	switch m.key {
	case "type":
		ok = n.takeTypes(m.value)
	case "title":
		n.title, ok = m.value.(string)
	case "description":
		n.description, ok = m.value.(string)
	case "enum":
		n.enum, ok = w.takeEnum(m.value)
	case "const":
		n.constant, ok = &m.value, w.takeValue(m.value)
	case "anyOf", "oneOf":
		if n.anyOf != nil {
			return unfit("there are both anyOf and oneOf")
		}
		n.anyOf, err = w.takeList(m.value, level)
	case "properties":
		n.properties, err = w.takeProperties(m.value, level)
	case "required":
		n.required, ok = takeNames(m.value)
	case "additionalProperties", "unevaluatedProperties":
		if m.value != false {
			return unfit("an object takes further properties")
		}
	case "items":
		n.items, err = w.read(m.value, level+1)
	case "uniqueItems":
		if m.value == true {
			n.notes = append(n.notes, "no item twice")
		}
	case "examples":
		list, _ := m.value.([]any)
		n.note("such as ", list)
	default:
		ok = slices.Contains(passed, m.key) || w.takeBound(n, m)
	}
	if err == nil && !ok {
		err = unfit("the keyword %s, or its value, cannot be written", m.key)
	}
	return err
}

func (n *node) note(before string, values []any) {
	if len(values) == 0 {
		return
	}
	said := make([]string, len(values))
	for i, v := range values {
		said[i] = text(v)
	}
	n.notes = append(n.notes, before+strings.Join(said, ", "))
}

func (n *node) takeTypes(v any) bool {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, v := range list {
		name, _ := v.(string)
		if !slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean", "null"}, name) {
			return false
		}
		n.types = append(n.types, name)
	}
	return len(list) > 0
}

// takeBound keeps a bound that the API takes, and says others in words.
func (w *writer) takeBound(n *node, m member) bool {
	words, known := bounds[m.key]
	if !known {
		return false
	}
	name, _ := m.value.(string)
	number, _ := m.value.(json.Number)
	switch {
	case m.key == "format" && slices.Contains(formats, name):
		n.format = name
	case m.key == "default" && w.api == Anthropic && isScalar(m.value):
		n.standard = &m.value
		w.text += len(text(m.value))
	case m.key == "minItems" && w.api == Anthropic && (number == "0" || number == "1"):
		n.minItems = number
	case (m.key == "minLength" || m.key == "minItems") && number == "1":
		n.notes = append(n.notes, "not empty")
	default:
		n.notes = append(n.notes, words[0]+text(m.value)+words[1])
	}
	return true
}

func isScalar(v any) bool {
	switch v.(type) {
	case object, []any:
		return false
	}
	return true
}

// takeValue counts a value that a schema lists, which must be a scalar.
func (w *writer) takeValue(v any) bool {
	w.values++
	w.names += utf8.RuneCountInString(text(v))
	return isScalar(v)
}

func (w *writer) takeEnum(v any) ([]any, bool) {
	list, ok := v.([]any)
	before := w.names
	for _, v := range list {
		ok = w.takeValue(v) && ok
	}
	return list, ok && len(list) > 0 && (len(list) <= longEnum || w.names-before <= maxLongEnum)
}

func (w *writer) takeList(v any, level int) ([]*node, error) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, unfit("there are no alternatives")
	}
	nodes := make([]*node, len(list))
	for i, v := range list {
		var err error
		if nodes[i], err = w.read(v, level+1); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func (w *writer) takeProperties(v any, level int) ([]property, error) {
	table, ok := v.(object)
	if !ok {
		return nil, unfit("properties are not an object")
	}
	list := make([]property, len(table))
	for i, m := range table {
		w.properties++
		w.names += utf8.RuneCountInString(m.key)
		n, err := w.read(m.value, level+1)
		if err != nil {
			return nil, err
		}
		list[i] = property{m.key, n}
	}
	return list, nil
}

func takeNames(v any) (names []string, ok bool) {
	list, ok := v.([]any)
	for _, v := range list {
		name, isText := v.(string)
		names, ok = append(names, name), ok && isText
	}
	return names, ok
}
