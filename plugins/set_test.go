package plugins_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

func withAliases(name, tool string, aliases ...string) string {
	return manifest(name, "", tool) + `aliases = ["` + strings.Join(aliases, `", "`) + `"]` + "\n"
}

func TestBuiltinToolsKeepTheirNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ toml, want string }{
		"its name":           {manifest("other", "", "Read"), `the tool "Read" is taken by files, which is built in`},
		"its alias":          {manifest("other", "", "OldRead"), `the tool "OldRead" is taken by files`},
		"name as alias":      {withAliases("other", "Show", "Read"), `the tool "Read" is taken by files`},
		"alias as alias":     {withAliases("other", "Show", "OldRead"), `the tool "OldRead" is taken by files`},
		"the plugin's name":  {manifest("files", "", "Show"), `the name "files" is taken by files, which is built in`},
		"among others":       {manifest("other", "", "Show", "Read"), `the tool "Read" is taken by files`},
		"several at a time":  {withAliases("other", "Read", "OldRead"), `the tool "OldRead" is taken by files`},
		"remedy is told too": {manifest("other", "", "Read"), `rename it in its manifest`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, theirs := t.TempDir(), t.TempDir()
			folder(t, own, "files", withAliases("files", "Read", "OldRead"), fixture(t, "ok"))
			path := single(t, theirs, "other.wasm", tt.toml, fixture(t, "counter"))
			set := open(t, plugins.Options{}, user(theirs), builtin(own)) // whatever the order
			wantNames(t, toolNames(set), "Read")
			for _, name := range []string{"Read", "OldRead"} {
				wantCall(t, tool(t, set, name), "ok")
			}
			for _, p := range set.Plugins() {
				if p.Path == path {
					wantProblem(t, p.Problem(), abi.CodeLoad, tt.want)
				} else if p.Problem() != nil {
					t.Errorf("the built-in plugin has a problem: %v", p.Problem())
				}
			}
		})
	}
}

func TestRivalsAreBothRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ first, second, want string }{
		"same tool":      {manifest("one", "", "Show"), manifest("two", "", "Show"), `the tool "Show" is also claimed by `},
		"tool and alias": {manifest("one", "", "Show"), withAliases("two", "Other", "Show"), `the tool "Show" is also claimed by `},
		"same name":      {manifest("one", "", "Show"), manifest("one", "", "Other"), `the name "one" is also claimed by `},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := t.TempDir(), t.TempDir()
			ok := fixture(t, "ok")
			first := single(t, a, "first.wasm", tt.first, ok)
			second := single(t, b, "second.wasm", tt.second, ok)
			folder(t, b, "third", manifest("third", "", "Third"), ok)
			set := open(t, plugins.Options{}, user(a), plugins.Dir(plugins.OriginFlag, b))
			wantNames(t, toolNames(set), "Third")
			for _, p := range set.Plugins() {
				switch p.Path {
				case first:
					wantProblem(t, p.Problem(), abi.CodeLoad, tt.want, second, "remove one of them or rename it in its manifest")
				case second:
					wantProblem(t, p.Problem(), abi.CodeLoad, tt.want, first)
				}
			}
		})
	}
}

// A plugin that is refused for another reason claims nothing any more.
func TestRefusedPluginsStopNobody(t *testing.T) {
	t.Parallel()
	own, dir := t.TempDir(), t.TempDir()
	ok := fixture(t, "ok")
	folder(t, own, "files", manifest("files", "", "Read"), ok)
	folder(t, dir, "thief", manifest("thief", "", "Read", "Show"), ok)
	folder(t, dir, "honest", manifest("honest", "", "Show"), ok)
	single(t, dir, "broken.wasm", manifest("honest", `abi = "extism"`, "Show"), ok)
	set := open(t, plugins.Options{}, builtin(own), user(dir))
	wantNames(t, toolNames(set), "Read", "Show")
	if p := tool(t, set, "Show").Plugin; p.Name != "honest" {
		t.Errorf("Show is offered by %s", p.Name)
	}
	if p := plugin(t, set, "honest"); p.Problem() != nil {
		t.Errorf("of two plugins of one name the broken one is returned: %v", p.Problem())
	}
}

