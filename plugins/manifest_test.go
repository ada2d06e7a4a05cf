package plugins_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// The broken manifests of testdata, and everything that is wrong with them.
func TestManifestFaultsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plugins.ParseManifest("plugin.toml", src, func(*abi.Manifest) ([]byte, error) { return fixture(t, "ok"), nil })
			if _, ok := errors.AsType[*plugins.ManifestError](err); !ok {
				t.Fatalf("got %v, want a ManifestError", err)
			}
			golden := strings.TrimSuffix(file, ".toml") + ".golden"
			if *update {
				write(t, golden, []byte(err.Error()+"\n"))
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func TestManifestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("manifest = 1\nname = \"" + strings.Repeat("N", 100_000) + "\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"T\"\ninput_schema = '{\"type\":\"object\"}'\naliases = [")
	for range 50_000 {
		b.WriteString("\"-\",\n")
	}
	b.WriteString("]\n")
	_, err := plugins.ParseManifest("plugin.toml", []byte(b.String()), nil)
	wantProblem(t, err, "", "line 2: name: ", "faults")
	if n := len(err.Error()); n > 64<<10 {
		t.Errorf("the error has %d bytes", n)
	}
}

const piece = `{"name":"Show","description":"from the module","input_schema":{"type":"object","properties":{"a":{}}}}`

func sectioned(t *testing.T, sections ...string) []byte {
	t.Helper()
	module, err := plugins.AppendCustomSection(fixture(t, "ok"), abi.SectionTools, []byte(strings.Join(sections, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func TestManifestIsCompletedFromTheModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	toml := "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Show\"\n" +
		"[[tools]]\nname = \"List\"\ndescription = \"from the manifest\"\ninput_schema = '{\"type\":\"object\"}'\n"
	module := sectioned(t, `{"name":"List","description":"unheard","input_schema":{"type":"object","title":"unheard"},"output_schema":{"type":"object"}}`, piece)
	folder(t, dir, "one", toml, module)
	single(t, dir, "two.wasm", strings.NewReplacer("one", "two", "Show", "Show", "List", "List").Replace(toml), module)
	set := open(t, plugins.Options{}, user(dir))
	for _, p := range set.Plugins() {
		if p.Manifest() == nil {
			t.Fatal(p.Problem())
		}
		show, list := p.Manifest().Tools[0], p.Manifest().Tools[1]
		if show.Description != "from the module" || show.InputSchema != `{"properties":{"a":{}},"type":"object"}` {
			t.Errorf("%s: Show was not completed: %+v", p.Name, show)
		}
		if list.Description != "from the manifest" || list.InputSchema != anyObject || list.OutputSchema != anyObject {
			t.Errorf("%s: the manifest does not win for List: %+v", p.Name, list)
		}
	}
}

// TestLinesOfTheModule takes lines from the module's section, and where the manifest has some,
// from there; wrong ones of either are faults.
func TestLinesOfTheModule(t *testing.T) {
	t.Parallel()
	parse := func(lines, section string) (*abi.Manifest, error) {
		module := sectioned(t, section)
		src := "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Show\"\n" + lines
		return plugins.ParseManifest("plugin.toml", []byte(src), func(*abi.Manifest) ([]byte, error) { return module, nil })
	}
	const section = `{"name":"Show","input_schema":{"type":"object","properties":{"a":{}}},"lines":{"use":"{a}","result":"{text}"},"classifier_text":"{a}"}`
	m, err := parse("lines.use = \"see {a}\"\n", section)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Tools[0].Lines, (abi.Lines{Use: "see {a}", Result: "{text}"}); got != want || m.Tools[0].ClassifierText != "{a}" {
		t.Errorf("got %+v and %q, want %+v", got, m.Tools[0].ClassifierText, want)
	}
	_, err = parse("", strings.Replace(section, `"use":"{a}"`, `"use":"{b}"`, 1))
	wantProblem(t, err, "", `tools[0].lines.use: the tool Show: the placeholder {b} at byte 0: the input schema has no property "b"; it has a`)
	_, err = parse("", strings.Replace(section, `"use":"{a}"`, `"using":"{a}"`, 1))
	if err != nil {
		t.Errorf("a line that this version does not know is passed over: %v", err)
	}
}

func TestManifestAndModuleDisagree(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sections []string
		want     string
	}{
		"a tool more":   {[]string{piece, `{"name":"Other"}`}, `line 4: tools: the module has a tool "Other" that the manifest does not list`},
		"a piece twice": {[]string{piece, piece}, `line 4: tools[0]: the module describes the tool "Show" twice`},
		"no schema":     {[]string{`{"name":"Show"}`}, "line 4: tools[0].input_schema: missing, and the module's section toolquay.tools has none either"},
		"no section":    {nil, "line 4: tools[0].input_schema: missing"},
		"no object":     {[]string{`{"name":"Show","input_schema":[]}`}, "line 4: tools[0].input_schema: no JSON object"},
		"null":          {[]string{`{"name":"Show","input_schema":null}`}, "line 4: tools[0].input_schema: "},
		"not JSON":      {[]string{`{"name":`}, "is not a stream of JSON objects"},
		"duplicate key": {[]string{`{"name":"Show","name":"Show"}`}, "toolquay.tools: "},
		"wrong type":    {[]string{`{"name":7}`}, "toolquay.tools: "},
		"too deep":      {[]string{strings.Repeat(`[`, 100_000)}, "toolquay.tools"},
		"too large":     {[]string{strings.Repeat(` `, 1<<20) + piece}, "over the limit of 1048576"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			module := sectioned(t, tt.sections...)
			_, err := plugins.ParseManifest("plugin.toml", []byte("manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Show\"\n"),
				func(*abi.Manifest) ([]byte, error) { return module, nil })
			wantProblem(t, err, "", tt.want)
		})
	}
}

// What a plugin was found to be is what runs.
func TestModuleThatChangesWhileTheHostRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := single(t, dir, "one.wasm", manifest("one", "", "Show"), fixture(t, "ok"))
	single(t, dir, "two.wasm", manifest("two", "", "List"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, user(dir))
	single(t, dir, "one.wasm", manifest("one", wantsRead, "Show"), fixture(t, "ok"))
	_, err := call(t, tool(t, set, "Show"), "{}")
	wantProblem(t, err, abi.CodeChanged, "the module of plugin one changed while the host was running")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = call(t, tool(t, set, "Show"), "{}")
	wantProblem(t, err, abi.CodeLoad, "its module one.wasm is not there")
	wantCall(t, tool(t, set, "List"), "ok")
}
