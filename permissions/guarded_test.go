package permissions_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// TestSettingsAreGuarded has nobody change what rules are read from without being asked,
// whatever rules and the mode allow, and no command make such a file in its sandbox.
// What is read is what the loader says it looked for.
func TestSettingsAreGuarded(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	loaded, err := settings.Load(settings.Options{
		Project: permissions.Dir{Path: root}, ProjectClaude: true,
		Home: home, UserFile: filepath.Join(home, ".config/toolquay/settings.toml"), UserClaude: filepath.Join(home, ".claude/settings.json"),
	})
	if err != nil {
		t.Fatal(err)
	}
	p := compile(t, permissions.Setup{
		Layout: permissions.Layout{
			Cwd: permissions.Dir{Path: root}, Additional: []permissions.Dir{{Path: home}}, Home: permissions.Dir{Path: home},
		},
		Mode:  permissions.ModeAcceptEdits,
		Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Edit", "Write", "Read")}},
	})
	found := p.SandboxPolicy(nil).Find(func(string) ([]string, error) { return nil, fs.ErrNotExist })
	files := make(map[permissions.SourceKind]int)
	for _, file := range loaded.Files {
		files[file.Kind]++
		a := permissions.Access{Kind: permissions.AccessWrite, Target: file.Path, Real: file.Path}
		d := permissions.Decide(p, permissions.Request{Tool: "Write", Stage: permissions.StageCall, Accesses: []permissions.Access{a}}, permissions.Evidence{})
		if d.Verdict != permissions.Ask || d.Layer != permissions.LayerProtected && d.Layer != permissions.LayerCredentials {
			t.Errorf("%s: changing %s: %s by %s", file.Kind, file.Path, d.Verdict, d.Layer)
		}
		if !covered(found.Protected, file.Path) {
			t.Errorf("%s: a command may make %s", file.Kind, file.Path)
		}
	}
	for _, kind := range []permissions.SourceKind{permissions.SourceProject, permissions.SourceProjectLocal, permissions.SourceUser} {
		if files[kind] != 2 {
			t.Errorf("%d files of %s were looked for: both formats are to be among them", files[kind], kind)
		}
	}
}

// TestFindPlacesStartedFromHome protects what is started from a home where that is
// worked in, and leaves projects the same names.
func TestFindPlacesStartedFromHome(t *testing.T) {
	t.Parallel()
	started := []string{
		".config/systemd/user", ".bashrc.d", ".vimrc", ".emacs.d", ".tmux.conf", ".local/bin", "bin", ".cargo/bin", ".cargo/config.toml",
		".config/pip", ".cursor/mcp.json", ".local/share/applications",
	}
	for _, test := range []struct {
		cwd       string
		protected bool
	}{{"/home/u", true}, {"/home/u/proj", false}, {"/ws/proj", false}} {
		found := compile(t, permissions.Setup{
			Layout: permissions.Layout{Cwd: permissions.Dir{Path: test.cwd}, Home: permissions.Dir{Path: "/home/u"}},
		}).SandboxPolicy(nil).Find(list)
		for _, name := range started {
			if path := test.cwd + "/" + name; slices.Contains(found.Protected, path) != test.protected {
				t.Errorf("%s: protected is %t", path, !test.protected)
			}
		}
	}
}
