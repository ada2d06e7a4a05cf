package modelschema

import (
	"encoding/json"
	"slices"
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

func takeNames(v any) (names []string, ok bool) {
	list, ok := v.([]any)
	for _, v := range list {
		name, isText := v.(string)
		names, ok = append(names, name), ok && isText
	}
	return names, ok
}
