package host_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// What the APIs publish of the tools that they take, written down from their
// documentation and from nothing here. An API refuses a whole request for one fault.

type (
	doc      = map[string]any
	apiRules struct{ faults []string }
)

func (r *apiRules) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// keys holds an object to the keys that an API knows.
func (r *apiRules) keys(place string, o doc, known string) {
	for key := range o {
		if !slices.Contains(strings.Fields(known), key) {
			r.fault("%s: unknown key %s", place, key)
		}
	}
}

var (
	commonName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	geminiName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
)

// faultsOf are the faults of a list of tools in a format, and its strict tools by name.
func faultsOf(format host.Format, list string) (faults []string, strict map[string]doc) {
	r, strict := &apiRules{}, make(map[string]doc)
	var tools []doc
	if err := json.Unmarshal([]byte(list), &tools); err != nil {
		return []string{err.Error()}, nil
	}
	budget := &strictBudget{}
	for _, t := range tools {
		switch format {
		case host.FormatAnthropic:
			r.anthropic(t, budget, strict)
		case host.FormatOpenAI:
			r.keys("tool", t, "type function")
			f, _ := t["function"].(doc)
			r.keys("function", f, "name description parameters strict")
			r.openAI(f, strict)
		case host.FormatResponses:
			r.keys("tool", t, "type name description parameters strict")
			if _, says := t["strict"].(bool); !says || t["type"] != "function" {
				r.fault("%v: strict is the default where it is not said", t["name"])
			}
			r.openAI(t, strict)
		case host.FormatGemini:
			r.keys("tool", t, "functionDeclarations")
			declared, _ := t["functionDeclarations"].([]any)
			for _, d := range declared {
				f, _ := d.(doc)
				r.keys("declaration", f, "name description parametersJsonSchema")
				r.plain(f, geminiName, "parametersJsonSchema", "")
			}
		case host.FormatMCP:
			r.keys("tool", t, "name title description inputSchema outputSchema annotations icons")
			r.plain(t, commonName, "inputSchema", "")
			hints, _ := t["annotations"].(doc)
			r.keys("annotations", hints, "title readOnlyHint destructiveHint idempotentHint openWorldHint")
			if out, has := t["outputSchema"].(doc); has && out["type"] != "object" {
				r.fault("%v: the output schema is no object", t["name"])
			}
		}
	}
	if budget.tools > 20 || budget.optional > 24 || budget.unions > 16 {
		r.fault("too much that is strict: %+v", *budget)
	}
	return r.faults, strict
}

// plain holds a tool to what is asked of any.
func (r *apiRules) plain(t doc, name *regexp.Regexp, schema, notAtRoot string) doc {
	text, _ := t["name"].(string)
	if !name.MatchString(text) {
		r.fault("the name %q", text)
	}
	root, _ := t[schema].(doc)
	if root["type"] != "object" {
		r.fault("%s: the root is no object", text)
	}
	for key := range strings.FieldsSeq(notAtRoot) {
		if _, has := root[key]; has {
			r.fault("%s: %s at the root", text, key)
		}
	}
	return root
}

// strictBudget is counted over all strict tools of a request.
type strictBudget struct{ tools, optional, unions int }

func (r *apiRules) anthropic(t doc, budget *strictBudget, strict map[string]doc) {
	r.keys("tool", t, "name description input_schema input_examples strict defer_loading")
	root := r.plain(t, commonName, "input_schema", "anyOf oneOf allOf")
	name, _ := t["name"].(string)
	compiled, err := plugins.CompileSchema("T", asJSON(root))
	if err != nil {
		r.fault("%s: %v", name, err)
		return
	}
	examples, _ := t["input_examples"].([]any)
	for _, e := range examples {
		if err := compiled.Validate(json.RawMessage(asJSON(e))); err != nil {
			r.fault("%s: the example %v: %v", name, e, err)
		}
	}
	if t["strict"] != true {
		return
	}
	budget.tools++
	strict[name] = root
	r.walk(name, root, func(place string, s doc) {
		r.keys(place, s, "type description enum const anyOf $ref $defs properties required additionalProperties items minItems default format")
		if n, has := s["minItems"]; has && n != 0.0 && n != 1.0 {
			r.fault("%s: minItems %v", place, n)
		}
		r.values(place, s)
		properties, closed := r.closed(place, s)
		budget.optional += len(properties) - len(closed)
		if _, several := s["type"].([]any); several || s["anyOf"] != nil {
			budget.unions++
		}
	})
}

