package host_test

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
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// kitCase is one of abi/testdata/kits.json: calls of one session, in turns of their own.
type kitCase struct {
	Name, Manifest string
	Files, After   map[string]string
	Calls          []kitCall
}

type kitCall struct {
	Tool string
	Do   []kitStep
	// Input is the rest of the input, as it is written.
	Input map[string]json.RawMessage
	Fails *kitWant
}

type kitStep struct {
	Capability string         `json:"capability"`
	Args       map[string]any `json:"args,omitempty"`
	Parts      []string       `json:"parts,omitempty"`
	Want       kitWant        `json:"want,omitzero"`
}

type kitWant struct {
	Code, Says, Body string
	OK               map[string]any
}

// kitTold is what the guest tells of a step.
type kitTold struct {
	Code, Message, Body string
	OK                  map[string]any
}

// hashed returns values with hashes in the places that name a content. What is given
// stays as it is: tests that run at once share it.
func hashed(values map[string]any) map[string]any {
	said := make(map[string]any, len(values))
	for key, v := range values {
		if content, ok := strings.CutPrefix(fmt.Sprint(v), "sha256:"); ok {
			sum := sha256.Sum256([]byte(content))
			v = hex.EncodeToString(sum[:])
		}
		said[key] = v
	}
	return said
}

// input is what the guest gets: the call without what is wanted of it.
func (c *kitCall) input(tb testing.TB) string {
	tb.Helper()
	steps := []map[string]any{}
	for _, s := range c.Do {
		steps = append(steps, map[string]any{"capability": s.Capability, "args": hashed(s.Args), "parts": s.Parts})
	}
	in := map[string]any{"do": steps}
	for key, value := range c.Input {
		in[key] = value
	}
	data, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// TestClockAndRandom has a guest ask for time and random numbers, which nobody has
// granted, from sources of the embedder's.
func TestClockAndRandom(t *testing.T) {
	t.Parallel()
	manifest := "manifest = 1\nname = \"probe\"\nversion = \"1.0.0\"\ninstance = \"reset\"\n[[capabilities]]\nname = \"clock.now\"\n[[capabilities]]\nname = \"random.bytes\"\n" +
		"[[tools]]\nname = \"Ask\"\nsummary = \"Asks\"\ninput_schema = '{\"type\":\"object\"}'\n"
	call := kitCall{Do: []kitStep{
		{Capability: abi.CapClockNow},
		{Capability: abi.CapRandomBytes, Args: map[string]any{"length": 5}},
		{Capability: abi.CapRandomBytes, Args: map[string]any{"length": 5}},
	}}
	start := time.Unix(1_700_000_000, 123_456_789)
	ticks := -1
	for name, test := range map[string]struct {
		o     host.Options
		deny  string
		wants []kitTold
	}{
		"theirs": {
			o: host.Options{Plugins: host.PluginOptions{Clock: func() time.Time { ticks++; return start.Add(time.Duration(ticks)) }, Random: strings.NewReader("abcdefgh")}},
			wants: []kitTold{
				{OK: map[string]any{"unix_ns": 1.70000000012345679e18, "monotonic_ns": 1.0}},
				{OK: map[string]any{"length": 5.0}, Body: "abcde"},
				{Code: "io"},
			},
		},
		"a rule denies the tool": {deny: "Ask"},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Permissions.Rules = rules(test.deny, "", "")
			r, _ := one(t, probingWith(t, manifest, t.TempDir(), test.o), "Ask", call.input(t))
			if test.deny != "" {
				wantError(t, r, abi.CodeDenied)
				return
			}
			var told []kitTold
			if err := json.Unmarshal(r.Structured, &told); err != nil {
				t.Fatal(err, r.Text())
			}
			for i := range told {
				told[i].Message = ""
			}
			if !reflect.DeepEqual(told, test.wants) {
				t.Errorf("got %+v", told)
			}
		})
	}
}

// probing is a session with the probe, in which files may be read and written.
func probing(tb testing.TB, manifest, dir, deny string) *host.Session {
	tb.Helper()
	return probingWith(tb, manifest, dir, host.Options{Plugins: host.PluginOptions{Granted: []string{"probe"}}, Permissions: host.PermissionOptions{Rules: rules(deny, "", "")}})
}

func probingWith(tb testing.TB, manifest, dir string, o host.Options) *host.Session {
	tb.Helper()
	o.Plugins.Sources = []plugins.Source{{Origin: plugins.OriginFlag, Path: "/test", FS: fstest.MapFS{
		"probe/plugin.toml": {Data: []byte(manifest)},
		"probe/probe.wasm":  {Data: testenv.GoGuest(tb, filepath.Join("..", "sdk", "go"), "testdata/probe")},
	}}}
	return session(tb, open(tb, o), host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
}

// TestKitCases holds the host to the table that the test kits of both SDKs are held to.
func TestKitCases(t *testing.T) {
	t.Parallel()
	var table struct {
		Manifest string
		Cases    []kitCase
	}
	load(t, "kits.json", &table)
	for _, c := range table.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if c.Manifest == "" {
				c.Manifest = table.Manifest
			}
			c.run(t)
		})
	}
}

