package modelschema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
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

func unfit(format string, args ...any) error {
	return fmt.Errorf("the schema has no strict form: "+format, args...)
}

type writer struct {
	api  API
	root object
	// following are the references that lead to where the writer is.
	following []string

	nodes, properties, values, names, text int
	optional, unions                       int
}

// node is what was read of one schema.
type node struct {
	types              []string
	title, description string
	notes              []string // what the API is told in words
	enum               []any    // nil is none
	constant, standard *any     // const and default
	format             string
	anyOf              []*node
	properties         []property // nil is that they are not named
	required           []string
	items              *node
	minItems           json.Number
}

type property struct {
	name string
	*node
}

// read reads one schema, in so deep a place.
func (w *writer) read(v any, level int) (*node, error) {
	in, ok := v.(object)
	w.nodes++
	switch {
	case !ok:
		return nil, unfit("it allows anything somewhere")
	case w.nodes > maxNodes || level > maxLevels || w.text > maxText:
		return nil, unfit("it is too large or too deep")
	}
	followed := len(w.following)
	in, err := w.follow(in)
	if err != nil {
		return nil, err
	}
	n := &node{}
	for _, m := range in {
		if err := w.keyword(n, m, level); err != nil {
			return nil, err
		}
	}
	w.following = w.following[:followed]
	w.text += len(n.describe(false))
	return n, w.settle(n)
}

// follow puts what a reference, or an allOf of one schema, stands for in its place.
func (w *writer) follow(in object) (object, error) {
	for {
		var target any
		ref, isRef := in.get("$ref")
		all, isAll := in.get("allOf")
		list, _ := all.([]any)
		switch {
		case isRef:
			name, _ := ref.(string)
			if slices.Contains(w.following, name) {
				return nil, unfit("it refers to itself")
			}
			w.following = append(w.following, name)
			var ok bool
			if target, ok = w.at(name); !ok {
				return nil, unfit("the reference %s leads nowhere", name)
			}
		case isAll && len(list) == 1:
			target = list[0]
		default:
			return in, nil
		}
		under, ok := target.(object)
		if !ok {
			return nil, unfit("it allows anything somewhere")
		}
		beside := slices.DeleteFunc(slices.Clone(in), func(m member) bool { return m.key == "$ref" || m.key == "allOf" })
		if _, both := in.get("allOf"); isRef && both {
			return nil, unfit("a reference stands beside an allOf")
		}
		for _, m := range beside {
			if !slices.Contains(passed, m.key) && m.key != "description" && m.key != "title" && m.key != "default" {
				return nil, unfit("%s stands beside a reference", m.key)
			}
			under = slices.DeleteFunc(slices.Clone(under), func(u member) bool { return u.key == m.key })
		}
		in = append(slices.Clip(under), beside...)
	}
}

// at finds the schema that a reference within the document names.
func (w *writer) at(ref string) (any, bool) {
	path, local := strings.CutPrefix(ref, "#")
	if !local || strings.Contains(path, "%") || path != "" && path[0] != '/' {
		return nil, false
	}
	var found any = w.root
	for token := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		o, ok := found.(object) // those into lists are rare
		if !ok {
			return nil, false
		}
		if found, ok = o.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token)); !ok {
			return nil, false
		}
	}
	return found, true
}

// settle finds out what a schema leaves unsaid, and refuses what cannot be strict.
func (w *writer) settle(n *node) error {
	if len(n.types) == 0 {
		n.types = typesOf(n)
	}
	isObject := slices.Contains(n.types, "object")
	switch {
	case len(n.types) == 0 && n.anyOf == nil:
		return unfit("it does not say the type of something")
	case n.anyOf != nil && (len(n.types) > 0 || n.properties != nil || n.items != nil):
		return unfit("alternatives stand beside a type")
	case w.api == OpenAI && ambiguous(n.anyOf):
		return unfit("what is null cannot be told apart in alternatives of one type")
	case isObject && n.properties == nil:
		return unfit("an object takes any properties")
	case !isObject && n.properties != nil:
		return unfit("something that is not an object has properties")
	case slices.Contains(n.types, "array") != (n.items != nil):
		return unfit("it does not say what a list holds")
	}
	for _, name := range n.required {
		if !slices.ContainsFunc(n.properties, func(p property) bool { return p.name == name }) {
			return unfit("a required property is not described")
		}
	}
	return nil
}

// ambiguous reports whether a null that stands for a property left out may be that of one
// alternative or of another.
func ambiguous(alternatives []*node) bool {
	for _, kind := range []string{"object", "array"} {
		admit := slices.DeleteFunc(slices.Clone(alternatives), func(n *node) bool { return !n.admits(kind) })
		if len(admit) > 1 && slices.ContainsFunc(admit, (*node).leavesOut) {
			return true
		}
	}
	return false
}

// leavesOut reports whether there is an optional property anywhere below.
func (n *node) leavesOut() bool {
	return slices.ContainsFunc(n.anyOf, (*node).leavesOut) || n.items != nil && n.items.leavesOut() ||
		slices.ContainsFunc(n.properties, func(p property) bool { return !slices.Contains(n.required, p.name) || p.leavesOut() })
}

// typesOf are the types of the values that a schema lists.
func typesOf(n *node) (types []string) {
	values := n.enum
	if n.constant != nil {
		values = []any{*n.constant}
	}
	for _, v := range values {
		if t := typeOf(v); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "null"
}

// admits reports whether values of a type are allowed by the schema itself.
func (n *node) admits(kind string) bool {
	return slices.Contains(n.types, kind) || slices.ContainsFunc(n.anyOf, func(a *node) bool { return a.admits(kind) })
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

// describe is the description with what the API is told in words behind it.
func (n *node) describe(null bool) string {
	d, notes := n.description, n.notes
	if d == "" {
		d = n.title
	}
	if null {
		notes = append(slices.Clip(notes), "null to leave it out")
	}
	if len(notes) == 0 {
		return d
	}
	said := strings.Join(notes, "; ") + "."
	said = strings.ToUpper(said[:1]) + said[1:]
	if d = strings.TrimRight(d, " \n"); d == "" {
		return said
	}
	if !strings.HasSuffix(d, ".") {
		d += "."
	}
	return d + " " + said
}
