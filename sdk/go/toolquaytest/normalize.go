package toolquaytest

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
)

// normalize returns an input as the host hands it to guests. A number that the schema
// wants to be an integer is written as one: 1.0 is 1. Where the tool is strict, an
// optional property that is null and may not be is left out.
func (t *contract) normalize(input []byte) []byte {
	var root, value any
	if decodeExact([]byte(t.schema), &root) != nil || decodeExact(input, &value) != nil {
		return input // the tool has no schema, or the check of the input says what is wrong
	}
	data, err := json.Marshal(normalValue(value, []any{root}, t.strict))
	if err != nil {
		return input
	}
	return data
}

// normalValue normalizes a value that all of some schemas apply to.
func normalValue(v any, schemas []any, nulls bool) any {
	nodes := applying(schemas, v)
	switch v := v.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok && r.IsInt() && slices.ContainsFunc(nodes, wantsInteger) {
			return json.Number(r.Num().String())
		}
	case []any:
		var under []any
		for _, node := range nodes {
			under = append(under, node["items"])
		}
		for i, item := range v {
			v[i] = normalValue(item, under, nulls)
		}
	case map[string]any:
		for key, member := range v {
			under, required := membersAt(nodes, key)
			refused := slices.ContainsFunc(under, func(schema any) bool { return refuses(schema, nil) })
			if nulls && member == nil && !required && refused {
				delete(v, key)
			} else {
				v[key] = normalValue(member, under, nulls)
			}
		}
	}
	return v
}

// membersAt are the schemas of a property, and whether it is required.
func membersAt(nodes []map[string]any, key string) (under []any, required bool) {
	for _, node := range nodes {
		names, _ := node["required"].([]any)
		required = required || slices.Contains(names, any(key))
		properties, _ := node["properties"].(map[string]any)
		if schema, listed := properties[key]; listed {
			under = append(under, schema)
		} else if more, ok := node["additionalProperties"].(map[string]any); ok {
			under = append(under, more)
		}
	}
	return under, required
}

// applying lists the schemas that apply to a value: with each those of its allOf, and of
// alternatives the only one for a value of that type.
func applying(schemas []any, v any) (nodes []map[string]any) {
	for _, schema := range schemas {
		node, ok := schema.(map[string]any)
		if !ok {
			continue
		}
		nodes = append(nodes, node)
		all, _ := node["allOf"].([]any)
		nodes = append(nodes, applying(all, v)...)
		for _, keyword := range []string{"anyOf", "oneOf"} {
			list, _ := node[keyword].([]any)
			left := slices.DeleteFunc(slices.Clone(list), func(s any) bool { return refuses(s, v) })
			_, isNumber := v.(json.Number)
			other := func(s any) bool { return !slices.ContainsFunc(applying([]any{s}, v), wantsInteger) }
			if len(left) == 1 || len(left) > 1 && isNumber && !slices.ContainsFunc(left, other) {
				nodes = append(nodes, applying(left[:1], v)...)
			}
		}
	}
	return nodes
}

// refuses reports whether a schema certainly allows no value of the type of this one.
func refuses(schema, v any) bool {
	node, ok := schema.(map[string]any)
	if !ok {
		return schema == false
	}
	not := func(s any) bool { return refuses(s, v) }
	if types := typesIn(node); types != nil && !slices.ContainsFunc(types, func(name any) bool { return isType(v, name) }) {
		return true
	}
	values, listed := node["enum"].([]any)
	if c, ok := node["const"]; ok {
		values, listed = []any{c}, true
	}
	if listed && !slices.ContainsFunc(values, func(one any) bool { return reflect.TypeOf(one) == reflect.TypeOf(v) }) {
		return true
	}
	all, _ := node["allOf"].([]any)
	if slices.ContainsFunc(all, not) {
		return true
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := node[keyword].([]any); ok && !slices.ContainsFunc(list, func(s any) bool { return !not(s) }) {
			return true
		}
	}
	return false
}

// typesIn are the types that a schema names; nil is that it names none.
func typesIn(node map[string]any) []any {
	argument, ok := node["type"]
	if list, isList := argument.([]any); isList || !ok {
		return list
	}
	return []any{argument}
}

// wantsInteger reports whether a schema allows no numbers but integers.
func wantsInteger(node map[string]any) bool {
	types := typesIn(node)
	return slices.Contains(types, any("integer")) && !slices.Contains(types, any("number"))
}
