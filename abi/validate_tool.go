package abi

import (
	"encoding/json"
	"slices"
	"strings"
)

func (m *Manifest) validateTools(v *validator) {
	if len(m.Tools) == 0 {
		v.at("tools").fault("a plugin offers at least one tool; write a [[tools]] table")
	}
	if len(m.Tools) > MaxTools {
		v.at("tools").fault("%d are over the limit of %d", len(m.Tools), MaxTools)
		return
	}
	seen := map[string]string{}
	for i := range m.Tools {
		t, v := &m.Tools[i], v.at("tools[%d]", i)
		tool(v.at("name"), t.Name, seen)
		for j, a := range t.Aliases {
			tool(v.at("aliases[%d]", j), a, seen)
		}
		t.validateTexts(v)
		t.validateTraits(v, m.ABI)
		t.validateLocks(v.at("locks"), m)
		t.validateSchemas(v)
		t.validateLines(v, m.ABI)
		t.validateCapabilities(v, m)
	}
}

func tool(v *validator, name string, seen map[string]string) {
	switch {
	case !toolName().MatchString(name):
		v.fault("%q is not a tool name; write a letter, then letters, digits, underscores or hyphens, at most 64 in all", name)
	case strings.HasPrefix(strings.ToLower(name), "mcp__"):
		v.fault("%q begins with mcp__, which is kept for tools of MCP servers", name)
	}
	unique(v, seen, name)
}

func (t *Tool) validateTexts(v *validator) {
	line(v.at("summary"), t.Summary, MaxSummary)
	lines(v.at("description"), t.Description, MaxDescription)
	line(v.at("search_hint"), t.SearchHint, MaxSummary)
	line(v.at("display"), t.Display, MaxSummary)
}

func (t *Tool) validateTraits(v *validator, abi string) {
	oneOf(v.at("read_only"), t.ReadOnly, TraitTrue, TraitFalse, TraitDerived, TraitInput)
	oneOf(v.at("concurrency_safe"), t.ConcurrencySafe, TraitTrue, TraitFalse, TraitDerived, TraitInput)
	oneOf(v.at("destructive"), t.Destructive, TraitTrue, TraitFalse, TraitDerived, TraitInput)
	oneOf(v.at("enabled"), t.Enabled, TraitTrue, TraitFalse, TraitInput)
	oneOf(v.at("interrupt"), t.Interrupt, InterruptCancel, InterruptBlock)
	oneOf(v.at("activity"), t.Activity, ActivitySearch, ActivityRead, ActivityOther)
	if t.ReadOnly == TraitTrue && t.Destructive == TraitTrue {
		v.at("destructive").fault("a tool that is read_only destroys nothing; leave out one of the two")
	}
	if t.MaxResultChars < 0 {
		v.at("max_result_chars").fault("%d is negative; leave it out for the default of %d", t.MaxResultChars, DefaultMaxResultChars)
	}
	if t.Unlimited && t.MaxResultChars > 0 {
		v.at("unlimited_result").fault("max_result_chars sets a bound too; leave out one of the two")
	}
	if t.Defer && t.AlwaysLoad {
		v.at("always_load").fault("defer says the opposite; leave out one of the two")
	}
	if abi != ABIExtism {
		if t.Export != "" {
			v.at("export").fault("only for abi = %q; a direct plugin exports %s", ABIExtism, ExportCall)
		}
		if t.Input != "" {
			v.at("input").fault("only for abi = %q; a direct plugin gets the whole input", ABIExtism)
		}
		if t.Output != "" {
			v.at("output").fault("only for abi = %q; a direct plugin says in its answer what it is", ABIExtism)
		}
		return
	}
	oneOf(v.at("output"), t.Output, OutputText, OutputJSON, OutputMCP)
	if t.Output == OutputText && t.OutputSchema != "" {
		v.at("output").fault("the tool has an output schema, which text does not fit; write %q, or leave out output_schema", OutputJSON)
	}
	if t.Export != "" && !exportName().MatchString(t.Export) {
		v.at("export").fault("%q is not the name of an export", t.Export)
	}
	if t.AsksTraits() || t.Validates || t.Checks {
		v.fault("an Extism module cannot be asked about an input; traits must be true, false or derived, and validates and checks left out")
	}
}

