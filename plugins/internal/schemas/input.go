package schemas

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Accept checks an input as [Schema.Validate] does, and returns it in the form that
// guests get, canonical too. A number that the schema wants to be an integer is written
// as one: 1.0 is 1, and 1e3 is 1000, exactly. That is the same number to a schema, and
// not to the decoders of many languages. With nulls, an optional property that is null
// and may not be is left out: APIs that hold models to a schema have every property be
// there. Where the schema leaves open what is meant, or finding out takes too much work,
// the input stays as it is.
func (s *Schema) Accept(input json.RawMessage, nulls bool) (json.RawMessage, error) {
	if s.plain.accepts(input) {
		return input, nil // what is plain has integers written as such, and no null to leave out
	}
	input = s.normalize(input, nulls)
	return input, s.examine(input)
}

func (s *Schema) normalize(input json.RawMessage, nulls bool) json.RawMessage {
	numbers, null := unusual(input)
	if !numbers && (!nulls || !null) {
		return input
	}
	v, err := abi.Value(input)
	if err != nil || s.shape.admits(v) != nil {
		return input
	}
	n := &normalizer{root: s.root, nulls: nulls, steps: maxNormalize}
	v = n.value(v, []any{s.root})
	if !n.changed || n.steps <= 0 {
		return input
	}
	out, err := json.Marshal(v)
	if err != nil {
		return input
	}
	if out, err = abi.Canonical(out); err != nil {
		return input
	}
	return out
}

// unusual reports whether canonical JSON holds a number with a fraction or an exponent,
// and whether it holds a null.
func unusual(input []byte) (number, null bool) {
	for rest := input; len(rest) > 0; {
		switch c := rest[0]; {
		case c == '"':
			_, after, ok := plainText(rest)
			if !ok {
				return true, true
			}
			rest = after
			continue
		case c == 'n':
			null = true
		case '0' <= c && c <= '9' && len(rest) > 1:
			number = number || strings.IndexByte(".eE", rest[1]) >= 0
		}
		rest = rest[1:]
	}
	return number, null
}

// maxNormalize bounds how many schema nodes are looked at for one input.
const maxNormalize = 100_000

type normalizer struct {
	root    any
	nulls   bool
	steps   int
	changed bool
}

// value normalizes a value that all of some schemas apply to.
func (n *normalizer) value(v any, schemas []any) any {
	if len(schemas) == 0 {
		return v
	}
	switch v := v.(type) {
	case json.Number:
		if slices.ContainsFunc(n.apply(schemas, v), isInteger) {
			if whole, ok := wholeNumber(string(v)); ok {
				n.changed = n.changed || whole != string(v)
				return json.Number(whole)
			}
		}
	case []any:
		nodes := n.apply(schemas, v)
		for i, e := range v {
			v[i] = n.value(e, itemsAt(nodes, i))
		}
	case map[string]any:
		nodes := n.apply(schemas, v)
		for _, key := range slices.Collect(maps.Keys(v)) {
			under := propertiesAt(nodes, key)
			if v[key] == nil && n.drops(nodes, under, key) {
				delete(v, key)
				n.changed = true
				continue
			}
			v[key] = n.value(v[key], under)
		}
	}
	return v
}

// drops reports whether a property that is null is to be left out.
func (n *normalizer) drops(nodes []map[string]any, under []any, key string) bool {
	required := slices.ContainsFunc(nodes, func(node map[string]any) bool {
		names, _ := node["required"].([]any)
		return slices.Contains(names, any(key))
	})
	return n.nulls && !required && slices.ContainsFunc(under, func(s any) bool { return n.refuses(s, "null") })
}

// apply lists the schemas that apply to a value as one or another of some do: those that
// they refer to, all of an allOf, and of alternatives the only one for a value of its
// type.
func (n *normalizer) apply(schemas []any, v any) []map[string]any {
	var nodes []map[string]any
	queue := slices.Clone(schemas)
	for len(queue) > 0 && n.steps > 0 {
		n.steps--
		node, _ := queue[0].(map[string]any)
		queue = queue[1:]
		if node == nil {
			continue
		}
		nodes = append(nodes, node)
		if target, ok := n.target(node); ok {
			queue = append(queue, target)
		}
		all, _ := node["allOf"].([]any)
		queue = append(queue, all...)
		for _, keyword := range []string{"anyOf", "oneOf"} {
			left := n.alternatives(node, keyword, v)
			switch {
			case len(left) == 1:
				queue = append(queue, left[0])
			case len(left) > 1 && kindOf(v) == "number" && n.allIntegers(left, v):
				nodes = append(nodes, map[string]any{"type": "integer"})
			}
		}
	}
	return nodes
}