func (r *apiRules) openAI(t doc, strict map[string]doc) {
	root := r.plain(t, commonName, "parameters", "anyOf oneOf allOf not enum")
	if t["strict"] != true {
		return
	}
	name, _ := t["name"].(string)
	strict[name] = root
	count := 0
	r.walk(name, root, func(place string, s doc) {
		// Bounds are for newer models; default and lengths are for none.
		r.keys(place, s, "type description enum const anyOf $ref $defs properties required additionalProperties items format")
		r.values(place, s)
		properties, required := r.closed(place, s)
		if count += len(properties); len(properties) != len(required) || count > 5000 {
			r.fault("%s: %d of %d properties are required", place, len(required), len(properties))
		}
		if strings.Count(place, "/") >= 10 {
			r.fault("%s: too deep", place)
		}
		if s["type"] == nil && s["anyOf"] == nil || s["type"] == "array" && s["items"] == nil {
			r.fault("%s: the type is not said", place)
		}
	})
}

// walk visits all schemas. Those that refer to themselves would never end.
func (r *apiRules) walk(place string, s doc, visit func(string, doc)) {
	if strings.Count(place, "/") > 40 {
		r.fault("%s: it does not end", place)
		return
	}
	visit(place, s)
	under := func(key string, v any) {
		schema, ok := v.(doc)
		if !ok {
			r.fault("%s: %s is no schema", place, key)
			return
		}
		r.walk(place+"/"+key, schema, visit)
	}
	properties, _ := s["properties"].(doc)
	for key, v := range properties {
		under(key, v)
	}
	if items, has := s["items"]; has {
		under("items", items)
	}
	alternatives, _ := s["anyOf"].([]any)
	for _, v := range alternatives {
		under("anyOf", v)
	}
}

// values holds types, listed values and formats to those that there are.
func (r *apiRules) values(place string, s doc) {
	listed, _ := s["enum"].([]any)
	if constant, has := s["const"]; has {
		listed = append(listed, constant)
	}
	for _, v := range listed {
		switch v.(type) {
		case doc, []any:
			r.fault("%s: the value %v", place, v)
		}
	}
	types, several := s["type"].([]any)
	if !several && s["type"] != nil {
		types = []any{s["type"]}
	}
	for _, t := range types {
		name, _ := t.(string)
		if !slices.Contains(strings.Fields("object array string integer number boolean null"), name) {
			r.fault("%s: the type %v", place, t)
		}
	}
	format, has := s["format"].(string)
	if has && !slices.Contains(strings.Fields("date-time time date duration email hostname ipv4 ipv6 uuid"), format) {
		r.fault("%s: the format %s", place, format)
	}
}

// closed holds an object to its properties.
func (r *apiRules) closed(place string, s doc) (properties doc, required []any) {
	types, _ := s["type"].([]any)
	if s["type"] != "object" && !slices.Contains(types, any("object")) {
		return nil, nil
	}
	if s["additionalProperties"] != false {
		r.fault("%s: it is open", place)
	}
	properties, _ = s["properties"].(doc)
	required, _ = s["required"].([]any)
	for _, name := range required {
		if text, _ := name.(string); properties[text] == nil {
			r.fault("%s: %v is required and not there", place, name)
		}
	}
	return properties, required
}

func asJSON(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}