func (t *Tool) validateLocks(v *validator, m *Manifest) {
	oneOf(v, t.Locks, LocksFields, LocksInput)
	isPath := func(f Field) bool { return f.Kind == FieldPath }
	switch {
	case t.Locks == "":
	case t.Locks == LocksFields && !slices.ContainsFunc(t.Fields, isPath):
		v.fault("%q are fields of kind = %q with their effect, and the tool has none; add them, or leave locks out", LocksFields, FieldPath)
	case t.Locks == LocksInput && m.ABI == ABIExtism:
		v.fault("an Extism module cannot be asked about an input; write %q, or leave locks out", LocksFields)
	case t.mayUse(m, CapSessionCwd):
		v.fault("a tool that may change the session's working directory touches more than files; leave locks out, or take %s from the tool's capabilities", CapSessionCwd)
	}
}

// mayUse reports whether a tool of the manifest has a capability.
func (t *Tool) mayUse(m *Manifest, name string) bool {
	return t.Uses(name) && slices.ContainsFunc(m.Capabilities, func(c CapabilityClaim) bool { return c.Name == name })
}

func (t *Tool) validateSchemas(v *validator) {
	input := schema(v.at("input_schema"), t.InputSchema)
	schema(v.at("output_schema"), t.OutputSchema)
	if len(t.InputExamples) > maxExamples {
		v.at("input_examples").fault("there are %d; a tool has at most %d", len(t.InputExamples), maxExamples)
	}
	for i, e := range t.InputExamples {
		objectOf(v.at("input_examples[%d]", i), e)
	}
	known := func(v *validator, name string) {
		if input != nil && name != "" && !slices.Contains(input, name) {
			v.fault("the input schema has no property %q", name)
		}
	}
	for i, r := range t.Renames {
		v := v.at("renames[%d]", i)
		r.validate(v, append([]string{t.Name}, t.Aliases...))
		known(v.at("to"), r.To)
	}
	seen := map[string]string{}
	for i, f := range t.Fields {
		v := v.at("fields[%d]", i)
		f.validate(v)
		unique(v.at("name"), seen, f.Name)
		known(v.at("name"), f.Name)
	}
	line(v.at("title"), t.Title, MaxSummary)
	known(v.at("title"), t.Title)
	known(v.at("input"), t.Input)
}

func (r Rename) validate(v *validator, names []string) {
	if !slices.Contains(names, r.Alias) {
		v.at("alias").fault("%q is neither the tool's name nor one of its aliases", r.Alias)
	}
	field := func(v *validator, name string) {
		line(v, name, MaxSummary)
		if name == "" {
			v.fault("missing; write the name of an input field")
		}
	}
	field(v.at("from"), r.From)
	field(v.at("to"), r.To)
	if r.From == r.To && r.From != "" {
		v.at("to").fault("the field keeps its name; leave the table out")
	}
}

func (f Field) validate(v *validator) {
	line(v.at("name"), f.Name, MaxSummary)
	if f.Name == "" {
		v.at("name").fault("missing; write the name of an input field")
	}
	if f.Kind == "" {
		v.at("kind").fault("missing; write path, command or host")
	}
	oneOf(v.at("kind"), f.Kind, FieldPath, FieldCommand, FieldHost)
	oneOf(v.at("effect"), f.Effect, EffectRead, EffectWrite)
	switch {
	case f.Kind == FieldPath && f.Effect == "":
		v.at("effect").fault("missing; write read or write")
	case f.Kind != FieldPath && f.Effect != "":
		v.at("effect").fault("only for paths")
	}
	line(v.at("default"), f.Default, maxLine)
}

// The values of Field.Effect.
const (
	EffectRead  = "read"
	EffectWrite = "write"
)

func (t *Tool) validateCapabilities(v *validator, m *Manifest) {
	seen := map[string]string{}
	for i, name := range t.Capabilities {
		v := v.at("capabilities[%d]", i)
		capability(v, name)
		unique(v, seen, name)
		if !slices.ContainsFunc(m.Capabilities, func(c CapabilityClaim) bool { return c.Name == name }) {
			v.fault("the plugin does not declare %q; a tool can only narrow what its plugin asks for", name)
		}
	}
}

// schema checks a JSON Schema's form, and returns the names of its properties,
// or nil where it does not list them.
func schema(v *validator, text string) []string {
	if text == "" {
		return nil
	}
	root := objectOf(v, text)
	if root == nil {
		return nil
	}
	if string(root["type"]) != `"object"` {
		v.fault(`the root must have "type": "object"`)
	}
	raw, listed := root["properties"]
	if !listed {
		return nil
	}
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(raw, &properties); err != nil || properties == nil {
		v.fault(`"properties" is no object`)
		return nil
	}
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	return names
}

// objectOf checks that text is a strict JSON object and returns its members.
func objectOf(v *validator, text string) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if err := Unmarshal([]byte(text), &object); err != nil {
		v.fault("no JSON object: %v", err)
		return nil
	}
	if object == nil {
		v.fault("no JSON object but null")
	}
	return object
}
