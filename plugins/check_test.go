package plugins_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins"
)

var (
	oneInt  = []wasmgen.ValType{wasmgen.I32}
	twoInts = []wasmgen.ValType{wasmgen.I32, wasmgen.I32}
)

// moduleOf makes a module of the direct ABI that nothing is wrong with, but for what
// spoil does to it first and body to its call.
func moduleOf(spoil func(*wasmgen.Module), body *wasmgen.Code, locals ...wasmgen.Locals) []byte {
	var m wasmgen.Module
	if spoil != nil {
		spoil(&m)
	}
	if body == nil {
		body = new(wasmgen.Code).I64(0)
	}
	memory := m.Memory(wasmgen.AtLeast(20))
	m.Export(abi.ExportMemory, wasmgen.Memory, memory)
	m.Export(abi.ExportAlloc, wasmgen.Function, m.Func(wasmgen.Sig(oneInt, oneInt), new(wasmgen.Code).I32(1024)))
	m.Export(abi.ExportCall, wasmgen.Function, m.Func(wasmgen.Sig(twoInts, []wasmgen.ValType{wasmgen.I64}), body, locals...))
	return m.Bytes()
}

// TestCheckFindsWhatCannotBeUsed holds what a check finds to what a call meets: where
// it finds an error no call succeeds, and what it does not find is left to Load.
func TestCheckFindsWhatCannotBeUsed(t *testing.T) {
	t.Parallel()
	good := moduleOf(nil, nil)
	tool := func(lines string) string {
		return "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Show\"\n" + lines
	}
	plain := tool("input_schema = '" + anyObject + "'\n")
	tests := map[string]struct {
		toml   string
		module []byte
		want   []string // each a part of one diagnostic, in order
	}{
		"nothing": {plain, good, nil},
		"an imported global": {plain, moduleOf(func(m *wasmgen.Module) { m.ImportGlobal("env", "base", wasmgen.I32, false) }, nil),
			[]string{"error: FILE: the module imports the global env.base; nothing offers one"}},
		"an unknown function of WASI": {plain, moduleOf(func(m *wasmgen.Module) {
			m.ImportFunc("wasi_snapshot_preview1", "fd_teleport", wasmgen.Sig(oneInt, oneInt))
		}, nil), []string{"the module imports wasi_snapshot_preview1.fd_teleport, which WASI preview 1 does not have"}},
		"functions of WASI": {plain, moduleOf(func(m *wasmgen.Module) {
			m.ImportFunc("wasi_snapshot_preview1", "fd_close", wasmgen.Sig(oneInt, oneInt))
			m.ImportFunc("wasi_snapshot_preview1", "proc_exit", wasmgen.Sig(oneInt, nil))
		}, nil), nil},
		"another type of WASI's": {plain, moduleOf(func(m *wasmgen.Module) {
			m.ImportFunc("wasi_snapshot_preview1", "fd_close", wasmgen.Sig(twoInts, oneInt))
		}, nil), []string{"imports wasi_snapshot_preview1.fd_close as (i32, i32) -> (i32); it is (i32) -> (i32)"}},
		"several": {plain, moduleOf(func(m *wasmgen.Module) {
			m.ImportFunc("env", "a", wasmgen.Sig(oneInt, oneInt))
			m.ImportFunc("env", "b", wasmgen.Sig(oneInt, oneInt))
		}, nil), []string{"imports env.a;", "imports env.b;"}},
		"more locals than are allowed": {plain, moduleOf(nil, nil, wasmgen.Locals{Count: 30_000, Type: wasmgen.I32}),
			[]string{"code section: "}},
		"less memory than it starts with": {strings.Replace(plain, "[[tools]]", "[limits]\nmemory = \"1MiB\"\n[[tools]]", 1), good,
			[]string{"memory section: 1310720 bytes of memory at the start, at most 1048576 are allowed; raise limits.memory in plugin.toml"}},
		"a pattern that is none": {tool(`input_schema = '{"type":"object","properties":{"a":{"pattern":"("}}}'` + "\n"), good,
			[]string{"error: TOML: line 6: tools[0].input_schema: "}},
		"a schema that is none": {tool(`input_schema = '{"type":"object","properties":{"a":{"type":"objekt"}}}'` + "\n"), good,
			[]string{"error: TOML: line 6: tools[0].input_schema: the schema is not valid JSON Schema at "}},
		"a reference to elsewhere": {tool("input_schema = '" + anyObject + "'\n" + `output_schema = '{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}'` + "\n"), good,
			[]string{"error: TOML: line 7: tools[0].output_schema: "}},
		"an example that does not fit": {tool(`input_schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'` + "\ninput_examples = [\n  '{\"n\":1}',\n  '{\"n\":\"one\"}',\n  '{}',\n]\n"), good,
			[]string{"line 9: tools[0].input_examples[1]: the example does not fit the input schema: n: ", "line 10: tools[0].input_examples[2]: "}},
		"texts that are cut": {tool("description = '" + strings.Repeat("x", abi.MaxSafeText+1) + "'\n" +
			`input_schema = '{"type":"object","properties":{"description":{"description":"` + strings.Repeat("y", 3000) + `"}}}'` + "\n"), good,
			[]string{"warning: TOML: line 6: tools[0].description: the description has 2049 bytes; some", "line 7: tools[0].input_schema: a description in the schema has 3000 bytes"}},
		"limits over the host's": {strings.Replace(plain, "[[tools]]", "[limits]\ntime = \"9h\"\n[[tools]]", 1), good,
			[]string{"warning: TOML: line 4: limits: limits.time = 9h"}},
		"faults of the manifest": {plain + "colour = 1\n", good, []string{"error: TOML: line 7: tools[0].colour: unknown key"}},
		"a capability nobody has": {strings.Replace(plain, "[[tools]]", "[[capabilities]]\nname = \"fs.teleport\"\n[[tools]]", 1), good,
			[]string{`it declares capabilities this host does not have ("fs.teleport")`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := folder(t, dir, "one", tt.toml, tt.module)
			set := open(t, plugins.Options{}, user(dir))
			p := set.Plugins()[0]
			got := p.Check()
			if len(got) != len(tt.want) {
				t.Errorf("got %d diagnostics, want %d", len(got), len(tt.want))
			}
			places := strings.NewReplacer("FILE", path+"/one.wasm", "TOML", path+"/plugin.toml")
			for i, d := range got {
				if i < len(tt.want) && !strings.Contains(strings.ReplaceAll(d.String(), `\`, "/"), strings.ReplaceAll(places.Replace(tt.want[i]), `\`, "/")) {
					t.Errorf("got %s", d)
				}
			}
			if !plugins.Failed(got) {
				if err := p.Load(t.Context()); err != nil {
					t.Errorf("it does not load: %v", err)
				}
				return
			}
			if tool, ok := set.Tool("Show"); ok {
				if _, err := call(t, tool, `{"n":1}`); err == nil && !strings.Contains(fmt.Sprint(got), "schema") {
					t.Error("it can be called")
				}
			}
		})
	}
}

// TestCheckOfExamplesEndsInTime, over all tools together: each example may take a second.
func TestCheckOfExamplesEndsInTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	example := "input_schema = '" + `{"type":"object","required":["n"]}` + "'\ninput_examples = ['{}', '{}']\n"
	toml := "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n" +
		"[[tools]]\nname = \"None\"\ninput_schema = '" + anyObject + "'\n[[tools]]\nname = \"Some\"\n" + example + "[[tools]]\nname = \"More\"\n" + example
	folder(t, dir, "one", toml, moduleOf(nil, nil))
	p := plugin(t, open(t, plugins.Options{}, user(dir)), "one")
	if got := p.CheckUntil(time.Now().Add(time.Hour)); len(got) != 4 {
		t.Errorf("in time: got %v", got)
	}
	got := p.CheckUntil(time.Now().Add(-time.Nanosecond))
	if len(got) != 1 || !plugins.Failed(got) || got[0].Where != "tools[1].input_examples" || got[0].Line != 10 ||
		!strings.Contains(got[0].Message, "takes longer than 5s") {
		t.Errorf("too late: got %v", got)
	}
}

// TestLoadFindsWhatDoesNotCompile and a check does not.
func TestLoadFindsWhatDoesNotCompile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "one", manifest("one", wantsRead, "Show"), moduleOf(nil, new(wasmgen.Code).Op(wasmgen.I32Add)))
	p := plugin(t, open(t, plugins.Options{}, user(dir)), "one")
	if got := p.Check(); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	wantProblem(t, p.Load(t.Context()), abi.CodeLoad, "the module does not compile")
}
