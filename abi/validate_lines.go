package abi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// validateLines checks the templates of a tool: their form, and that its schemas have what
// they name.
func (t *Tool) validateLines(v *validator, abi string) {
	if t.Renders && abi == ABIExtism {
		v.at("renders").fault("an Extism module cannot be asked about an input; write the lines into the manifest")
	}
	if t.Lines.IsZero() && t.ClassifierText == "" {
		return
	}
	in, out := schemaNode(t.InputSchema), schemaNode(t.OutputSchema)
	for _, kind := range LineKinds {
		c := templateCheck{tool: t.Name, names: kind.Names(), input: in, output: out}
		c.check(v.at("lines.%s", kind), t.Lines.Line(kind), false)
	}
	c := templateCheck{tool: t.Name, input: in, output: out}
	c.check(v.at("classifier_text"), t.ClassifierText, true)
}

// schemaNode is a schema to be looked into; nil is one that says nothing.
func schemaNode(text string) *node {
	var root json.RawMessage
	if json.Unmarshal([]byte(text), &root) != nil {
		return nil
	}
	return &node{root: root, at: root, read: make(map[*byte]*schemaKeys)}
}

// templateCheck is what a template of one kind is held against.
type templateCheck struct {
	tool          string
	names         []string
	input, output *node
}

// check adds what is wrong with a template.
func (c *templateCheck) check(v *validator, text string, breaks bool) {
	if text == "" {
		return
	}
	shown(v, text, MaxTemplate, breaks)
	template, err := ParseTemplate(text)
	if err != nil {
		v.fault("the tool %s: %v", c.tool, err)
		return
	}
	template.Placeholders(func(p *Placeholder) {
		if problem := c.problem(p); problem != "" {
			v.fault("the tool %s: the placeholder %s at byte %d: %s", c.tool, p, p.At, problem)
		}
	})
}

// maxNamed bounds how many properties a fault names.
const maxNamed = 20

// problem says what is wrong with where a placeholder leads, or is empty.
func (c *templateCheck) problem(p *Placeholder) string {
	path, where, schema := p.Path, "the input schema", c.input
	switch name := path[0]; {
	case slices.Contains(c.names, name) && name == NameResult:
		if len(path) == 1 {
			return "write which field of the structured content, such as {result.count}"
		}
		path, where, schema = path[1:], "the output schema", c.output
	case slices.Contains(c.names, name):
		if len(path) > 1 {
			return fmt.Sprintf("{%s} has no fields", name)
		}
		return ""
	case name == NameInput && len(path) > 1:
		path = path[1:]
	}
	missing, known := schema.find(path)
	if missing == "" {
		return ""
	}
	problem := fmt.Sprintf("%s has no property %q", where, missing)
	if len(known) > 0 {
		problem += "; it has " + strings.Join(known[:min(len(known), maxNamed)], ", ")
	}
	if more := len(known) - maxNamed; more > 0 {
		problem += fmt.Sprintf(" and %d more", more)
	}
	switch kinds := kindsWith(path[0]); {
	case len(path) < len(p.Path):
	case len(kinds) > 0:
		problem += fmt.Sprintf("; {%s} is for the lines %s", path[0], strings.Join(kinds, ", "))
	case len(c.names) > 0:
		problem += "; this line has besides: " + strings.Join(c.names, ", ")
	}
	return problem
}

// kindsWith are the lines that have a name.
func kindsWith(name string) []string {
	var out []string
	for _, kind := range LineKinds {
		if slices.Contains(kind.Names(), name) {
			out = append(out, string(kind))
		}
	}
	return out
}

// node is a part of a JSON Schema.
type node struct {
	root, at json.RawMessage
	// read are the keywords of the parts that were looked at, nil of one without any: templates can
	// lead to one part hundreds of times.
	read map[*byte]*schemaKeys
}

// schemaKeys are the keywords that a path is followed by.
type schemaKeys struct {
	Ref        string                     `json:"$ref"`
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
	names      []string
}

// sorted are the names of the properties, which faults name again and again.
func (k *schemaKeys) sorted() []string {
	if k.names == nil {
		k.names = slices.Sorted(maps.Keys(k.Properties))
	}
	return k.names
}

// find follows a path through a schema. It returns the name that is not there, with those
// that are, and nothing where the schema leaves open what there is.
func (n *node) find(path []string) (missing string, known []string) {
	if n == nil {
		return "", nil
	}
	for _, name := range path {
		keys := n.keys()
		if keys == nil {
			return "", nil
		}
		var next json.RawMessage
		if _, err := strconv.Atoi(name); err == nil && keys.Properties == nil {
			next = keys.Items
		} else if keys.Properties == nil {
			return "", nil
		} else if part, ok := keys.Properties[name]; ok {
			next = part
		} else {
			return name, keys.sorted()
		}
		n = &node{root: n.root, at: next, read: n.read}
	}
	return "", nil
}

// maxRefs bounds how many references are followed at one place.
const maxRefs = 8

// keys are the keywords at a place, behind references into the schema itself; nil is none.
func (n *node) keys() *schemaKeys {
	if len(n.at) == 0 {
		return nil
	}
	keys, known := n.read[&n.at[0]]
	if !known {
		keys = n.follow()
		n.read[&n.at[0]] = keys
	}
	return keys
}

func (n *node) follow() *schemaKeys {
	at := n.at
	for range maxRefs {
		keys := new(schemaKeys)
		if len(at) == 0 || json.Unmarshal(at, keys) != nil {
			return nil
		}
		if keys.Ref == "" || keys.Properties != nil {
			return keys
		}
		rest, local := strings.CutPrefix(keys.Ref, "#/")
		if !local {
			return nil
		}
		at = n.root
		for name := range strings.SplitSeq(rest, "/") {
			var members map[string]json.RawMessage
			if json.Unmarshal(at, &members) != nil {
				return nil
			}
			at = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
	}
	return nil
}
