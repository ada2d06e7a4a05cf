package extism_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// corpusCase is a test plugin of go-sdk's own and what is done with it.
type corpusCase struct {
	export string
	inputs []string
	config []map[string]string
}

// corpus are all of go-sdk's test plugins that apply here.
var corpus = map[string][]corpusCase{
	"alloc":            {{export: "run_test"}},
	"config":           {{export: "run_test", config: []map[string]string{{}, {"thing": "hello"}, {"thing": ""}, {"thing": "ü\n\"\x00"}}}},
	"count_vowels":     {{export: "count_vowels", inputs: []string{"", "hello world", "aaaaaa", "bbb", strings.Repeat("aeb", 50_000)}, config: []map[string]string{{}, {"vowels": "b"}}}},
	"count_vowels_std": {{export: "_start", inputs: []string{"", "hello world"}}},
	"exit":             {{export: "_start", config: []map[string]string{{}, {"code": "0"}, {"code": "-1"}, {"code": "500"}, {"code": "abc"}}}},
	"fail":             {{export: "run_test", inputs: []string{"", "x"}}},
	"fs":               {{export: "run_test"}},
	"fs_std":           {{export: "run_test"}},
	"hello":            {{export: "run_test", inputs: []string{"", "x"}}},
	"hello_haskell":    {{export: "testing", inputs: []string{"", "John"}, config: []map[string]string{{}, {"greeting": "Howdy"}}}},
	"input_offset":     {{export: "input_offset_length", inputs: []string{"", "hello world", strings.Repeat("x", 100)}}},
	"log":              {{export: "run_test"}},
	"noop":             {{export: "run_test", inputs: []string{"", "x"}}, {export: "_start"}},
	"println":          {{export: "run_test", inputs: []string{"", "several\nlines"}}},
	"read_write": {
		{export: "try_read", config: []map[string]string{{}, {"path": "/mnt/test.txt"}, {"path": "/etc/passwd"}}},
		{export: "try_write", inputs: []string{"x"}, config: []map[string]string{{"path": "/mnt/test.txt"}}},
	},
	"replace":     {{export: "run_test", inputs: []string{"", "a test b test c", strings.Repeat("some test or other ", 5000)}}},
	"sleep":       {{export: "run_test", config: []map[string]string{{"duration": "0"}}}},
	"std_command": {{export: "_start", inputs: []string{"", "ben"}}},
	"var":         {{export: "run_test"}},
}

// corpusExceptions are go-sdk's test plugins that do not apply, and why.
var corpusExceptions = map[string]string{
	"host":           "imports a function of its own test host, extism:host/user.mult",
	"host_memory":    "imports a function of its own test host, host.to_upper",
	"host_multiple":  "imports functions of its own test host in extism:host/user",
	"http":           "http_request is refused; see TestFailures",
	"http_headers":   "http_request is refused; see TestFailures",
	"lib":            "is the library of a plugin of several modules, which are not offered",
	"main":           "is a plugin of several modules, which are not offered",
	"nested.c.instr": "imports dylibso_observe, which is not Extism's",
}

// sdkWasm are the test plugins in go-sdk's source.
func sdkWasm(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.NeedTool(t, "go"), "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		testenv.Missing(t, "the source of github.com/extism/go-sdk is not here")
	}
	return filepath.Join(dir, "wasm")
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	dir := sdkWasm(t)
	for name, cases := range corpus {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "alloc" {
				testenv.SkipUnlessThorough(t) // it takes go-sdk seconds; TestSteps allocates too
			}
			wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
			if err != nil {
				t.Fatal(err)
			}
			theirs := refer(t, wasm)
			for _, c := range cases {
				ours := mustLoad(t, wasm, limits, c.export)
				c.run(func(input string, config map[string]string) {
					want := theirs.call(t, c.export, input, config)
					for range 3 { // a new instance, and used ones
						agree(t, callOurs(t, ours, c.export, input, config), want)
					}
				})
			}
		})
	}
}

func (c corpusCase) run(with func(input string, config map[string]string)) {
	inputs, configs := c.inputs, c.config
	if inputs == nil {
		inputs = []string{""}
	}
	if configs == nil {
		configs = []map[string]string{nil}
	}
	for _, config := range configs {
		for _, input := range inputs {
			with(input, config)
		}
	}
}

func TestCorpusIsWhole(t *testing.T) {
	t.Parallel()
	dir := sdkWasm(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no test plugins: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".wasm")
		if _, excepted := corpusExceptions[name]; excepted == (corpus[name] != nil) {
			t.Errorf("%s is to be either in corpus or in corpusExceptions", name)
		}
	}
}

// TestCorpusExceptionsAreRefused holds that what does not apply is refused when
// it is loaded, with what it is that is missing.
func TestCorpusExceptionsAreRefused(t *testing.T) {
	t.Parallel()
	dir := sdkWasm(t)
	for name, missing := range map[string]string{
		"host":           "extism:host/user.mult",
		"host_memory":    "host.to_upper",
		"host_multiple":  "extism:host/user.hostGreenMessage; the only function there is toolquay_capability; it imports extism:host/user.hostPurpleMessage",
		"main":           "lib.capitalize",
		"nested.c.instr": "dylibso_observe.instrument_enter",
	} {
		wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = load(t, wasm, limits, "run_test")
		wantError(t, err, "load", missing)
	}
}
