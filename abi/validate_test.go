package abi_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

const querySchema = `{"type":"object","properties":{"file":{"type":"string"},"sql":{"type":"string"}},"required":["file"]}`

// sound is a manifest without a fault, with something in every key.
func sound() *abi.Manifest {
	return &abi.Manifest{
		Manifest: 1, Name: "csv-query", Version: "1.2.3-rc.1+build.007", Description: "Queries CSV files.",
		Authors: []string{"A. Nyone <a@example.org>"}, License: "Apache-2.0", Homepage: "https://example.org/csv",
		Icon: "data:image/png;base64,iVBORw0KGgo=",
		ABI:  abi.ABIDirect, Module: "query.wasm", Instance: abi.InstanceKept, Isolation: abi.IsolationProcess,
		Capabilities: []abi.CapabilityClaim{{Name: "fs.read", Scope: []string{"**/*.csv"}, Reason: "to read the tables"}, {Name: "fs.stat"}},
		Limits:       abi.Limits{Memory: 64 << 20, Time: 30e9, Output: 1 << 20, LogLines: 100, CapabilityCalls: 10},
		Config:       []abi.ConfigKey{{Name: "delimiter", Description: "What parts fields.", Default: ";"}, {Name: "token", Required: true}},
		Tools: []abi.Tool{{
			Name: "Query", Aliases: []string{"CsvQuery"}, Summary: "Query a table", Description: "Runs a query.\n\n\tSELECT 1",
			InputSchema: querySchema, OutputSchema: `{"type":"object"}`, InputExamples: []string{`{"file":"a.csv"}`},
			ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitInput, Destructive: abi.TraitFalse, Enabled: abi.TraitInput,
			Interrupt: abi.InterruptBlock, Locks: abi.LocksFields, MaxResultChars: 1000, Defer: true, SearchHint: "tables",
			Fields:   []abi.Field{{Name: "file", Kind: abi.FieldPath, Effect: abi.EffectRead, Default: "."}, {Name: "sql", Kind: abi.FieldCommand}},
			Activity: abi.ActivityRead, Display: "Query", Title: "file", Capabilities: []string{"fs.read"},
		}},
	}
}

