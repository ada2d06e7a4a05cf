package toolquaytest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toolquay/toolquay/sdk/go/internal/probe"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

func init() { probe.Register() }

// kitCase is one of abi/testdata/kits.json, which the host is held to as well.
type kitCase struct {
	Name, Manifest string
	Files, After   map[string]string
	Calls          []struct {
		Tool string
		Do   []struct {
			Capability string
			Args       map[string]any
			Parts      []string
			Want       kitWant
		}
		Input map[string]json.RawMessage // the rest of it, as it is written
		Fails *kitWant
	}
}

type kitWant struct {
	Code, Says, Body string
	OK               map[string]any
}

func load(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../abi/testdata", name))
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hashed puts hashes in the places that name a content.
func hashed(values map[string]any) map[string]any {
	for key, v := range values {
		if content, ok := strings.CutPrefix(fmt.Sprint(v), "sha256:"); ok {
			sum := sha256.Sum256([]byte(content))
			values[key] = hex.EncodeToString(sum[:])
		}
	}
	return values
}

func TestKitCases(t *testing.T) {
	var table struct {
		Manifest string
		Cases    []kitCase
	}
	load(t, "kits.json", &table)
	for _, c := range table.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if c.Manifest == "" {
				c.Manifest = table.Manifest
			}
			c.run(t)
		})
	}
}

func (c *kitCase) run(t *testing.T) {
	t.Helper()
	host := toolquaytest.Files(c.Files).Manifest(c.Manifest)
	for i, call := range c.Calls {
		in := map[string]any{"do": []any{}}
		for _, s := range call.Do {
			if s.Args == nil {
				s.Args = map[string]any{}
			}
			in["do"] = append(in["do"].([]any), map[string]any{"capability": s.Capability, "args": hashed(s.Args), "parts": s.Parts})
		}
		for key, value := range call.Input {
			in[key] = value
		}
		if call.Tool == "" {
			call.Tool = "Ask"
		}
		r := host.Call(t, call.Tool, in)
		if want := call.Fails; want != nil {
			if !r.IsError || r.Err == nil || string(r.Err.Code) != want.Code || !strings.Contains(r.Text(), want.Says) {
				t.Errorf("call %d: got %+v; want %+v", i, r, want)
			}
			continue
		}
		var told []probe.Told
		if err := json.Unmarshal(r.Structured, &told); err != nil || len(told) != len(call.Do) {
			t.Fatalf("call %d: %q, %v", i, r.Text(), err)
		}
		for n, step := range call.Do {
			step.Want.check(t, step.Capability, told[n])
		}
	}
	for name, want := range c.After {
		if got, ok := host.File(name); !ok || string(got) != want {
			t.Errorf("%s holds %q; want %q", name, got, want)
		}
	}
}

func (w kitWant) check(t *testing.T, what string, got probe.Told) {
	t.Helper()
	if got.Code != w.Code || !strings.Contains(got.Message, w.Says) || w.Body != "" && got.Body != w.Body {
		t.Errorf("%s: got %+v; want %+v", what, got, w)
	}
	var ok map[string]any
	if err := json.Unmarshal(got.OK, &ok); err != nil && got.Code == "" {
		t.Fatal(err)
	}
	for key, v := range hashed(w.OK) {
		if !reflect.DeepEqual(ok[key], v) {
			t.Errorf("%s: %s is %v; want %v", what, key, ok[key], v)
		}
	}
}

// beyond are the patterns of the table that this host does not match: each is refused
// as unsupported, and never matched in another way.
var beyond = []string{
	`(?-u:alpha)`, `(?x) a l p h a`, `[a-z&&[^b]]`, `[a-z--b]`, `[[a-c]x]`, `\p{Alphabetic}`, `\p{sc=Greek}`,
	`\b{start}ab`, `\<ab`, `a**`, `a{2000}`, `[[:nope:]]`, `[\w&&\d]`, `\p{latin}`,
}

// TestKitRegexes matches the patterns that the host was asked about, line by line.
func TestKitRegexes(t *testing.T) {
	var table struct {
		Lines    []string
		Patterns []struct {
			Pattern, Code string
			Lines         []int
		}
	}
	load(t, "kits_regexes.json", &table)
	all := make([]int, len(table.Lines))
	var ascii []int
	for i, line := range table.Lines {
		all[i] = i + 1
		if strings.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
			ascii = append(ascii, i+1)
		}
	}
	for _, p := range table.Patterns {
		numbers := all
		told, got := grep(t, p.Pattern, table.Lines, numbers)
		if told.Code == "unsupported" && strings.Contains(told.Message, `with \b or \B`) {
			numbers = ascii // other letters are beyond package regexp
			told, got = grep(t, p.Pattern, table.Lines, numbers)
		}
		if told.Code == "unsupported" && slices.Contains(beyond, p.Pattern) || told.Code != "" && p.Code != "" {
			continue
		}
		want := slices.DeleteFunc(slices.Clone(p.Lines), func(n int) bool { return !slices.Contains(numbers, n) })
		if told.Code != p.Code || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %s %s; the host has %v, %s", p.Pattern, got, told.Code, told.Message, want, p.Code)
		}
	}
}

// grep searches the lines of these numbers, and returns the numbers of those that match.
func grep(t *testing.T, pattern string, lines []string, numbers []int) (probe.Told, []int) {
	t.Helper()
	var text strings.Builder
	for _, n := range numbers {
		text.WriteString(lines[n-1] + "\n")
	}
	host := toolquaytest.Files(map[string]string{"a.txt": text.String()}).
		Manifest("[[capabilities]]\nname = \"search.contents\"\n[[tools]]\nname = \"Ask\"\n")
	r := host.Call(t, "Ask", map[string]any{"do": []any{map[string]any{
		"capability": "search.contents", "args": map[string]any{"pattern": pattern, "mode": "content", "line_numbers": true}}}})
	var told []probe.Told
	if err := json.Unmarshal(r.Structured, &told); err != nil || len(told) != 1 {
		t.Fatalf("%q: %s, %v", pattern, r.Text(), err)
	}
	got := []int{}
	for _, line := range strings.Split(strings.TrimSuffix(told[0].Body, "\n"), "\n") {
		var n int
		if _, err := fmt.Sscanf(line, "a.txt:%d:", &n); err == nil {
			got = append(got, numbers[n-1])
		}
	}
	return told[0], got
}
