package plugins_test

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// TestReservedNamesAreRefused has plugins call their tools what rules of people
// may be about: tools of the product, had or yet to come, and those that the
// embedder reserves.
func TestReservedNamesAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ toml, name string }{
		"of the product":           {manifest("other", "", "Bash"), "Bash"},
		"in lower case":            {manifest("other", "", "bash"), "bash"},
		"in mixed case":            {manifest("other", "", "wEBfETCH"), "wEBfETCH"},
		"a former one":             {manifest("other", "", "KillShell"), "KillShell"},
		"as an alias":              {withAliases("other", "Show", "Write"), "Write"},
		"as an alias, other case":  {withAliases("other", "Show", "Fine", "WRITE"), "WRITE"},
		"among others":             {manifest("other", "", "Show", "Task"), "Task"},
		"of the embedder":          {manifest("other", "", "Deploy"), "Deploy"},
		"of the embedder, by case": {manifest("other", "", "dEPLOY"), "dEPLOY"},
		"of the embedder, alias":   {withAliases("other", "Show", "deploy"), "deploy"},
	}
	for name, tt := range tests {
		for _, origin := range []plugins.Origin{plugins.OriginUser, plugins.OriginProject, plugins.OriginFlag} {
			t.Run(name+", "+string(origin), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				folder(t, dir, "other", tt.toml, fixture(t, "ok"))
				folder(t, dir, "honest", manifest("honest", "", "BashLike", "Deploys"), fixture(t, "ok"))
				set := open(t, plugins.Options{Reserved: []string{"Deploy"}}, plugins.Dir(origin, dir))
				wantNames(t, toolNames(set), "BashLike", "Deploys")
				wantProblem(t, plugin(t, set, "other").Problem(), abi.CodeLoad, `"`+tt.name+`" is reserved`, "another name in the manifest")
			})
		}
	}
}

func TestBuiltinToolsMayHaveReservedNames(t *testing.T) {
	t.Parallel()
	own := t.TempDir()
	folder(t, own, "files", withAliases("files", "Read", "NotebookRead"), fixture(t, "ok"))
	set := open(t, plugins.Options{Reserved: []string{"Read"}}, builtin(own))
	wantNames(t, toolNames(set), "Read")
	wantCall(t, tool(t, set, "NotebookRead"), "ok")
}

// A plugin that is refused for a reserved name takes no other one from anybody.
func TestPluginsWithReservedNamesStopNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "thief", manifest("thief", "", "Bash", "Show"), fixture(t, "counter"))
	folder(t, dir, "honest", manifest("honest", "", "Show"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, user(dir))
	wantNames(t, toolNames(set), "Show")
	wantCall(t, tool(t, set, "Show"), "ok")
}