// alternatives are those that a value may fit by its type.
func (n *normalizer) alternatives(node map[string]any, keyword string, v any) []any {
	list, _ := node[keyword].([]any)
	return slices.DeleteFunc(slices.Clone(list), func(s any) bool { return n.refuses(s, kindOf(v)) })
}

func (n *normalizer) allIntegers(schemas []any, v any) bool {
	return !slices.ContainsFunc(schemas, func(s any) bool {
		return !slices.ContainsFunc(n.apply([]any{s}, v), isInteger)
	})
}

// target is the schema that a node refers to.
func (n *normalizer) target(node map[string]any) (any, bool) {
	ref, _ := node["$ref"].(string)
	path, local := strings.CutPrefix(ref, "#")
	if !local || path != "" && path[0] != '/' || strings.Contains(path, "%") {
		return nil, false
	}
	at := n.root
	for i, token := range strings.Split(path, "/") {
		if i == 0 {
			continue // before the first slash there is nothing
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch under := at.(type) {
		case map[string]any:
			at = under[token]
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(under) {
				return nil, false
			}
			at = under[index]
		default:
			return nil, false
		}
	}
	return at, true
}

// refuses reports whether a schema certainly allows no value of a type.
func (n *normalizer) refuses(schema any, kind string) bool {
	n.steps--
	if n.steps <= 0 {
		return false
	}
	node, isNode := schema.(map[string]any)
	if !isNode {
		return schema == false
	}
	not := func(s any) bool { return n.refuses(s, kind) }
	if types := typesIn(node); types != nil && !slices.Contains(types, kind) && (kind != "number" || !slices.Contains(types, "integer")) {
		return true
	}
	values, listed := node["enum"].([]any)
	if c, ok := node["const"]; ok {
		values, listed = []any{c}, true
	}
	if listed && !slices.ContainsFunc(values, func(v any) bool { return kindOf(v) == kind }) {
		return true
	}
	if target, ok := n.target(node); ok && not(target) {
		return true
	}
	if all, _ := node["allOf"].([]any); slices.ContainsFunc(all, not) {
		return true
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := node[keyword].([]any); ok && !slices.ContainsFunc(list, func(s any) bool { return !not(s) }) {
			return true
		}
	}
	return false
}

// typesIn are the types that a node names; nil is that it names none.
func typesIn(node map[string]any) []string {
	list, ok := node["type"].([]any)
	if !ok {
		list = []any{node["type"]}
	}
	var types []string
	for _, t := range list {
		if name, ok := t.(string); ok {
			types = append(types, name)
		}
	}
	return types
}

// isInteger reports whether a node allows no numbers but integers.
func isInteger(node map[string]any) bool {
	types := typesIn(node)
	return slices.Contains(types, "integer") && !slices.Contains(types, "number")
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}

// itemsAt are the schemas of one item of an array.
func itemsAt(nodes []map[string]any, i int) (under []any) {
	for _, node := range nodes {
		first, _ := node["prefixItems"].([]any)
		if i < len(first) {
			under = append(under, first[i])
		} else if items, ok := node["items"].(map[string]any); ok {
			under = append(under, items)
		}
	}
	return under
}

// propertiesAt are the schemas of one property of an object. Those by patterns are left
// out.
func propertiesAt(nodes []map[string]any, key string) (under []any) {
	for _, node := range nodes {
		table, _ := node["properties"].(map[string]any)
		if schema, ok := table[key]; ok {
			under = append(under, schema)
		} else if more, ok := node["additionalProperties"].(map[string]any); ok && node["patternProperties"] == nil {
			under = append(under, more)
		}
	}
	return under
}

// wholeNumber writes a number that is an integer without fraction and exponent.
func wholeNumber(number string) (string, bool) {
	digits, power, hasPower := number, 0, false
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		p, err := strconv.Atoi(number[at+1:])
		if err != nil || p > maxDigits || p < -maxDigits {
			return "", false
		}
		digits, power, hasPower = number[:at], p, true
	}
	digits, negative := strings.CutPrefix(digits, "-")
	before, after, hasFraction := strings.Cut(digits, ".")
	if !hasPower && !hasFraction {
		return number, true
	}
	digits = strings.TrimLeft(before+after, "0")
	power -= len(after)
	for power < 0 && strings.HasSuffix(digits, "0") {
		digits, power = digits[:len(digits)-1], power+1
	}
	switch {
	case digits == "":
		return "0", true
	case power < 0 || len(digits)+power > maxDigits:
		return "", false
	}
	digits += strings.Repeat("0", power)
	if negative {
		digits = "-" + digits
	}
	return digits, true
}