func load(tb testing.TB, name string, v any) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "abi", "testdata", name))
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func (c *kitCase) run(t *testing.T) {
	t.Helper()
	dir := files(t, c.Files)
	s := probing(t, c.Manifest, dir, "")
	for i, call := range c.Calls {
		tool := call.Tool
		if tool == "" {
			tool = "Ask"
		}
		r, _ := one(t, s, tool, call.input(t))
		if call.Fails != nil {
			wantError(t, r, abi.Code(call.Fails.Code), call.Fails.Says)
			continue
		}
		var told []kitTold
		if err := json.Unmarshal(r.Structured, &told); err != nil || len(told) != len(call.Do) {
			t.Fatalf("call %d: %q, %v", i, r.Text(), err)
		}
		for n, step := range call.Do {
			step.Want.check(t, step.Capability, told[n])
		}
	}
	for name, want := range c.After {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
}

func (w kitWant) check(t *testing.T, what string, got kitTold) {
	t.Helper()
	if got.Code != w.Code || !strings.Contains(got.Message, w.Says) || w.Body != "" && got.Body != w.Body {
		t.Errorf("%s: got %+v; want %+v", what, got, w)
	}
	for key, v := range hashed(w.OK) {
		if !reflect.DeepEqual(got.OK[key], v) {
			t.Errorf("%s: %s is %v; want %v", what, key, got.OK[key], v)
		}
	}
}

// TestOwnReadIsNoPermission has a plugin write what it has read itself, where the rules
// do not allow it.
func TestOwnReadIsNoPermission(t *testing.T) {
	t.Parallel()
	var table struct{ Manifest string }
	load(t, "kits.json", &table)
	call := kitCall{Do: []kitStep{
		{Capability: abi.CapFSRead, Args: map[string]any{"path": "a.txt"}, Want: kitWant{Body: "one\n"}},
		{Capability: abi.CapFSWrite, Args: map[string]any{"path": "a.txt", "expect": "sha256:one\n"}, Parts: []string{"two\n"}},
	}}
	for name, test := range map[string]struct {
		mode permissions.Mode
		deny string
		code abi.Code
	}{
		"the default mode asks": {permissions.ModeDefault, "", abi.CodeNeedsApproval},
		"a rule denies":         {permissions.ModeAcceptEdits, "Edit(./a.txt)", abi.CodeDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"a.txt": "one\n"})
			s := probing(t, table.Manifest, dir, test.deny)
			if err := s.SetMode(test.mode); err != nil {
				t.Fatal(err)
			}
			r, _ := one(t, s, "Ask", call.input(t))
			var told []kitTold
			if err := json.Unmarshal(r.Structured, &told); err != nil || len(told) != 2 || told[1].Code != string(test.code) {
				t.Errorf("got %+v, %v of %q", told, err, r.Text())
			}
			if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "one\n" {
				t.Errorf("it holds %q, %v", got, err)
			}
		})
	}
}

// TestKitRegexes has the host say which lines a search finds, which the test kits have
// to say as well.
func TestKitRegexes(t *testing.T) {
	t.Parallel()
	type found struct {
		Pattern string `json:"pattern"`
		Code    string `json:"code,omitempty"`
		Lines   []int  `json:"lines"`
	}
	var table struct {
		Lines    []string `json:"lines"`
		Patterns []found  `json:"patterns"`
	}
	load(t, "kits_regexes.json", &table)
	if !*updateGolden {
		table.Patterns = table.Patterns[:testenv.Sample(len(table.Patterns))]
	}
	var cases struct{ Manifest string }
	load(t, "kits.json", &cases)
	var call kitCall
	for _, p := range table.Patterns {
		call.Do = append(call.Do, kitStep{Capability: abi.CapSearchContents, Args: map[string]any{
			"pattern": p.Pattern, "mode": abi.ModeContent, "line_numbers": true}})
	}
	dir := files(t, map[string]string{"a.txt": strings.Join(table.Lines, "\n") + "\n"})
	r, _ := one(t, probing(t, cases.Manifest, dir, ""), "Ask", call.input(t))
	var told []kitTold
	if err := json.Unmarshal(r.Structured, &told); err != nil || len(told) != len(call.Do) {
		t.Fatalf("%q, %v", r.Text(), err)
	}
	for i := range told {
		got := found{Pattern: table.Patterns[i].Pattern, Code: told[i].Code, Lines: []int{}}
		for line := range strings.Lines(told[i].Body) {
			var n int
			if _, err := fmt.Sscanf(line, "a.txt:%d:", &n); err != nil {
				t.Fatalf("%q: %q, %v", got.Pattern, line, err)
			}
			got.Lines = append(got.Lines, n)
		}
		if want := &table.Patterns[i]; *updateGolden {
			*want = got
		} else if got.Code != want.Code || !slices.Equal(got.Lines, want.Lines) {
			t.Errorf("%q: got %v, %q (%s); want %v, %q", got.Pattern, got.Lines, got.Code, told[i].Message, want.Lines, want.Code)
		}
	}
	if !*updateGolden {
		return
	}
	data, err := json.MarshalIndent(table, "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join("..", "abi", "testdata", "kits_regexes.json"), append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
