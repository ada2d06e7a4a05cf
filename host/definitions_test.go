package host_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// takes is a tool with a schema, strict as far as it can be.
func takes(name, schema string, change ...func(*abi.Tool)) host.NativeTool {
	contract := abi.Tool{Name: name, Summary: "Takes things", InputSchema: schema, Strict: true, ReadOnly: abi.TraitTrue}
	for _, c := range change {
		c(&contract)
	}
	return host.NativeTool{Contract: contract, Run: func(context.Context, *host.Call) (abi.ToolResult, error) {
		return abi.ToolResult{}, nil
	}}
}

// exampleTools are those of the plugins that strangers are shown.
func exampleTools(t *testing.T) (list []host.NativeTool) {
	t.Helper()
	files, err := filepath.Glob("../plugin-examples/*/plugin.toml")
	must(t, err)
	for _, file := range files {
		src, err := os.ReadFile(file)
		must(t, err)
		m, err := plugins.ParseManifest(file, src, func(*abi.Manifest) ([]byte, error) { return nil, nil })
		if err != nil {
			continue // its schema is in the module
		}
		for _, tool := range m.Tools {
			list = append(list, takes(tool.Name, tool.InputSchema, func(c *abi.Tool) { c.InputExamples = tool.InputExamples }))
		}
	}
	if len(list) < 3 {
		t.Fatalf("the examples have %d tools with a schema", len(list))
	}
	return list
}

// schemas makes up schemas, as wild as authors.
type schemas struct{ *rand.Rand }

func (g schemas) any(depth int) doc {
	s := doc{}
	leaf := []func(){
		func() { s["type"], s["minLength"], s["pattern"] = "string", g.IntN(3), `^\w{2,9}$` },
		func() { s["type"], s["maxLength"], s["default"] = "string", 9, "x" },
		func() { s["type"], s["format"] = "string", []string{"date", "uri-template", "uuid"}[g.IntN(3)] },
		func() { s["type"], s["minimum"], s["exclusiveMaximum"] = "integer", -1, 1e9 },
		func() { s["type"], s["multipleOf"] = []string{"number", "null"}, 0.5 },
		func() { s["enum"] = []any{"a", "b", nil, 1}[:1+g.IntN(4)] },
		func() { s["enum"] = []any{doc{"a": 1}} },
		func() { s["const"] = "only" },
		func() { s["type"], s["title"], s["examples"] = "boolean", "A title", []any{true} },
		func() { s["$ref"], s["description"] = "#/$defs/leaf", "By reference" },
		func() { s["description"] = "Anything" },
		func() { s["$ref"] = "#" },
	}
	nested := []func(){
		func() { s = g.object(depth - 1) },
		func() { s["type"], s["items"], s["minItems"] = "array", g.any(depth-1), g.IntN(4) },
		func() { s["type"], s["uniqueItems"] = "array", true },
		func() { s["anyOf"] = []any{g.any(depth - 1), doc{"type": "null"}} },
		func() { s["oneOf"] = []any{g.any(depth - 1), g.any(depth - 1)} },
		func() { s["allOf"] = []any{g.any(depth - 1)} },
		func() { s["not"] = g.any(depth - 1) },
	}
	if depth > 0 && g.IntN(2) == 0 {
		nested[g.IntN(len(nested))]()
	} else {
		leaf[g.IntN(len(leaf)-g.IntN(3))]() // the last ones seldom
	}
	return s
}

func (g schemas) object(depth int) doc {
	properties, required := doc{}, []any{}
	for i := range g.IntN(4) {
		name := fmt.Sprintf("p%d", i)
		if properties[name] = g.any(depth); g.IntN(2) == 0 {
			required = append(required, name)
		}
	}
	s := doc{"type": "object", "properties": properties, "required": required}
	if g.IntN(3) > 0 {
		s["additionalProperties"] = g.IntN(8) == 0
	}
	return s
}

// tools are so many with schemas that the host takes.
func (g schemas) tools(n int) (list []host.NativeTool) {
	for len(list) < n {
		root := g.object(1 + g.IntN(12))
		root["$defs"] = doc{"leaf": doc{"type": "string", "maxLength": 3}}
		if g.IntN(10) == 0 {
			root["anyOf"] = []any{doc{"required": []any{}}}
		}
		text := asJSON(root)
		if _, err := plugins.CompileSchema("T", text); err == nil {
			list = append(list, takes(fmt.Sprintf("T%03d", len(list)), text))
		}
	}
	return list
}

