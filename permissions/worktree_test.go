package permissions_test

import (
	"slices"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// movedTo is a session that began in /ws/proj/sub and works in a worktree in the host's own
// places, with rules of the user and of the project.
func movedTo(t *testing.T, mode permissions.Mode, deny, allow []string) *permissions.Policy {
	t.Helper()
	dir := func(path string) permissions.Dir { return permissions.Dir{Path: path, Real: path} }
	return compile(t, permissions.Setup{
		Mode: mode,
		Layout: permissions.Layout{
			Cwd: dir("/home/u/.local/state/toolquay/worktrees/k/w"), Home: dir("/home/u"), ProjectRoot: dir("/ws/proj"),
			Worktree:    permissions.Worktree{Main: permissions.Dir{Path: "/ws/proj", Real: "/data/proj"}, Start: dir("/ws/proj/sub"), Own: true},
			HostFolders: []permissions.Dir{dir("/home/u/.local/state/toolquay")},
			Sessions:    dir("/home/u/.local/state/toolquay/sessions"),
		},
		Resolve: func(path string) string {
			if path == "/ws/proj/link" || path == "/home/u/.local/state/toolquay/worktrees/k/w/out" {
				return map[bool]string{true: "/ws/proj/hidden", false: "/etc/out"}[path == "/ws/proj/link"]
			}
			return path
		},
		Rules: []permissions.RuleSet{{
			Source: permissions.SourceProject, Deny: permissions.RuleTexts(deny...), Allow: permissions.RuleTexts(allow...),
		}},
	})
}

// TestWorktreeRules has the rules of a session hold in the worktree that it moved to: deny
// rules beside where they held, relative allow rules in its place.
func TestWorktreeRules(t *testing.T) {
	t.Parallel()
	const tree = "/home/u/.local/state/toolquay/worktrees/k/w"
	for _, test := range []struct {
		deny, allow string
		request     string
		want        permissions.Verdict
	}{
		{"", "", "read " + tree + "/a", permissions.Allow},
		{"", "", "tree " + tree, permissions.Allow},
		{"", "", "write " + tree + "/a", permissions.Ask},
		{"", "", "read /ws/proj/a", permissions.Ask},
		{"", "", "read " + tree + "2/a", permissions.Ask}, // another session's
		{"", "", "read /home/u/.local/state/toolquay/grants.json", permissions.Ask},
		{"", "", "tree /home/u/.local/state/toolquay/worktrees", permissions.Ask},
		{"", "Edit(//home/u/**)", "write /home/u/.local/state/toolquay/worktrees/k/x", permissions.Ask},
		{"", "Edit", "write " + tree + "/.git", permissions.Ask}, // protected by its own name
		{"", "Edit", "write " + tree + "/.toolquay/settings.toml", permissions.Ask},

		{"Read(./a)", "", "read " + tree + "/sub/a", permissions.Deny},
		{"Read(./a)", "", "read " + tree + "/a", permissions.Deny}, // where the session is
		{"Read(./a)", "", "read /ws/proj/sub/a", permissions.Deny},
		{"Read(/a)", "", "read " + tree + "/a", permissions.Deny},
		{"Read(/a)", "", "read /ws/proj/a", permissions.Deny},
		{"Read(//ws/proj/keys/**)", "", "read " + tree + "/keys/a", permissions.Deny},
		{"Read(//data/proj/keys/**)", "", "read " + tree + "/keys/a", permissions.Deny}, // as it really lies
		{"Read(//ws/*/keys/**)", "", "read " + tree + "/keys/a", permissions.Deny},
		{"Read(//ws/**/keys)", "", "read " + tree + "/b/keys/a", permissions.Deny},
		{"Read(//ws)", "", "read " + tree + "/a", permissions.Deny},
		{"Read(//**/proj/keys)", "", "read " + tree + "/keys/a", permissions.Deny}, // which names the way
		{"Read(//ws/**/proj/keys)", "", "read " + tree + "/keys/a", permissions.Deny},
		{"Read(//ws/**/proj/keys)", "", "read " + tree + "/b/proj/keys/a", permissions.Deny},
		{"Read(//**/proj)", "", "read " + tree + "/a", permissions.Deny},
		{"Read(//**/proj/keys)", "", "read " + tree + "/a", permissions.Allow},
		{"Read(//ws/other/**)", "", "read " + tree + "/a", permissions.Allow},
		{"Edit(//ws/proj/a)", "", "write " + tree + "/a", permissions.Deny},

		{"Read(/link)", "", "read " + tree + "/link", permissions.Deny},
		{"Read(/link)", "", "read " + tree + "/hidden/a", permissions.Deny}, // which the link in the former leads to
		{"Read(/out)", "", "read /etc/out", permissions.Deny},               // which the link in this one leads to

		{"", "Edit(./**)", "write " + tree + "/sub/a", permissions.Allow},
		{"", "Edit(./**)", "write /ws/proj/sub/a", permissions.Ask},
		{"", "Edit(/**)", "write " + tree + "/a", permissions.Allow},
		{"", "Edit(/**)", "write /ws/proj/a", permissions.Ask},
		{"", "Edit(*.go)", "write " + tree + "/sub/b/a.go", permissions.Allow},
		{"", "Edit(*.go)", "write /ws/proj/sub/a.go", permissions.Ask},
		{"", "Edit(../b)", "write " + tree + "/b", permissions.Allow},
		{"", "Edit(../../b)", "write /ws/b", permissions.Allow},
		{"", "Edit(//ws/proj/**)", "write " + tree + "/a", permissions.Ask}, // an absolute one means what it says
	} {
		var deny, allow []string
		if test.deny != "" {
			deny = []string{test.deny}
		}
		if test.allow != "" {
			allow = []string{test.allow}
		}
		p := movedTo(t, permissions.ModeDefault, deny, allow)
		if d := permissions.Decide(p, parseRequest(test.request), permissions.Evidence{}); d.Verdict != test.want {
			t.Errorf("deny %q, allow %q, %s: %s (%s), want %s", test.deny, test.allow, test.request, d.Verdict, d.Why, test.want)
		}
	}
}

// TestWorktreeSandbox hides the host's places, and shows the worktree in them.
func TestWorktreeSandbox(t *testing.T) {
	t.Parallel()
	const state = "/home/u/.local/state/toolquay"
	p := movedTo(t, permissions.ModeDefault, []string{"Read(//ws/proj/keys)"}, nil)
	found := p.SandboxPolicy(nil).Find(func(string) ([]string, error) { return nil, nil })
	for what, list := range map[string]struct {
		of   []string
		path string
		want bool
	}{
		"the state hidden":            {found.Hidden, state, true},
		"the worktree shown":          {found.Shown, state + "/worktrees/k/w", true},
		"the worktree protected":      {found.Protected, state + "/worktrees/k/w", false},
		"what the rule means hidden":  {found.Hidden, "/ws/proj/keys", true},
		"its twin hidden":             {found.Hidden, state + "/worktrees/k/w/keys", true},
		"settings in there protected": {found.Protected, state + "/worktrees/k/w/.toolquay", true},
		"the former worktree mounted": {found.Protected, "/ws/proj", false},
	} {
		if slices.Contains(list.of, list.path) != list.want {
			t.Errorf("%s: %v in %q", what, !list.want, list.of)
		}
	}
}