func TestCopiesAreNoConflict(t *testing.T) {
	t.Parallel()
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	toml := manifest("one", wantsRead, "Show")
	first := folder(t, a, "one", toml, fixture(t, "ok"))
	folder(t, b, "one", toml, fixture(t, "ok"))
	set := open(t, plugins.Options{}, plugins.Dir(plugins.OriginFlag, b), user(a), user(a))
	if p := tool(t, set, "Show").Plugin; p.Path != first || len(set.Plugins()) != 1 {
		t.Errorf("got %v, of them %s; want %s alone", pluginNames(set), p.Path, first)
	}

	folder(t, c, "one", toml, fixture(t, "counter")) // the same manifest, another module
	set = open(t, plugins.Options{}, user(a), user(c), user(b))
	if len(set.Plugins()) != 2 || len(set.Tools()) != 0 {
		t.Errorf("got %d plugins and tools %v; want 2 rivals and no tool", len(set.Plugins()), toolNames(set))
	}

	set = open(t, plugins.Options{}, user(a), builtin(b))
	if p := tool(t, set, "Show").Plugin; p.Origin != plugins.OriginBuiltin || p.Standing() != plugins.StandingUnneeded {
		t.Errorf("the copy of a built-in plugin took its place: %s, %s", p.Origin, p.Standing())
	}
}

func TestToolsAreListedBuiltinFirst(t *testing.T) {
	t.Parallel()
	own, dir := t.TempDir(), t.TempDir()
	ok := fixture(t, "ok")
	folder(t, own, "files", manifest("files", "", "Write", "Read"), ok)
	folder(t, dir, "zoo", manifest("zoo", "", "Ape", "Yak"), ok)
	folder(t, dir, "art", manifest("art", "", "Paint"), ok)
	set := open(t, plugins.Options{}, user(dir), builtin(own))
	wantNames(t, toolNames(set), "Read", "Write", "Ape", "Paint", "Yak")
	wantNames(t, pluginNames(set), "files", "art", "zoo")
}

func TestLimitsAreCutToTheHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top := "[limits]\nmemory = \"2GiB\"\ntime = \"1s\"\noutput = \"3MiB\"\nlog_lines = 99\ncapability_calls = 7\n"
	folder(t, dir, "greedy", manifest("greedy", top, "Greedy"), fixture(t, "ok"))
	folder(t, dir, "silent", manifest("silent", "", "Silent"), fixture(t, "ok"))
	set := open(t, plugins.Options{Ceilings: plugins.Limits{Memory: 32 << 20, Output: 2 << 20, LogLines: 10}}, user(dir))

	p := plugin(t, set, "greedy")
	want := plugins.Limits{Memory: 32 << 20, Time: 1e9, Output: 2 << 20, LogLines: 10, CapabilityCalls: 7}
	if p.Limits != want {
		t.Errorf("got %+v, want %+v", p.Limits, want)
	}
	wantNames(t, p.Notes,
		"limits.memory = 2GiB was cut to this host's 32MiB",
		"limits.output = 3MiB was cut to this host's 2MiB",
		"limits.log_lines = 99 was cut to this host's 10")

	p = plugin(t, set, "silent")
	want = plugins.DefaultLimits
	want.Memory, want.Output, want.LogLines = 32<<20, 2<<20, 10
	if p.Limits != want || len(p.Notes) != 0 {
		t.Errorf("got %+v with notes %q, want %+v", p.Limits, p.Notes, want)
	}
}

func TestConfigJoinsDefaultsAndValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top := "[[config]]\nname = \"url\"\ndefault = \"a\\\"b\"\n[[config]]\nname = \"key\"\n"
	folder(t, dir, "one", manifest("one", top, "Show"), fixture(t, "ok"))
	config := func(of string) map[string]map[string]json.RawMessage {
		return map[string]map[string]json.RawMessage{"one": {of: json.RawMessage(`1`)}}
	}

	set := open(t, plugins.Options{Config: config("key")}, user(dir))
	got := plugin(t, set, "one").Config()
	if len(got) != 2 || string(got["url"]) != `"a\"b"` || string(got["key"]) != `1` {
		t.Errorf("got %s", got)
	}
	set = open(t, plugins.Options{Config: config("kye")}, user(dir))
	wantProblem(t, plugin(t, set, "one").Problem(), "", `it has no configuration value "kye"`)
}