// TestDefinitionsAreTaken holds the definitions of every format to what the APIs publish:
// of the built-in tools, the examples, and schemas made up.
func TestDefinitionsAreTaken(t *testing.T) {
	t.Parallel()
	g := schemas{rand.New(rand.NewPCG(1, 2))}
	native := append(exampleTools(t), g.tools(150)...)
	for _, asked := range []bool{false, true} {
		offer := host.ToolsetOptions{Defer: host.DeferNever, Strict: asked, Examples: asked}
		boxed := session(t, open(t, host.Options{Builtins: true, Shell: &host.Shell{}, Model: host.ModelOptions{Toolset: offer}}), host.SessionOptions{})
		strange := session(t, open(t, host.Options{Tools: native, Model: host.ModelOptions{Toolset: offer}}), host.SessionOptions{})
		for _, format := range host.Formats() {
			for name, s := range map[string]*host.Session{"built in": boxed, "made up": strange} {
				list := definitions(t, s, format)
				faults, strict := faultsOf(format, list)
				for _, fault := range faults {
					t.Errorf("%s, %s, asked %v: %s", format, name, asked, fault)
				}
				can := format == host.FormatAnthropic || format == host.FormatOpenAI || format == host.FormatResponses
				if want := asked && can; (len(strict) > 0) != want {
					t.Errorf("%s, %s, asked %v: strict are %d", format, name, asked, len(strict))
				}
				if got := strings.Contains(list, "notes/todo.md"); name == "built in" && got != asked {
					t.Errorf("%s, asked %v: there are examples: %v", format, asked, got)
				}
			}
		}
	}
}

// TestExamplesFit has an API that checks examples get those alone that fit the schema that
// it is given: a strict one takes no further properties.
func TestExamplesFit(t *testing.T) {
	t.Parallel()
	loose := takes("T", `{"type":"object","properties":{"a":{"type":"string"}}}`, func(c *abi.Tool) {
		c.InputExamples = []string{`{"a": "x", "b": 1}`, `{"a": "fits"}`, `{"a": 3}`}
	})
	for strict, want := range map[bool]string{true: `"input_examples":[{"a":"fits"}]`, false: `"input_examples":[{"a":"x","b":1},{"a":"fits"}]`} {
		s := session(t, open(t, host.Options{Tools: []host.NativeTool{loose}, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Strict: strict, Examples: true}}}), host.SessionOptions{})
		list := definitions(t, s, host.FormatAnthropic)
		if faults, _ := faultsOf(host.FormatAnthropic, list); faults != nil || !strings.Contains(list, want) {
			t.Errorf("strict %v: %q\n%s", strict, faults, list)
		}
	}
}

// TestStrictTakesWhatTheToolTakes has the examples of built-in tools fit the strict
// schemas, with a null for what they leave out, and come back as they were.
func TestStrictTakesWhatTheToolTakes(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true, Shell: &host.Shell{}, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Strict: true}}})
	s := session(t, h, host.SessionOptions{})
	checked := 0
	for _, format := range []host.Format{host.FormatAnthropic, host.FormatOpenAI} {
		_, strict := faultsOf(format, definitions(t, s, format))
		for name, schema := range strict {
			compiled, err := plugins.CompileSchema(name, asJSON(schema))
			must(t, err)
			tool, ok := h.Plugins().Tool(name)
			if !ok {
				t.Fatalf("there is no %s", name)
			}
			for _, example := range tool.InputExamples {
				var input doc
				must(t, json.Unmarshal([]byte(example), &input))
				want, err := abi.Canonical([]byte(example))
				must(t, err)
				if format == host.FormatOpenAI {
					properties, _ := schema["properties"].(doc)
					for key := range maps.Keys(properties) {
						if _, has := input[key]; !has {
							input[key] = nil
						}
					}
				}
				if err := compiled.Validate(json.RawMessage(asJSON(input))); err != nil {
					t.Errorf("%s, %s: %v", format, name, err)
				}
				sent, err := abi.Canonical([]byte(asJSON(input)))
				must(t, err)
				if got, err := tool.Accept(sent); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s: got %s, %v\nwant %s", format, name, got, err, want)
				}
				checked++
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d examples were looked at", checked)
	}
}

// made is a value that a strict schema allows, null where it can be.
func made(s doc) any {
	if listed, ok := s["enum"].([]any); ok {
		return listed[len(listed)-1]
	}
	if constant, ok := s["const"]; ok {
		return constant
	}
	if list, ok := s["anyOf"].([]any); ok {
		last, _ := list[len(list)-1].(doc)
		return made(last)
	}
	kind := s["type"]
	if list, ok := kind.([]any); ok {
		kind = list[len(list)-1]
	}
	switch kind {
	case "object":
		out := doc{}
		properties, _ := s["properties"].(doc)
		for key, v := range properties {
			under, _ := v.(doc)
			out[key] = made(under)
		}
		return out
	case "array":
		items, _ := s["items"].(doc)
		return []any{made(items), made(items), made(items)}
	case "string":
		format, _ := s["format"].(string)
		return cmp.Or(map[string]string{"date": "2026-01-02", "uuid": "01234567-89ab-cdef-0123-456789abcdef"}[format], "aa")
	case "boolean":
		return true
	case "null":
		return nil
	}
	return 1
}

