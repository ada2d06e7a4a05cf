package toml_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/sdk/go/internal/toml"
)

func TestParse(t *testing.T) {
	type table = toml.Table
	for text, want := range map[string]table{
		"":                               {},
		"# nothing\n\n":                  {},
		"a = 1\nb.c = \"x\" # y\r\n":     {"a": int64(1), "b": table{"c": "x"}},
		"a = 1_000\nb = -2.5\nc = true":  {"a": int64(1000), "b": -2.5, "c": true},
		`"a b" = 'c\d'`:                  {"a b": `c\d`},
		`a = "\u00e9\t\"\\"`:             {"a": "é\t\"\\"},
		"a = \"\"\"\nx \\\n   y\n\"\"\"": {"a": "x y\n"},
		"a = '''\n{\"b\":\n'c'}'''":      {"a": "{\"b\":\n'c'}"},
		"a = '''x''''":                   {"a": "x'"},
		"a = [1, # one\n [2], ]":         {"a": []any{int64(1), []any{int64(2)}}},
		"a = [{ b = 1, c.d = 2 }, {}]":   {"a": []any{table{"b": int64(1), "c": table{"d": int64(2)}}, table{}}},
		"[a.b]\nc = 1\n[a]\nd = 2":       {"a": table{"b": table{"c": int64(1)}, "d": int64(2)}},
		"[[a]]\nb = 1\n[[a.c]]\nd = 2\n[[a]]\n[a.e]\nf = 3": {"a": []any{
			table{"b": int64(1), "c": []any{table{"d": int64(2)}}}, table{"e": table{"f": int64(3)}}}},
	} {
		if got, err := toml.Parse(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for text, line := range map[string]string{
		"a": "line 1", "a = 1\na = 2": "line 2", "\n\n[a\nb = 1": "line 3", "a = 1 2": "line 1", "a = \"x\n\"": "line 1",
		"a = 1979-05-27": "line 1", "a = '''": "line 1", `a = "\q"`: "line 1", `a = "\u12"`: "line 1", "a = 1\n[a.b]": "line 2", "a = {": "line 1", "a = [": "line 1",
		"a = 1\n[[a]]": "line 2",
	} {
		if got, err := toml.Parse(text); err == nil || !strings.HasPrefix(err.Error(), line) {
			t.Errorf("%q: got %v, %v; want an error at %s", text, got, err, line)
		}
	}
}

// TestManifests reads every manifest of the repository.
func TestManifests(t *testing.T) {
	for _, pattern := range []string{"plugin-examples/*/plugin.toml", "builtin/*/plugin.toml"} {
		files, err := filepath.Glob(filepath.Join("../../../..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, err := toml.Parse(string(text))
			if tools, _ := m["tools"].([]any); err != nil || m["manifest"] != int64(1) || m["name"] == "" || len(tools) == 0 && !strings.Contains(string(text), "tools = []") {
				t.Errorf("%s: %v, %v", file, m, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a = [1]\n[[b]]\nc = '''x'''\n")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = toml.Parse(text) })
}
