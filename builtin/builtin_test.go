package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/builtin"
)

// maxModule is the largest module that is committed, in bytes: a bound on what
// every copy of the repository and every start on a cold cache pays.
const maxModule = 420 << 10

// maxDocuments is the same for what shows documents, which is compiled when the first
// one is read. Most of it are parsers: of fonts and of images that a PDF may hold.
const maxDocuments = 4 << 20

type plugin struct {
	manifest abi.Manifest
	module   []byte
}

// load reads the plugins that models are offered.
func load(t *testing.T) map[string]plugin {
	t.Helper()
	loaded := map[string]plugin{}
	for _, fsys := range []fs.FS{builtin.FS(), builtin.Commands()} {
		entries, err := fs.ReadDir(fsys, ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			loaded[e.Name()] = loadPlugin(t, fsys, e.Name())
		}
	}
	return loaded
}

func loadPlugin(t *testing.T, fsys fs.FS, name string) plugin {
	t.Helper()
	var p plugin
	meta, err := toml.DecodeFS(fsys, path.Join(name, abi.ManifestFile), &p.manifest)
	if err != nil {
		t.Fatal(err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		t.Errorf("%s: the manifest has unknown keys: %v", name, unknown)
	}
	if p.module, err = fs.ReadFile(fsys, path.Join(name, p.manifest.Name+".wasm")); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOnlyManifestAndModuleAreEmbedded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fsys    fs.FS
		plugins []string
	}{
		"FS":        {builtin.FS(), []string{"files", "notebook", "search", "session", "tools"}},
		"Commands":  {builtin.Commands(), []string{"shell", "tasks"}},
		"Documents": {builtin.Documents(), []string{"docs"}},
	} {
		var got, want []string
		err := fs.WalkDir(tt.fsys, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				got = append(got, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, plugin := range tt.plugins {
			want = append(want, path.Join(plugin, abi.ManifestFile), path.Join(plugin, plugin+".wasm"))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v embedded; want %v", name, got, want)
		}
	}
}

// Paths of the machine that built a module would make it differ from machine to
// machine, and tell on whoever built it.
var machinePath = regexp.MustCompile(`/(root|home|Users|work|tmp|opt|mnt|usr/(lib|local|src|share))/[\w./-]*|[A-Z]:\\\w[\w\\.-]{4,}|\.cargo/[\w./-]*`)

func TestModules(t *testing.T) {
	t.Parallel()
	for name, p := range load(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(p.module) > maxModule {
				t.Errorf("the module has %d bytes, over the limit of %d", len(p.module), maxModule)
			}
			if found := machinePath.Find(p.module); found != nil {
				t.Errorf("the module holds the path %q of the machine that built it", found)
			}
			// Two pages hold the 64 KiB of stack and the data; more is clean-up that
			// every call pays for.
			checkShape(t, p.module, 2)
		})
	}
}

func TestDocumentsModule(t *testing.T) {
	t.Parallel()
	module, err := fs.ReadFile(builtin.Documents(), "docs/docs.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if len(module) > maxDocuments {
		t.Errorf("the module has %d bytes, over the limit of %d", len(module), maxDocuments)
	}
	if found := machinePath.Find(module); found != nil {
		t.Errorf("the module holds the path %q of the machine that built it", found)
	}
	// 2 MiB of stack, which build.rs asks for, are 32 pages, and the data about 20.
	checkShape(t, module, 56)
	if found := pieces(t, module); len(found) != 1 || found[0].Name != "document" {
		t.Errorf("the module has the tools %+v; want document alone", found)
	}
}

func TestMachinePathsAreFound(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"/root/.cargo/registry/src/x.rs", "/home/a/b.rs", "/usr/lib/rustlib/src/rust/library/std/src/lib.rs",
		`C:\Users\a\b.rs`, "/usr/src/rustc-1.96.0/library/core/src/fmt/mod.rs",
	} {
		if !machinePath.MatchString(s) {
			t.Errorf("%s is not taken for a path of a machine", s)
		}
	}
}

// checkShape checks what a module imports and exports, and how many pages of memory it
// begins with.
func checkShape(t *testing.T, module []byte, pages uint32) {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCustomSections(true))
	defer func() { _ = r.Close(context.WithoutCancel(t.Context())) }()
	compiled, err := r.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range compiled.ImportedFunctions() {
		if from, fn, _ := f.Import(); from != abi.ImportModule {
			t.Errorf("imports %s.%s; want imports from %s alone", from, fn, abi.ImportModule)
		}
	}
	exported := slices.Sorted(maps.Keys(compiled.ExportedFunctions()))
	if want := []string{abi.ExportAlloc, abi.ExportAssess, abi.ExportCall}; !slices.Equal(exported, want) {
		t.Errorf("exports the functions %v; want %v", exported, want)
	}
	if m := compiled.ExportedMemories()[abi.ExportMemory]; m == nil || m.Min() > pages {
		t.Errorf("exported memory %v; want one of at most %d pages", m, pages)
	}
}