// TestNullsComeBack has tools take what a model that is held to their strict schemas
// sends, with a null for each property that it leaves out.
func TestNullsComeBack(t *testing.T) {
	t.Parallel()
	g := schemas{rand.New(rand.NewPCG(3, 4))}
	tools := slices.DeleteFunc(g.tools(300), func(n host.NativeTool) bool { return strings.Contains(n.Contract.InputSchema, "oneOf") })
	s := session(t, open(t, host.Options{Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Strict: true}}}), host.SessionOptions{})
	_, strict := faultsOf(host.FormatOpenAI, definitions(t, s, host.FormatOpenAI))
	nulls := 0
	for name, schema := range strict {
		input := asJSON(made(schema))
		nulls += strings.Count(input, "null")
		if r, _ := one(t, s, name, input); r.IsError {
			t.Errorf("%s\n%s\n%s", r.Text(), input, asJSON(schema))
		}
	}
	if len(strict) < 50 || nulls < 50 {
		t.Errorf("there were %d tools and %d nulls", len(strict), nulls)
	}
}

// TestStrictBudget has no more strict tools than the API takes, those first that a model
// always has, and the same where more come behind them.
func TestStrictBudget(t *testing.T) {
	t.Parallel()
	optional := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`
	names := func(tools ...host.NativeTool) string {
		o := host.Options{Builtins: true, Shell: &host.Shell{}, Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Strict: true, Defer: host.DeferNever}}}
		_, strict := faultsOf(host.FormatAnthropic, definitions(t, session(t, open(t, o), host.SessionOptions{}), host.FormatAnthropic))
		return strings.Join(slices.Sorted(maps.Keys(strict)), " ")
	}
	alone := names()
	if !strings.Contains(alone, "Bash") || !strings.Contains(alone, "Read") || strings.Contains(alone, "Grep") {
		t.Errorf("strict are %s; Grep has 13 optional properties, so that it comes last", alone)
	}
	var more []host.NativeTool
	for i := range 30 {
		more = append(more, takes(fmt.Sprintf("N%02d", i), `{"type":"object","properties":{}}`), takes(fmt.Sprintf("O%02d", i), optional))
	}
	got := names(more...)
	for name := range strings.FieldsSeq(alone) {
		if !slices.Contains(strings.Fields(got), name) {
			t.Errorf("%s is not strict where there are other tools: %s", name, got)
		}
	}
	if n := len(strings.Fields(got)); n != 19 { // the room for ToolSearch is kept
		t.Errorf("%d tools are strict: %s", n, got)
	}
}

// TestDefinitionsGolden writes down what each API is sent.
func TestDefinitionsGolden(t *testing.T) {
	t.Parallel()
	many := takes("Many", `{
		"type": "object",
		"properties": {
			"path": {"type": "string", "minLength": 1, "description": "The file"},
			"kind": {"enum": ["a", "b"], "default": "a"},
			"count": {"$ref": "#/$defs/count", "description": "How many."},
			"when": {"type": "string", "format": "date"},
			"at": {"type": "string", "pattern": "^x"},
			"edits": {"type": "array", "minItems": 1, "maxItems": 5, "items": {
				"type": "object", "properties": {"old": {"type": "string"}, "line": {"type": ["integer", "null"], "minimum": 1}}, "required": ["old"]}},
			"either": {"oneOf": [{"type": "string"}, {"type": "integer", "maximum": 9}]}
		},
		"required": ["path", "edits"],
		"$defs": {"count": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2}}
	}`, func(c *abi.Tool) {
		c.Description, c.Display, c.OutputSchema = "Does many things.", "Many things", `{"type": "object"}`
		c.ReadOnly, c.Destructive = abi.TraitFalse, abi.TraitTrue
		c.InputExamples = []string{`{"path": "<a>", "edits": [{"old": "x"}]}`}
	})
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		many,
		takes("Open", `{"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}`),
		takes("Tree", `{"type": "object", "properties": {"under": {"$ref": "#"}}}`),
	}, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Strict: true, Examples: true}}}), host.SessionOptions{})
	for _, format := range host.Formats() {
		list := definitions(t, s, format)
		var pretty bytes.Buffer
		must(t, json.Indent(&pretty, []byte(list), "", "  "))
		golden(t, "definitions-"+string(format)+".golden", pretty.String()+"\n")
		if faults, _ := faultsOf(format, list); faults != nil {
			t.Errorf("%s: %q", format, faults)
		}
	}
}

