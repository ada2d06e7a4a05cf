package modelschema

import (
	"encoding/json"
	"slices"
	"strings"
)

// node is what was read of one schema.
type node struct {
	wording

	types              []string
	enum               []any // nil is none
	constant, standard *any  // const and default
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

// wording is what a schema says in words.
type wording struct {
	title, description string
	notes              []string // what no keyword can tell the API
}

// describe is the description, followed by the notes.
func (w *wording) describe(null bool) string {
	d, notes := w.description, w.notes
	if d == "" {
		d = w.title
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

func (w *wording) note(before string, values []any) {
	if len(values) == 0 {
		return
	}
	said := make([]string, len(values))
	for i, v := range values {
		said[i] = text(v)
	}
	w.notes = append(w.notes, before+strings.Join(said, ", "))
}

// leavesOut reports whether there is an optional property anywhere below.
func (n *node) leavesOut() bool {
	return slices.ContainsFunc(n.anyOf, (*node).leavesOut) || n.items != nil && n.items.leavesOut() ||
		slices.ContainsFunc(n.properties, func(p property) bool { return !slices.Contains(n.required, p.name) || p.leavesOut() })
}

// admits reports whether values of a type are allowed by the schema itself.
func (n *node) admits(kind string) bool {
	return slices.Contains(n.types, kind) || slices.ContainsFunc(n.anyOf, func(a *node) bool { return a.admits(kind) })
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