func TestToolsOfManifestAndModuleAgree(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"files": {"Read", "Write", "Edit"}, "notebook": {"NotebookEdit"}, "search": {"Glob", "Grep"},
		"session": {"TodoWrite", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion", "StructuredOutput", "SendUserMessage", "Config", "Skill", "EnterWorktree", "ExitWorktree", "TestingPermission"},
		"shell":   {"Bash", "PowerShell"}, "tasks": {"TaskOutput", "TaskStop", "Sleep"}, "tools": {"ToolSearch"},
	}
	for name, p := range load(t) {
		var declared []string
		for _, tool := range p.manifest.Tools {
			declared = append(declared, tool.Name)
			got := traits{tool.ReadOnly, tool.ConcurrencySafe, tool.Destructive, tool.Interrupt, tool.Cascade}
			if want := wantTraits(tool.Name); got != want {
				t.Errorf("%s has the traits %+v; want %+v", tool.Name, got, want)
			}
			if l := tool.Lines; l.Use == "" || l.Result == "" || l.Rejection == "" {
				t.Errorf("%s does not word what it does, what came of it, or that it may not: %+v", tool.Name, l)
			}
		}
		if !slices.Equal(declared, want[name]) {
			t.Errorf("%s declares the tools %v; want %v", name, declared, want[name])
		}
		var emitted []string
		for _, piece := range pieces(t, p.module) {
			emitted = append(emitted, piece.Name)
			if piece.Description == "" || !json.Valid(piece.InputSchema) {
				t.Errorf("%s: description %q, input schema %s", piece.Name, piece.Description, piece.InputSchema)
			}
		}
		if !slices.Equal(emitted, declared) {
			t.Errorf("%s: the module has the tools %v, the manifest %v", name, emitted, declared)
		}
		for _, c := range p.manifest.Capabilities {
			if c.Reason == "" {
				t.Errorf("%s: %s is claimed without a reason", name, c.Name)
			}
		}
	}
}

// traits are what a manifest says of a tool that the scheduler goes by.
type traits struct {
	readOnly, concurrencySafe, destructive abi.Trait
	interrupt                              abi.Interrupt
	cascade                                bool
}

func wantTraits(tool string) traits {
	switch tool {
	case "Bash", "PowerShell":
		return traits{abi.TraitDerived, abi.TraitDerived, abi.TraitDerived, abi.InterruptCancel, true}
	case "Write", "Edit", "NotebookEdit":
		return traits{readOnly: abi.TraitFalse, concurrencySafe: abi.TraitFalse, interrupt: abi.InterruptBlock}
	case "StructuredOutput", "SendUserMessage": // the last call counts, and people read in order
		return traits{readOnly: abi.TraitTrue, concurrencySafe: abi.TraitFalse, interrupt: abi.InterruptCancel}
	case "Config":
		return traits{readOnly: abi.TraitInput, concurrencySafe: abi.TraitInput, interrupt: abi.InterruptBlock}
	case "ExitWorktree":
		return traits{readOnly: abi.TraitFalse, concurrencySafe: abi.TraitFalse, destructive: abi.TraitTrue, interrupt: abi.InterruptBlock}
	case "TodoWrite", "TaskCreate", "TaskUpdate", "CronCreate", "CronDelete", "EnterWorktree":
		return traits{readOnly: abi.TraitFalse, concurrencySafe: abi.TraitFalse, interrupt: abi.InterruptCancel}
	case "EnterPlanMode", "AskUserQuestion", "Skill":
		return traits{readOnly: abi.TraitTrue, concurrencySafe: abi.TraitFalse, interrupt: abi.InterruptCancel}
	case "ExitPlanMode":
		return traits{readOnly: abi.TraitFalse, concurrencySafe: abi.TraitFalse, interrupt: abi.InterruptCancel}
	case "TaskStop":
		return traits{readOnly: abi.TraitFalse, concurrencySafe: abi.TraitTrue, interrupt: abi.InterruptCancel}
	}
	return traits{readOnly: abi.TraitTrue, concurrencySafe: abi.TraitTrue, interrupt: abi.InterruptCancel}
}

// The fields that a tool's aliases had before are those that its manifest maps.
func TestAliasesOfTasks(t *testing.T) {
	t.Parallel()
	p := load(t)["tasks"]
	input := func(name string) []byte {
		for _, piece := range pieces(t, p.module) {
			if piece.Name == name {
				return piece.InputSchema
			}
		}
		t.Fatalf("the module has no tool %s", name)
		return nil
	}
	aliases := map[string][]string{}
	for _, tool := range p.manifest.Tools {
		aliases[tool.Name] = tool.Aliases
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(input(tool.Name), &schema); err != nil {
			t.Fatal(err)
		}
		if tool.Name == "TaskStop" {
			for _, name := range []string{"TaskStop", "KillShell"} {
				if got, err := tool.Renamed(name, []byte(`{"shell_id":"b1"}`)); err != nil || string(got) != `{"task_id":"b1"}` {
					t.Errorf("%s takes shell_id as %s, %v", name, got, err)
				}
			}
		}
		for _, r := range tool.Renames {
			if _, ok := schema.Properties[r.To]; !ok || r.Alias != tool.Name && !slices.Contains(tool.Aliases, r.Alias) {
				t.Errorf("%s maps %s of %s to %s, which it does not take", tool.Name, r.From, r.Alias, r.To)
			}
		}
	}
	want := map[string][]string{"TaskOutput": {"BashOutput", "AgentOutput"}, "TaskStop": {"KillShell"}, "Sleep": nil}
	if !maps.EqualFunc(aliases, want, slices.Equal) {
		t.Errorf("the aliases are %v; want %v", aliases, want)
	}
}

func pieces(t *testing.T, module []byte) []abi.ToolPiece {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCustomSections(true))
	defer func() { _ = r.Close(context.WithoutCancel(t.Context())) }()
	compiled, err := r.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	var found []abi.ToolPiece
	for _, s := range compiled.CustomSections() {
		if s.Name() != abi.SectionTools {
			continue
		}
		for d := json.NewDecoder(bytes.NewReader(s.Data())); ; {
			var p abi.ToolPiece
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("the section %s: %v", abi.SectionTools, err)
			}
			found = append(found, p)
		}
	}
	return found
}