func TestToolChoice(t *testing.T) {
	t.Parallel()
	tools := []host.NativeTool{echo("A"), echo("Late", deferred)}
	s := session(t, open(t, host.Options{Builtins: true, Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{
		Defer: host.DeferAlways, Only: []string{"A", "Late", "ToolSearch"},
	}}}), host.SessionOptions{})
	for text, want := range map[string]map[host.Format]string{
		"":          {host.FormatAnthropic: `}]}`, host.FormatGemini: `}]}`, host.FormatMCP: `}]}`},
		"auto":      {host.FormatAnthropic: `,"tool_choice":{"type":"auto"}}`, host.FormatOpenAI: `,"tool_choice":"auto"}`, host.FormatResponses: `,"tool_choice":"auto"}`, host.FormatGemini: `,"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}`, host.FormatMCP: "has no tool choice"},
		"any":       {host.FormatAnthropic: `,"tool_choice":{"type":"any"}}`, host.FormatOpenAI: `,"tool_choice":"required"}`, host.FormatResponses: `,"tool_choice":"required"}`, host.FormatGemini: `{"mode":"ANY"}}}`},
		"none":      {host.FormatAnthropic: `,"tool_choice":{"type":"none"}}`, host.FormatOpenAI: `,"tool_choice":"none"}`, host.FormatResponses: `,"tool_choice":"none"}`, host.FormatGemini: `{"mode":"NONE"}}}`},
		"tool:A":    {host.FormatAnthropic: `,"tool_choice":{"type":"tool","name":"A"}}`, host.FormatOpenAI: `,"tool_choice":{"type":"function","function":{"name":"A"}}}`, host.FormatResponses: `,"tool_choice":{"type":"function","name":"A"}}`, host.FormatGemini: `{"mode":"ANY","allowedFunctionNames":["A"]}}}`},
		"tool:Late": {host.FormatAnthropic: `"Late", which is not offered; there are ToolSearch, A`},
		"tool:No":   {host.FormatOpenAI: `"No", which is not offered`},
	} {
		choice, err := host.ParseToolChoice(text)
		must(t, err)
		for format, want := range want {
			got, err := s.Request(format, choice)
			if err != nil {
				got = []byte(err.Error())
			}
			if !strings.HasSuffix(string(got), want) && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q, %s: got %s\nwant %s", text, format, got, want)
			}
			if list := definitions(t, s, format); err == nil && !strings.HasPrefix(string(got), `{"tools":`+list) {
				t.Errorf("%q, %s: the tools are others: %s\n%s", text, format, got, list)
			}
		}
	}
	one(t, s, "ToolSearch", `{"query":"select:Late"}`)
	if got, err := s.Request(host.FormatOpenAI, host.ToolChoice{Type: host.ChooseTool, Name: "Late"}); err != nil || !strings.Contains(string(got), `"name":"Late","description"`) {
		t.Errorf("loaded: got %s, %v", got, err)
	}
	for _, text := range []string{"some", "tool:", "tool", "Any"} {
		if _, err := host.ParseToolChoice(text); err == nil {
			t.Errorf("the choice %q was taken", text)
		}
	}
	empty := session(t, open(t, host.Options{}), host.SessionOptions{})
	if _, err := empty.Request(host.FormatAnthropic, host.ToolChoice{Type: host.ChooseAny}); err == nil {
		t.Error("a model is to call one of no tools")
	}
	for _, format := range []host.Format{host.FormatAnthropic, host.FormatOpenAI, host.FormatResponses, host.FormatGemini} {
		if got, err := empty.Request(format, host.ToolChoice{Type: host.ChooseAuto}); err != nil || string(got) != "{}" {
			t.Errorf("%s: no tools are offered as %s, %v", format, got, err)
		}
	}
	if _, err := s.Request(host.FormatOpenAI, host.ToolChoice{Type: "required"}); err == nil {
		t.Error("a choice that there is not was taken")
	}
	held := session(t, open(t, host.Options{Tools: tools[:1], Model: host.ModelOptions{Toolset: host.ToolsetOptions{Strict: true}}}), host.SessionOptions{})
	if got, err := held.Request(host.FormatGemini, host.ToolChoice{}); err != nil || !strings.Contains(string(got), `{"mode":"VALIDATED"}`) {
		t.Errorf("got %s, %v", got, err)
	}
}
