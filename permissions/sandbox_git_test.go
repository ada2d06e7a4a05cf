package permissions_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// tree is files by their paths, for walls to look at; what a file holds that begins with
// "-> " is where a link leads.
type tree map[string]string

func (f tree) list(dir string) ([]string, error) {
	dir = strings.TrimSuffix(f.follow(dir), "/")
	var names []string
	for name := range f {
		if rest, inside := strings.CutPrefix(name, dir+"/"); inside {
			rest, _, _ = strings.Cut(rest, "/")
			names = append(names, rest)
		}
	}
	if len(names) == 0 {
		return nil, fs.ErrNotExist
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (f tree) read(file string) ([]byte, error) {
	content, ok := f[f.follow(file)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (f tree) follow(name string) string {
	for at := name; at != "/"; at = path.Dir(at) {
		if to, ok := strings.CutPrefix(f[at], "-> "); ok {
			return f.follow(path.Join(path.Dir(at), to, strings.TrimPrefix(name, at)))
		}
	}
	return name
}

// TestFindPlacesOfGit finds what git is configured to run or read in places that are
// writable, and leaves the rest as it is.
func TestFindPlacesOfGit(t *testing.T) {
	t.Parallel()
	const config = "/ws/proj/.git/config"
	hooksIn := func(dir string) string { return "[core]\n\thooksPath = " + dir + "\n" }
	for name, test := range map[string]struct {
		files           tree
		rules           string
		further         []string
		protected, open []string
	}{
		"hooks in the tree": {
			files:     tree{config: hooksIn(".githooks")},
			protected: []string{"/ws/proj/.githooks"}, open: []string{"/ws/lib/.githooks", "/ws/proj/.git/.githooks"},
		},
		"by another root's repository": {files: tree{config: hooksIn("/ws/lib/hooks")}, protected: []string{"/ws/lib/hooks"}},
		"in a home":                    {files: tree{config: hooksIn("~/git/hooks")}, further: []string{"/home/u/git"}, protected: []string{"/home/u/git/hooks"}},
		"outside":                      {files: tree{config: hooksIn("/dev/null")}, open: []string{"/dev/null", "/ws/proj"}},
		"of one work tree":             {files: tree{"/ws/proj/.git/config.worktree": hooksIn("h")}, protected: []string{"/ws/proj/h"}},
		"of a repository above":        {files: tree{"/ws/.git/config": hooksIn("proj/h")}, protected: []string{"/ws/proj/h"}},
		"for all repositories": {
			files:     tree{"/home/u/.gitconfig": hooksIn(".githooks"), config: ""},
			protected: []string{"/ws/proj/.githooks"},
		},
		"for all, the other file": {files: tree{"/home/u/.config/git/config": hooksIn("h"), config: ""}, protected: []string{"/ws/proj/h"}},
		"included": {
			files: tree{
				config: "[include]\npath = ../dev/one\n[includeIf \"onbranch:x\"]\npath=/ws/lib/missing", "/ws/proj/dev/one": "[include]\npath = two",
				"/ws/proj/dev/two": "[include]\n path = one\n" + hooksIn("h"),
			},
			protected: []string{"/ws/proj/dev/one", "/ws/proj/dev/two", "/ws/lib/missing", "/ws/proj/h"}, open: []string{"/ws/proj/dev"},
		},
		"a work tree elsewhere": {
			files:     tree{config: "[core]\nworktree = /ws/lib/tree\nhooksPath = h\n"},
			protected: []string{"/ws/lib/tree/h", "/ws/proj/h"},
		},
		"a repository beside": {
			files: tree{
				"/ws/proj/.git": "gitdir: ./.bare/worktrees/m\n", "/ws/proj/.bare/worktrees/m/commondir": "../..\n",
				"/ws/proj/.bare/config": hooksIn("h"), "/ws/proj/.bare/HEAD": "",
			},
			protected: []string{"/ws/proj/.git", "/ws/proj/.bare/hooks", "/ws/proj/.bare/config", "/ws/proj/.bare/worktrees/m/commondir", "/ws/proj/h"},
			open:      []string{"/ws/proj/.bare", "/ws/proj/.bare/HEAD"},
		},
		"without a work tree": {
			files:     tree{"/ws/lib/HEAD": "", "/ws/lib/objects/a": "", "/ws/lib/refs/a": "", "/ws/lib/config": hooksIn("/ws/proj")},
			protected: []string{"/ws/lib/hooks", "/ws/lib/config"}, open: []string{"/ws/lib/HEAD", "/ws/proj"},
		},
		"not quite one": {files: tree{"/ws/lib/HEAD": "", "/ws/lib/refs/a": ""}, open: []string{"/ws/lib/hooks", "/ws/lib/config"}},
		"submodules and work trees": {
			files: tree{
				config: "", "/ws/proj/.git/modules/a/HEAD": "", "/ws/proj/.git/modules/a/config": "[core]\nworktree = ../../../sub\n",
				"/ws/proj/sub/.git": "gitdir: ../.git/modules/a", "/ws/proj/.git/worktrees/w/HEAD": "",
				"/ws/proj/.git/worktrees/w/gitdir": "/ws/lib/w/.git\n", "/ws/lib/w/.git": "gitdir: /ws/proj/.git/worktrees/w",
			},
			protected: []string{"/ws/proj/sub/.git", "/ws/proj/.git/worktrees/w/config.worktree"},
			open:      []string{"/ws/proj/sub", "/ws/lib/w/.git", "/ws/proj/.git/worktrees/w/gitdir"},
		},
		"what a command could write there": {
			files: tree{
				config: "", "/ws/proj/src/a.go": "", "/ws/proj/l": "-> src", "/ws/proj/src/b/.git": "",
				"/ws/proj/.git/modules/a/HEAD": "", "/ws/proj/.git/modules/a/config": "[core]\nworktree = /ws/proj/src\n" + hooksIn("/ws/proj"),
				"/ws/proj/.git/modules/b/HEAD": "", "/ws/proj/.git/modules/b/config": "[core]\nworktree = /ws/proj/l/b\n",
			},
			open: []string{"/ws/proj", "/ws/proj/src", "/ws/proj/src/.git", "/ws/proj/src/a.go", "/ws/proj/l/b/.git"},
		},
		"submodules that lack a HEAD": {
			files: tree{
				config: "", "/ws/proj/.git/modules/a/config": "", "/ws/proj/.git/modules/b/hooks/pre-commit": "", "/ws/proj/.git/worktrees/w/commondir": "",
				"/ws/proj/.git/modules/lfs/HEAD": "", "/ws/proj/.git/modules/HEAD": "",
			},
			protected: []string{
				"/ws/proj/.git/modules/a/hooks", "/ws/proj/.git/modules/a/config", "/ws/proj/.git/modules/b/config", "/ws/proj/.git/modules/b/hooks",
				"/ws/proj/.git/worktrees/w/config", "/ws/proj/.git/modules/lfs/config",
			},
			open: []string{"/ws/proj/.git/modules/a", "/ws/proj/.git/modules/a/HEAD"},
		},
		"submodules with names of git's": {
			files: tree{
				config: "", "/ws/proj/.git/modules/config/HEAD": "", "/ws/proj/.git/modules/hooks/a/HEAD": "", "/ws/proj/.git/modules/x/hooks/HEAD": "",
			},
			protected: []string{"/ws/proj/.git/modules/config/config", "/ws/proj/.git/modules/hooks/a/hooks", "/ws/proj/.git/modules/x/hooks/hooks"},
			open:      []string{"/ws/proj/.git/modules/config", "/ws/proj/.git/modules/hooks", "/ws/proj/.git/modules/x/hooks"},
		},
		"links among submodules": {
			files: tree{
				config: "", "/ws/proj/.git/modules/a/HEAD": "", "/ws/proj/.git/modules/b": "-> a", "/ws/proj/.git/worktrees": "-> ../src",
				"/ws/proj/src/w/HEAD": "",
			},
			protected: []string{"/ws/proj/.git/modules/a/config"},
			open:      []string{"/ws/proj/.git/modules/b", "/ws/proj/.git/modules/b/config", "/ws/proj/.git/worktrees/w/config", "/ws/proj/src/w/config"},
		},
		"a further directory": {
			files: tree{"/cache/x/.git/config": hooksIn("h"), "/cache/x/keep": "", "/cache/x/.env": ""}, further: []string{"/cache/x", "/ws/proj"},
			rules:     "deny Edit(//cache/x/keep) ; deny Read(.env)",
			protected: []string{"/cache/x/.git/hooks", "/cache/x/h", "/cache/x/.bashrc", "/cache/x/keep", "/cache/x/.claude/settings.json", "/cache/x/.env"},
		},
		"bypass":   {files: tree{config: hooksIn("h")}, rules: "mode bypassPermissions", open: []string{"/ws/proj/h"}},
		"approved": {files: tree{config: hooksIn("h")}, rules: "approved write /ws/proj/h/pre-commit", open: []string{"/ws/proj/h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := walled(t, test.rules).Around(test.further)
			found := w.Reading(test.files.read).Following(test.files.follow).Find(test.files.list)
			holds(t, "protected", found.Protected, test.protected, test.open)
		})
	}
}

// TestFurtherDirectoriesAreWalked looks in them for what only a walk finds.
func TestFurtherDirectoriesAreWalked(t *testing.T) {
	t.Parallel()
	w := walled(t, "deny Edit(*.lock)").Around([]string{"/cache/x"})
	if got, want := w.Walks(), []string{"/cache/x", "/ws/lib", "/ws/proj"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := w.Pins("/cache/x/a/b.lock"); !slices.Equal(got, []string{"/cache/x/a"}) {
		t.Errorf("it pins %v", got)
	}
	if got := walled(t, "").Around([]string{"/cache/x"}).Walks(); got != nil {
		t.Errorf("with no rule of any depth it walks %v", got)
	}
}

// TestRepositoryFollowsAlternates finds the repositories that lend their objects, and those
// that lend to them.
func TestRepositoryFollowsAlternates(t *testing.T) {
	t.Parallel()
	files := tree{
		"/ws/proj/.git/HEAD": "ref: refs/heads/main\n", "/ws/proj/.git/objects/info/alternates": "# near\n../../../lib/.git/objects\n",
		"/ws/lib/.git/objects/info/alternates": "/srv/r/objects\n", "/srv/r/HEAD": "",
	}
	noLinks := func(string) ([]string, error) { return nil, nil }
	found, known := compile(t, setupFor(t, "")).Repository("/ws/proj/src", files.read, files.list, noLinks)
	if want := []string{"/srv/r", "/ws/lib", "/ws/proj"}; !known || found.Work != "" || !slices.Equal(found.Trees, want) {
		t.Errorf("known %t, its own %q, trees %v, want %v", known, found.Work, found.Trees, want)
	}
	files["/ws/lib/.git/objects/info/alternates"] = "\"quoted\"\n"
	if _, known := compile(t, setupFor(t, "")).Repository("/ws/proj", files.read, files.list, noLinks); known {
		t.Error("a quoted alternate is taken for known")
	}
}
