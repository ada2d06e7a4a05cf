package plugins_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

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

// Of two built-in plugins of one name neither is refused: that is the embedder's affair.
func TestBuiltinPluginsRefuseNoneOfTheirOwn(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	folder(t, a, "files", manifest("files", "", "Read"), fixture(t, "ok"))
	folder(t, b, "files", manifest("files", "", "Read", "Show"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, builtin(a), builtin(b))
	wantNames(t, pluginNames(set), "files", "files")
	for _, p := range set.Plugins() {
		if p.Problem() != nil {
			t.Errorf("%s: %v", p.Path, p.Problem())
		}
	}
}

// TestNamesAreAwarded holds which of several plugins has a name that all claim: by
// origin, then by grant, then by age. The other offers nothing and says by whom it is
// shadowed.
func TestNamesAreAwarded(t *testing.T) {
	t.Parallel()
	show, asking := manifest("one", "", "Show"), manifest("one", wantsRead, "Show")
	tests := map[string]struct {
		winner, loser             string // manifests
		winnerOrigin, loserOrigin plugins.Origin
		sameDir, granted          bool
		claim, reason             string
	}{
		"flag over user":       {show, asking, plugins.OriginFlag, plugins.OriginUser, false, false, `the name "one"`, "plugins named for this run come first"},
		"flag over granted":    {asking, asking + "strict = true\n", plugins.OriginFlag, plugins.OriginUser, false, true, `the name "one"`, "plugins named for this run come first"},
		"user over project":    {asking, show, plugins.OriginUser, plugins.OriginProject, false, false, `the name "one"`, "the user's plugins come first"},
		"flag over project":    {asking, show, plugins.OriginFlag, plugins.OriginProject, false, false, `the name "one"`, "plugins named for this run come first"},
		"tool of two plugins":  {show, manifest("two", "", "Show", "More"), plugins.OriginUser, plugins.OriginProject, false, false, `the tool "Show"`, "the user's plugins come first"},
		"tool and alias":       {show, withAliases("two", "Other", "Show"), plugins.OriginUser, plugins.OriginProject, false, false, `the tool "Show"`, ""},
		"granted over other":   {asking, show, plugins.OriginUser, plugins.OriginUser, true, true, `the name "one"`, "that one is granted, and this one is not"},
		"granted over newer":   {asking, asking + "strict = true\n", plugins.OriginUser, plugins.OriginUser, true, true, `the name "one"`, "that one is granted"},
		"granted tool":         {asking, manifest("two", "", "Show"), plugins.OriginUser, plugins.OriginUser, true, true, `the tool "Show"`, "that one is granted"},
		"nothing asked over":   {show, asking, plugins.OriginUser, plugins.OriginUser, true, false, `the name "one"`, "needs no grant"},
		"first directory":      {show, show + "strict = true\n", plugins.OriginFlag, plugins.OriginFlag, false, false, `the name "one"`, "its directory comes first"},
		"same directory, tool": {show, manifest("two", "", "Show"), plugins.OriginUser, plugins.OriginUser, true, false, `the tool "Show"`, "that one was there first"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := t.TempDir(), t.TempDir()
			if tt.sameDir {
				b = a
			}
			// By their files' names the loser would be first.
			winner := single(t, a, "z.wasm", tt.winner, fixture(t, "ok"))
			o := plugins.Options{}
			if tt.granted {
				o.Grants = openGrants(t, filepath.Join(t.TempDir(), "consents.json"))
				alone := open(t, o, plugins.Dir(plugins.OriginUser, winner))
				if tt.winnerOrigin == plugins.OriginFlag { // it is the loser that has the grant
					alone = open(t, o, plugins.Dir(plugins.OriginUser, single(t, t.TempDir(), "z.wasm", tt.loser, fixture(t, "ok"))))
				}
				if err := o.Grants.Add(plugin(t, alone, "one"), time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if tt.reason == "that one was there first" {
				time.Sleep(20 * time.Millisecond) // the clock of a file system is coarse
			}
			loser := single(t, b, "a.wasm", tt.loser, fixture(t, "ok"))
			switch tt.reason {
			case "that one was there first": // also where a copy kept an older time
				if runtime.GOOS == "windows" {
					break // which tells no other time
				}
				if err := os.Chtimes(loser, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
			case "its directory comes first": // also where it is the newer one
				time.Sleep(20 * time.Millisecond)
				single(t, a, "z.wasm", tt.winner, fixture(t, "ok"))
			}
			folder(t, b, "third", manifest("third", "", "Third"), fixture(t, "ok"))
			sources := []plugins.Source{plugins.Dir(tt.winnerOrigin, a), plugins.Dir(tt.loserOrigin, b)}
			if tt.sameDir {
				sources = sources[:1]
			}
			set := open(t, o, sources...)
			wantNames(t, toolNames(set), "Show", "Third")
			if p := tool(t, set, "Show").Plugin; p.Path != winner {
				t.Errorf("Show is offered by %s", p.Path)
			}
			for _, p := range set.Plugins() {
				if p.Path != loser {
					continue
				}
				wantProblem(t, p.Problem(), abi.CodeLoad, tt.claim+" is taken by one ("+string(tt.winnerOrigin)+", "+winner+")", tt.reason)
				if shadowed, ok := errors.AsType[*plugins.ShadowedError](p.Problem()); !ok || shadowed.ByPath != winner {
					t.Errorf("got %#v", shadowed)
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

// A plugin that lost one of its names to another claims nothing any more.
func TestShadowedPluginsStopNobody(t *testing.T) {
	t.Parallel()
	ok := fixture(t, "ok")
	var sources []plugins.Source
	for _, m := range []string{manifest("one", "", "Show"), manifest("two", "", "Show", "More"), manifest("three", "", "More"), manifest("four", "", "Show")} {
		dir := t.TempDir()
		single(t, dir, "p.wasm", m, ok)
		sources = append(sources, plugins.Dir(plugins.OriginFlag, dir))
	}
	set := open(t, plugins.Options{}, sources...)
	if show, more := tool(t, set, "Show").Plugin.Name, tool(t, set, "More").Plugin.Name; show != "one" || more != "three" {
		t.Errorf("Show is offered by %s, More by %s", show, more)
	}
	for _, name := range []string{"two", "four"} {
		wantProblem(t, plugin(t, set, name).Problem(), abi.CodeLoad, `the tool "Show" is taken by one`)
	}
}

func TestCopiesAreNoConflict(t *testing.T) {
	t.Parallel()
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	toml := manifest("one", wantsRead, "Show")
	folder(t, a, "one", toml, fixture(t, "ok"))
	first := folder(t, b, "one", toml, fixture(t, "ok"))
	set := open(t, plugins.Options{}, plugins.Dir(plugins.OriginFlag, b), user(a), user(a))
	if p := tool(t, set, "Show").Plugin; p.Path != first || len(set.Plugins()) != 1 {
		t.Errorf("got %v, of them %s; want %s alone", pluginNames(set), p.Path, first)
	}

	folder(t, c, "one", toml, fixture(t, "counter")) // the same manifest, another module
	set = open(t, plugins.Options{}, user(a), user(c), user(b))
	if len(set.Plugins()) != 2 || len(set.Tools()) != 1 {
		t.Errorf("got %d plugins and tools %v; want 2 rivals and the tool of one", len(set.Plugins()), toolNames(set))
	}

	set = open(t, plugins.Options{}, user(a), builtin(b))
	if p := tool(t, set, "Show").Plugin; p.Origin != plugins.OriginBuiltin || p.GrantState() != plugins.GrantUnneeded {
		t.Errorf("the copy of a built-in plugin took its place: %s, %s", p.Origin, p.GrantState())
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

// TestConfigureCountsFromTheNextReload on, for the plugins whose values differ.
func TestConfigureCountsFromTheNextReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top := "[[config]]\nname = \"url\"\nrequired = true\n[[config]]\nname = \"rows\"\ntype = \"integer\"\ndefault = \"10\"\n"
	folder(t, dir, "one", manifest("one", top, "Show"), fixture(t, "ok"))
	folder(t, dir, "two", manifest("two", "", "More"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, user(dir))
	two := plugin(t, set, "two")
	for _, step := range []struct {
		values  string // JSON
		problem string
		want    string // the values that the plugin gets
	}{
		{`{}`, `its configuration value "url" is required and not set; set it with: toolquay plugins config one url VALUE`, ""},
		{`{"url":"a"}`, "", `{"rows":10,"url":"a"}`},
		{`{"url":"a","rows":5}`, "", `{"rows":5,"url":"a"}`},
		{`{"url":"a","rows":"5"}`, `is not an integer, such as 10; set another with: toolquay plugins config one rows VALUE`, ""},
		{`{"url":"a","row":5}`, `it has no configuration value "row"; did you mean "rows"?; it has url, rows; take it out of the settings with: toolquay plugins config one --unset row`, ""},
		{`{"url":"b"}`, "", `{"rows":10,"url":"b"}`},
	} {
		var values map[string]json.RawMessage
		if err := json.Unmarshal([]byte(step.values), &values); err != nil {
			t.Fatal(err)
		}
		set.Configure(map[string]map[string]json.RawMessage{"one": values})
		newer, changes, err := set.Reload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		set.Release()
		set = newer
		p := plugin(t, set, "one")
		switch {
		case step.problem != "":
			wantProblem(t, p.Problem(), "", step.problem)
			if _, ok := errors.AsType[*plugins.ConfigError](p.Problem()); !ok {
				t.Errorf("%s: %T", step.values, p.Problem())
			}
		case p.Problem() != nil:
			t.Errorf("%s: %v", step.values, p.Problem())
		default:
			if got, _ := json.Marshal(p.Config()); string(got) != step.want || len(changes.Changed) != 1 {
				t.Errorf("%s: got %s with %d changed plugins, want %s", step.values, got, len(changes.Changed), step.want)
			}
		}
		if plugin(t, set, "two") != two {
			t.Error("another plugin changed")
		}
	}
	if _, changes, err := set.Reload(t.Context()); err != nil || !changes.None() {
		t.Errorf("a reload without a change: %v, %v", changes, err)
	}
}
