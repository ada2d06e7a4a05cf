package toolquaytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

// schemaFault says that a schema has what this host cannot check.
type schemaFault string

// checkSchema holds an input to a tool's JSON Schema as the host does, and returns why it
// does not fit. It knows the keywords that schemas of tools are written with; others are
// an error, so that it accepts nothing that it did not check.
func checkSchema(schema string, input []byte) (why string, err error) {
	var root, value any
	if err := decodeExact([]byte(schema), &root); err != nil {
		return "", fmt.Errorf("is not JSON: %w", err)
	}
	if err := decodeExact(input, &value); err != nil {
		return "", err
	}
	defer func() {
		r := recover()
		fault, ok := r.(schemaFault)
		if r != nil && !ok {
			panic(r)
		}
		if ok {
			err = errors.New(string(fault))
		}
	}()
	return fits(root, value, theInput), nil
}

func decodeExact(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

// theInput names the whole value.
const theInput = "the input"

// annotations say nothing of which values fit.
var annotations = []string{
	"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated",
	"readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType",
}

// fits returns why a value does not fit a schema; empty where it does.
func fits(schema, value any, at string) string {
	node, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return at + " is not allowed"
		}
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(node)) {
		if slices.Contains(annotations, key) {
			continue
		}
		check, known := keywords[key]
		if !known {
			panic(schemaFault(fmt.Sprintf("has the keyword %q, which this test host cannot check", key)))
		}
		if why := check(node, node[key], value, at); why != "" {
			return why
		}
	}
	return ""
}

// keyword checks a value by one keyword's argument; node is the schema that it is in.
type keyword func(node map[string]any, argument, value any, at string) string

var keywords map[string]keyword

func init() {
	keywords = map[string]keyword{
		"type":             hasType,
		"enum":             inEnum,
		"const":            func(_ map[string]any, a, v any, at string) string { return inEnum(nil, []any{a}, v, at) },
		"minimum":          bound(func(v, limit float64) bool { return v >= limit }, "less than the minimum"),
		"maximum":          bound(func(v, limit float64) bool { return v <= limit }, "over the maximum"),
		"exclusiveMinimum": bound(func(v, limit float64) bool { return v > limit }, "not over"),
		"exclusiveMaximum": bound(func(v, limit float64) bool { return v < limit }, "not less than"),
		"multipleOf":       bound(func(v, limit float64) bool { return math.Mod(v, limit) == 0 }, "no multiple of"),
		"minLength":        size(length, atLeast, "shorter than"),
		"maxLength":        size(length, atMost, "longer than"),
		"minItems":         size(items, atLeast, "shorter than"),
		"maxItems":         size(items, atMost, "longer than"),
		"minProperties":    size(members, atLeast, "smaller than"),
		"maxProperties":    size(members, atMost, "larger than"),
		"pattern":          matchesPattern,
		"required":         hasRequired,
		"properties":       hasProperties,
		// It is checked with the properties, which it depends on.
		"additionalProperties": hasAdditional,
		"items":                hasItems,
		"allOf":                anyNumber(func(fit, all int) bool { return fit == all }),
		"anyOf":                anyNumber(func(fit, _ int) bool { return fit > 0 }),
		"oneOf":                anyNumber(func(fit, _ int) bool { return fit == 1 }),
	}
}

func hasType(node map[string]any, argument, value any, at string) string {
	if slices.ContainsFunc(typesIn(node), func(name any) bool { return isType(value, name) }) {
		return ""
	}
	return fmt.Sprintf("%s is not of type %v", at, argument)
}

func isType(value, name any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case json.Number:
		f, err := v.Float64()
		return name == "number" || name == "integer" && err == nil && f == math.Trunc(f)
	}
	return false
}

func inEnum(_ map[string]any, argument, value any, at string) string {
	list, _ := argument.([]any)
	if slices.ContainsFunc(list, func(one any) bool { return same(one, value) }) {
		return ""
	}
	return fmt.Sprintf("%s is none of %v", at, argument)
}

// same reports whether two JSON values are, numbers by what they are worth.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		x, errX := a.Float64()
		y, errY := b.Float64()
		return ok && errX == nil && errY == nil && x == y
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, v := range a {
			if w, there := b[key]; !there || !same(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func bound(holds func(v, limit float64) bool, says string) keyword {
	return func(_ map[string]any, argument, value any, at string) string {
		v, ok := number(value)
		limit, there := number(argument)
		if !ok || there && holds(v, limit) {
			return ""
		}
		return fmt.Sprintf("%s is %v, %s %v", at, value, says, argument)
	}
}

func atLeast(n, limit float64) bool { return n >= limit }

func atMost(n, limit float64) bool { return n <= limit }

func length(v any) (int, bool) {
	s, ok := v.(string)
	return utf8.RuneCountInString(s), ok
}

func items(v any) (int, bool) {
	list, ok := v.([]any)
	return len(list), ok
}

func members(v any) (int, bool) {
	m, ok := v.(map[string]any)
	return len(m), ok
}

func size(of func(any) (int, bool), holds func(n, limit float64) bool, says string) keyword {
	return func(_ map[string]any, argument, value any, at string) string {
		n, ok := of(value)
		limit, there := number(argument)
		if !ok || there && holds(float64(n), limit) {
			return ""
		}
		return fmt.Sprintf("%s is of size %d, %s %v", at, n, says, argument)
	}
}

// matchesPattern has the host's own regular expressions for schemas, those of Go.
func matchesPattern(_ map[string]any, argument, value any, at string) string {
	text, ok := value.(string)
	if !ok {
		return ""
	}
	pattern, _ := argument.(string)
	re, err := regexp.Compile(pattern)
	if err != nil {
		panic(schemaFault(err.Error()))
	}
	if re.MatchString(text) {
		return ""
	}
	return fmt.Sprintf("%s does not match %q", at, pattern)
}

func hasRequired(_ map[string]any, argument, value any, at string) string {
	object, ok := value.(map[string]any)
	names, _ := argument.([]any)
	for _, name := range names {
		key, _ := name.(string)
		if _, there := object[key]; ok && !there {
			return fmt.Sprintf("%s lacks %q", at, key)
		}
	}
	return ""
}

func hasProperties(_ map[string]any, argument, value any, at string) string {
	object, _ := value.(map[string]any)
	properties, _ := argument.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if schema, listed := properties[key]; listed {
			if why := fits(schema, object[key], below(at, key)); why != "" {
				return why
			}
		}
	}
	return ""
}

// below names a member of what is at a place.
func below(at, key string) string {
	if at == theInput {
		return key
	}
	return at + "." + key
}

func hasAdditional(node map[string]any, argument, value any, at string) string {
	object, _ := value.(map[string]any)
	properties, _ := node["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if _, listed := properties[key]; !listed {
			if why := fits(argument, object[key], below(at, key)); why != "" {
				return why
			}
		}
	}
	return ""
}

func hasItems(_ map[string]any, argument, value any, at string) string {
	list, _ := value.([]any)
	for i, item := range list {
		if why := fits(argument, item, fmt.Sprintf("%s[%d]", at, i)); why != "" {
			return why
		}
	}
	return ""
}

func anyNumber(enough func(fit, all int) bool) keyword {
	return func(_ map[string]any, argument, value any, at string) string {
		schemas, _ := argument.([]any)
		fit, first := 0, ""
		for _, schema := range schemas {
			why := fits(schema, value, at)
			if why == "" {
				fit++
			} else if first == "" {
				first = why
			}
		}
		if enough(fit, len(schemas)) {
			return ""
		}
		if first == "" {
			first = at + " fits more than one of the schemas"
		}
		return first
	}
}