func TestSoundManifests(t *testing.T) {
	t.Parallel()
	least := &abi.Manifest{Manifest: 1, Name: "x", Version: "0.0.0", Tools: []abi.Tool{{Name: "X"}}}
	extism := &abi.Manifest{Manifest: 1, Name: "e", Version: "1.0.0", ABI: abi.ABIExtism, Tools: []abi.Tool{{Name: "X", Export: "run"}}}
	for name, m := range map[string]*abi.Manifest{"full": sound(), "least": least, "extism": extism, "with defaults": least.WithDefaults(), "extism with defaults": extism.WithDefaults()} {
		if faults := m.Validate(); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

func TestManifestFaults(t *testing.T) {
	t.Parallel()
	tool := func(f func(*abi.Tool)) func(*abi.Manifest) { return func(m *abi.Manifest) { f(&m.Tools[0]) } }
	for name, c := range map[string]struct {
		corrupt func(*abi.Manifest)
		want    string // the paths of the faults
	}{
		"version":                {func(m *abi.Manifest) { m.Manifest = 2 }, "manifest"},
		"no name":                {func(m *abi.Manifest) { m.Name = "" }, "name"},
		"name in capitals":       {func(m *abi.Manifest) { m.Name = "CSV" }, "name"},
		"name ends in a hyphen":  {func(m *abi.Manifest) { m.Name = "csv-" }, "name"},
		"name over 64":           {func(m *abi.Manifest) { m.Name = strings.Repeat("a", 65) }, "name"},
		"name and a line feed":   {func(m *abi.Manifest) { m.Name = "csv\n" }, "name"},
		"no version":             {func(m *abi.Manifest) { m.Version = "" }, "version"},
		"version of two":         {func(m *abi.Manifest) { m.Version = "1.0" }, "version"},
		"version with zero":      {func(m *abi.Manifest) { m.Version = "1.02.0" }, "version"},
		"pre-release with zero":  {func(m *abi.Manifest) { m.Version = "1.0.0-01" }, "version"},
		"version with v":         {func(m *abi.Manifest) { m.Version = "v1.0.0" }, "version"},
		"bidi in a description":  {func(m *abi.Manifest) { m.Description = "a\u202eb" }, "description"},
		"escape in an author":    {func(m *abi.Manifest) { m.Authors = []string{"x", "\x1b[31m"} }, "authors[1]"},
		"homepage":               {func(m *abi.Manifest) { m.Homepage = "javascript:alert(1)" }, "homepage"},
		"an icon elsewhere":      {func(m *abi.Manifest) { m.Icon = "https://example.org/icon.png" }, "icon"},
		"an icon that is text":   {func(m *abi.Manifest) { m.Icon = "data:text/html;base64,aGk=" }, "icon"},
		"an icon in plain":       {func(m *abi.Manifest) { m.Icon = "data:image/svg+xml,<svg/>" }, "icon"},
		"an icon not in base64":  {func(m *abi.Manifest) { m.Icon = "data:image/png;base64,@@" }, "icon"},
		"an empty icon":          {func(m *abi.Manifest) { m.Icon = "data:image/png;base64," }, "icon"},
		"a large icon":           {func(m *abi.Manifest) { m.Icon = "data:image/png;base64," + strings.Repeat("AAAA", 2048) }, "icon"},
		"abi":                    {func(m *abi.Manifest) { m.ABI = "toolquay:host/2" }, "abi"},
		"module path":            {func(m *abi.Manifest) { m.Module = "../x.wasm" }, "module"},
		"module on a drive":      {func(m *abi.Manifest) { m.Module = "c:x.wasm" }, "module"},
		"module of another kind": {func(m *abi.Manifest) { m.Module = "x.so" }, "module"},
		"requires":               {func(m *abi.Manifest) { m.Requires = []string{"teleport"} }, "requires[0]"},
		"config type":            {func(m *abi.Manifest) { m.Config = []abi.ConfigKey{{Name: "a", Type: "list"}} }, "config[0].type"},
		"config default": {func(m *abi.Manifest) {
			m.Config = []abi.ConfigKey{{Name: "a", Type: abi.ConfigInteger, Default: "ten"}}
		}, "config[0].default"},
		"instance":           {func(m *abi.Manifest) { m.Instance = "pooled" }, "instance"},
		"isolation":          {func(m *abi.Manifest) { m.Isolation = "container" }, "isolation"},
		"capability syntax":  {func(m *abi.Manifest) { m.Capabilities[1].Name = "fs" }, "capabilities[1].name"},
		"capability unknown": {func(m *abi.Manifest) { m.Capabilities[1].Name = "acme.rocket" }, ""},
		"capability twice":   {func(m *abi.Manifest) { m.Capabilities[1].Name = "fs.read" }, "capabilities[1].name"},
		"scope empty":        {func(m *abi.Manifest) { m.Capabilities[0].Scope = []string{"a", " "} }, "capabilities[0].scope[1]"},
		"limits": {func(m *abi.Manifest) {
			m.Limits = abi.Limits{Memory: -1, Time: -1, Output: -1, LogLines: -1, CapabilityCalls: -1}
		}, "limits.memory limits.time limits.output limits.log_lines limits.capability_calls"},
		"config twice":             {func(m *abi.Manifest) { m.Config[1].Name = "delimiter" }, "config[1].name"},
		"config required, default": {func(m *abi.Manifest) { m.Config[1].Default = "x" }, "config[1].default"},
		"no tools":                 {func(m *abi.Manifest) { m.Tools = nil }, "tools"},
		"too many tools":           {func(m *abi.Manifest) { m.Tools = make([]abi.Tool, 1_000_000) }, "tools"},
		"tool name":                {tool(func(t *abi.Tool) { t.Name = "1st" }), "tools[0].name"},
		"tool name reserved":       {tool(func(t *abi.Tool) { t.Name = "Mcp__x" }), "tools[0].name"},
		"alias is the name":        {tool(func(t *abi.Tool) { t.Aliases = []string{"Query"} }), "tools[0].aliases[0]"},
		"rename of no alias":       {tool(func(t *abi.Tool) { t.Renames = []abi.Rename{{Alias: "Old", From: "f", To: "file"}} }), "tools[0].renames[0].alias"},
		"rename to nothing known": {tool(func(t *abi.Tool) {
			t.Aliases, t.Renames = []string{"Old"}, []abi.Rename{{Alias: "Old", From: "f", To: "path"}}
		}), "tools[0].renames[0].to"},
		"rename to itself": {tool(func(t *abi.Tool) {
			t.Aliases, t.Renames = []string{"Old"}, []abi.Rename{{Alias: "Old", From: "file", To: "file"}}
		}), "tools[0].renames[0].to"},
		"rename": {tool(func(t *abi.Tool) {
			t.Aliases, t.Renames = []string{"Old"}, []abi.Rename{{Alias: "Old", From: "f", To: "file"}}
		}), ""},
		"rename by the tool's own name": {tool(func(t *abi.Tool) {
			t.Renames = []abi.Rename{{Alias: t.Name, From: "f", To: "file"}}
		}), ""},
		"tool twice":             {func(m *abi.Manifest) { m.Tools = append(m.Tools, abi.Tool{Name: "CsvQuery"}) }, "tools[1].name"},
		"summary of two lines":   {tool(func(t *abi.Tool) { t.Summary = "a\nb" }), "tools[0].summary"},
		"summary too long":       {tool(func(t *abi.Tool) { t.Summary = strings.Repeat("ä", 257) }), "tools[0].summary"},
		"summary long enough":    {tool(func(t *abi.Tool) { t.Summary = strings.Repeat("ä", 256) }), ""},
		"description zero width": {tool(func(t *abi.Tool) { t.Description = "a\u200bb" }), "tools[0].description"},
		"description carriage":   {tool(func(t *abi.Tool) { t.Description = "a\rb" }), "tools[0].description"},
		"description not UTF-8":  {tool(func(t *abi.Tool) { t.Description = "\xff" }), "tools[0].description"},
		"trait":                  {tool(func(t *abi.Tool) { t.ReadOnly = "maybe" }), "tools[0].read_only"},
		"enabled derived":        {tool(func(t *abi.Tool) { t.Enabled = abi.TraitDerived }), "tools[0].enabled"},
		"read-only and destroys": {tool(func(t *abi.Tool) { t.Destructive = abi.TraitTrue }), "tools[0].destructive"},
		"interrupt, activity":    {tool(func(t *abi.Tool) { t.Interrupt = "x"; t.Activity = "y" }), "tools[0].interrupt tools[0].activity"},
		"locks":                  {tool(func(t *abi.Tool) { t.Locks = "files" }), "tools[0].locks"},
		"locks of no path":       {tool(func(t *abi.Tool) { t.Fields = t.Fields[1:] }), "tools[0].locks"},
		"locks by the input":     {tool(func(t *abi.Tool) { t.Locks, t.Fields = abi.LocksInput, nil }), ""},
		"locks left out":         {tool(func(t *abi.Tool) { t.Locks, t.Fields = "", nil }), ""},
		"locks and cwd": {func(m *abi.Manifest) {
			m.Capabilities = append(m.Capabilities, abi.CapabilityClaim{Name: abi.CapSessionCwd})
			m.Tools[0].Capabilities = nil
		}, "tools[0].locks"},
		"locks, cwd for others": {func(m *abi.Manifest) {
			m.Capabilities = append(m.Capabilities, abi.CapabilityClaim{Name: abi.CapSessionCwd})
		}, ""},
		"locks by the input, extism": {func(m *abi.Manifest) {
			m.ABI, m.Tools[0] = abi.ABIExtism, abi.Tool{Name: "X", Locks: abi.LocksInput}
		}, "tools[0].locks"},
		"locks by fields, extism": {func(m *abi.Manifest) {
			m.ABI, m.Tools[0] = abi.ABIExtism, abi.Tool{Name: "X", Locks: abi.LocksFields, Fields: m.Tools[0].Fields}
		}, ""},
		"unlimited and bounded":  {tool(func(t *abi.Tool) { t.Unlimited = true }), "tools[0].unlimited_result"},
		"negative result":        {tool(func(t *abi.Tool) { t.MaxResultChars = -1 }), "tools[0].max_result_chars"},
		"defer and load":         {tool(func(t *abi.Tool) { t.AlwaysLoad = true }), "tools[0].always_load"},
		"export of a direct one": {tool(func(t *abi.Tool) { t.Export = "run" }), "tools[0].export"},
		"extism, an unknown field": {func(m *abi.Manifest) {
			m.ABI, m.Tools[0] = abi.ABIExtism, abi.Tool{Name: "X", Input: "txt", InputSchema: `{"type":"object","properties":{"text":{}}}`}
		}, "tools[0].input"},
		"extism, an unknown output": {func(m *abi.Manifest) {
			m.ABI, m.Tools[0] = abi.ABIExtism, abi.Tool{Name: "X", Output: "xml"}
		}, "tools[0].output"},
		"extism, text with a schema": {func(m *abi.Manifest) {
			m.ABI, m.Tools[0] = abi.ABIExtism, abi.Tool{Name: "X", Output: abi.OutputText, OutputSchema: `{"type":"object"}`}
		}, "tools[0].output"},
		"input of a direct plugin":  {func(m *abi.Manifest) { m.Tools[0].Input = "file" }, "tools[0].input"},
		"output of a direct plugin": {func(m *abi.Manifest) { m.Tools[0].Output = abi.OutputJSON }, "tools[0].output"},
		"extism asked":              {func(m *abi.Manifest) { m.ABI = abi.ABIExtism }, "tools[0]"},
		"schema broken":             {tool(func(t *abi.Tool) { t.OutputSchema = "{" }), "tools[0].output_schema"},
		"schema of a string":        {tool(func(t *abi.Tool) { t.OutputSchema = `{"type":"string"}` }), "tools[0].output_schema"},
		"schema duplicate key":      {tool(func(t *abi.Tool) { t.OutputSchema = `{"type":"object","type":"object"}` }), "tools[0].output_schema"},
		"schema null":               {tool(func(t *abi.Tool) { t.OutputSchema = `null` }), "tools[0].output_schema"},
		"properties a list":         {tool(func(t *abi.Tool) { t.OutputSchema = `{"type":"object","properties":[]}` }), "tools[0].output_schema"},
		"many examples":             {tool(func(t *abi.Tool) { t.InputExamples = slices.Repeat([]string{`{}`}, 21) }), "tools[0].input_examples"},
		"example a list":            {tool(func(t *abi.Tool) { t.InputExamples = []string{`{}`, `[]`} }), "tools[0].input_examples[1]"},
		"field not in schema":       {tool(func(t *abi.Tool) { t.Fields[0].Name = "path" }), "tools[0].fields[0].name"},
		"field without schema":      {tool(func(t *abi.Tool) { t.InputSchema = "" }), ""},
		"field twice":               {tool(func(t *abi.Tool) { t.Fields[1].Name = "file" }), "tools[0].fields[1].name"},
		"field without kind":        {tool(func(t *abi.Tool) { t.Fields[1].Kind = "" }), "tools[0].fields[1].kind"},
		"field without effect":      {tool(func(t *abi.Tool) { t.Fields[0].Effect = "" }), "tools[0].fields[0].effect"},
		"effect of a command":       {tool(func(t *abi.Tool) { t.Fields[1].Effect = "read" }), "tools[0].fields[1].effect"},
		"title not in schema":       {tool(func(t *abi.Tool) { t.Title = "path" }), "tools[0].title"},
		"capability not declared":   {tool(func(t *abi.Tool) { t.Capabilities = []string{"fs.list"} }), "tools[0].capabilities[0]"},
		"all at once": {func(m *abi.Manifest) {
			m.Name, m.Version, m.Tools[0].Name, m.Tools[0].Fields[0].Effect = "", "", "", "both"
		}, "name version tools[0].name tools[0].fields[0].effect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := sound()
			c.corrupt(m)
			var paths []string
			for _, f := range m.Validate() {
				paths = append(paths, f.Path)
				if f.Message == "" || !strings.HasPrefix(f.String(), f.Path+": ") {
					t.Errorf("fault printed as %q", f)
				}
				if strings.ContainsAny(f.Message, "\x1b\u202e\r\n") {
					t.Errorf("%q shows what must not be shown raw", f.Message)
				}
			}
			if got := strings.Join(paths, " "); got != c.want {
				t.Errorf("faults at %q, want %q: %v", got, c.want, m.Validate())
			}
		})
	}
}

func TestWithDefaults(t *testing.T) {
	t.Parallel()
	m := &abi.Manifest{Name: "x", ABI: abi.ABIExtism, Tools: []abi.Tool{{Name: "X"}}}
	d := m.WithDefaults()
	want := abi.Tool{
		Name: "X", ReadOnly: abi.TraitFalse, ConcurrencySafe: abi.TraitFalse, Destructive: abi.TraitFalse, Enabled: abi.TraitTrue,
		Interrupt: abi.InterruptCancel, MaxResultChars: 50_000, Activity: "other", Display: "X", Export: "X",
	}
	if !reflect.DeepEqual(d.Tools[0], want) || d.Instance != abi.InstanceFresh || d.Isolation != abi.IsolationSandbox || d.ModuleFile() != "x.wasm" {
		t.Errorf("%+v", d)
	}
	if m.Tools[0].Display != "" {
		t.Error("the manifest itself was changed")
	}
	if got := sound().WithDefaults(); !reflect.DeepEqual(got, sound()) {
		t.Errorf("what is set was changed: %+v", got)
	}
	if sound().ModuleFile() != "query.wasm" || !sound().Tools[0].AsksTraits() || d.Tools[0].AsksTraits() {
		t.Error("ModuleFile or AsksTraits")
	}
}

func FuzzManifest(f *testing.F) {
	whole, err := json.Marshal(sound())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"Manifest":1,"Name":"\u202e","Tools":[{"Name":"a","InputSchema":"{\"type\":\"object\",\"properties\":null}"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var m abi.Manifest
		if json.Unmarshal(in, &m) != nil {
			return
		}
		faults := m.Validate()
		if again := m.Validate(); !slices.Equal(faults, again) {
			t.Fatalf("two answers: %v, %v", faults, again)
		}
		if len(faults) == 0 && len(m.WithDefaults().Validate()) > 0 {
			t.Fatalf("the defaults are at fault: %v", m.WithDefaults().Validate())
		}
		for _, fault := range faults {
			if fault.Path == "" || strings.TrimSpace(fault.Message) == "" {
				t.Fatalf("an empty fault in %v", fmt.Sprint(faults))
			}
		}
	})
}
