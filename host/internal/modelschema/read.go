package modelschema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

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

func unfit(format string, args ...any) error {
	return fmt.Errorf("the schema has no strict form: "+format, args...)
}
