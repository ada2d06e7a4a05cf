package modelschema

import (
	"encoding/json"
	"math"
	"slices"
)

// Schema is a schema as a strict tool may have it.
type Schema struct {
	JSON json.RawMessage
	// optional and unions are counted by the API over all strict tools.
	optional, unions int
}

// Budget is what the strict tools of one request may still come to.
type Budget struct{ tools, optional, unions int }

// NewBudget is what an API takes in one request.
func NewBudget(api API) *Budget {
	if api == Anthropic {
		return &Budget{tools: 20, optional: 24, unions: 16}
	}
	return &Budget{tools: math.MaxInt, optional: math.MaxInt, unions: math.MaxInt}
}

// Optional is how many properties may be left out.
func (s Schema) Optional() int { return s.optional }

// Take takes one more tool in, and reports whether there was room for it.
func (b *Budget) Take(s Schema) bool {
	if b.tools < 1 || b.optional < s.optional || b.unions < s.unions {
		return false
	}
	b.tools, b.optional, b.unions = b.tools-1, b.optional-s.optional, b.unions-s.unions
	return true
}

// Limits that hold for every API, or that OpenAI publishes.
const (
	maxNodes = 2000
	// maxText bounds all descriptions together, in bytes: references repeat them.
	maxText = 512 << 10
	// maxLevels is how deep schemas may nest, and maxProperties how many properties
	// there may be.
	maxLevels     = 10
	maxProperties = 5000
	// maxEnum is how many values the enums may have together; maxNames bounds the
	// names and values in code points, and maxLongEnum those of one enum with more
	// than longEnum values.
	maxEnum     = 1000
	maxNames    = 120_000
	longEnum    = 250
	maxLongEnum = 15_000
)

// Strict writes a tool's schema in the form in which an API can hold a model to it.
// References are put in place. Bounds that the API refuses move into descriptions. All
// objects are closed; for OpenAI all properties are required, and those that were not
// can be null. An error says why there is no such form: the schema is then for
// [Plain].
func Strict(schema string, api API) (Schema, error) {
	root, err := parse(schema)
	if err != nil {
		return Schema{}, err
	}
	w := &writer{api: api, root: root}
	n, err := w.read(root, 1)
	if err != nil {
		return Schema{}, err
	}
	if !slices.Equal(n.types, []string{"object"}) || n.anyOf != nil {
		return Schema{}, unfit("the root must be an object and nothing else")
	}
	if w.text > maxText || w.properties > maxProperties || w.values > maxEnum || w.names > maxNames {
		return Schema{}, unfit("there are too many properties or values")
	}
	out := w.write(n, false)
	return Schema{JSON: json.RawMessage(text(out)), optional: w.optional, unions: w.unions}, nil
}

type writer struct {
	api  API
	root object
	// following are the references that lead to where the writer is.
	following []string

	nodes, properties, values, names, text int
	optional, unions                       int
}

// write writes a schema, null says that of an optional property that has to be there.
func (w *writer) write(n *node, null bool) object {
	var out object
	put := func(key string, v any) { out = append(out, member{key, v}) }
	types, enum := n.types, n.enum
	if null = null && !n.admits("null"); null && len(types) > 0 {
		types = append(slices.Clip(types), "null")
	}
	if null && n.constant != nil {
		enum = []any{*n.constant}
	}
	if null && enum != nil {
		enum = append(slices.Clip(enum), nil)
	}
	if len(types) > 1 || n.anyOf != nil {
		w.unions++
	}
	if len(types) == 1 {
		put("type", types[0])
	} else if len(types) > 1 {
		list := make([]any, len(types))
		for i, t := range types {
			list[i] = t
		}
		put("type", list)
	}
	if d := n.describe(null); d != "" {
		put("description", d)
	}
	if enum != nil {
		put("enum", enum)
	} else if n.constant != nil {
		put("const", *n.constant)
	}
	if n.standard != nil {
		put("default", *n.standard)
	}
	if n.format != "" {
		put("format", n.format)
	}
	if n.anyOf != nil {
		put("anyOf", w.alternatives(n, null))
	}
	if n.properties != nil {
		w.members(n, put)
	}
	if n.items != nil {
		put("items", w.write(n.items, false))
	}
	if n.minItems != "" {
		put("minItems", n.minItems)
	}
	return out
}

func (w *writer) alternatives(n *node, null bool) []any {
	var list []any
	for _, a := range n.anyOf {
		list = append(list, w.write(a, false))
	}
	if null {
		list = append(list, object{{"type", "null"}})
	}
	return list
}

// members writes the properties of an object.
func (w *writer) members(n *node, put func(string, any)) {
	properties, required := make(object, 0, len(n.properties)), []any{}
	for _, p := range n.properties {
		optional := !slices.Contains(n.required, p.name)
		if optional && w.api == Anthropic {
			w.optional++
		} else {
			required = append(required, p.name)
		}
		properties = append(properties, member{p.name, w.write(p.node, optional && w.api == OpenAI)})
	}
	put("properties", properties)
	put("required", required)
	put("additionalProperties", false)
}
