package retention_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/worktree"
	"github.com/toolquay/toolquay/host/retention"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestWorktrees removes the worktrees that nobody used and with which nothing is lost, and halves
// of others at once; it names what stays.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	program := testenv.NeedTool(t, "git")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(root, "main")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-c", "user.name=n", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	git(root, "init", "-q", main)
	git(main, "commit", "-q", "--allow-empty", "-m", "one")
	s := &worktree.Store{Dir: filepath.Join(root, "state", "worktrees"), Git: func() (string, error) { return program, nil }}
	o := retention.Options{Worktrees: s.Dir, Git: s.Git, Areas: []string{"worktrees"}, Thorough: true}
	trees := make(map[string]*worktree.Tree)
	for _, name := range []string{"old", "new", "dirty", "ahead", "used", "half", "broken"} {
		tree, _, err := s.Make(t.Context(), main, name, "s1")
		if err != nil {
			t.Fatal(err)
		}
		trees[name] = tree
	}
	long := time.Now().Add(-60 * 24 * time.Hour)
	record := func(name string) string {
		return filepath.Join(filepath.Dir(trees[name].Path), "."+name+".json")
	}
	for name, tree := range trees {
		switch name {
		case "dirty":
			if err := os.WriteFile(filepath.Join(tree.Path, "a"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		case "ahead":
			git(tree.Path, "commit", "-q", "--allow-empty", "-m", "two")
		case "broken":
			if err := os.Remove(filepath.Join(tree.Path, ".git")); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(record(name))
		if err != nil {
			t.Fatal(err)
		}
		from, to := tree.Created.Format(time.RFC3339), long.UTC().Format(time.RFC3339)
		if name == "half" {
			from, to = `"state":"made"`, `"state":"removing"`
		}
		if name != "used" {
			if err := tree.Release(); err != nil {
				t.Fatal(err)
			}
		}
		if name == "new" {
			continue
		}
		if err := os.WriteFile(record(name), []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(main, ".git", "worktrees", name)
		for _, path := range []string{record(name), tree.Path, filepath.Join(own, "index"), filepath.Join(own, "logs", "HEAD")} {
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(s.Dir, "foreign"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "foreign", "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	want := map[string]struct {
		looks, cleans retention.State
		why           string
	}{
		"old": {retention.Over, retention.Removed, "not used since"}, "new": {retention.Kept, retention.Kept, "the session s1 left it on the branch worktree/new of " + main},
		"dirty": {retention.Unsaved, retention.Unsaved, "and this would be lost: 1 uncommitted: ?? a"}, "ahead": {retention.Unsaved, retention.Unsaved, "1 committed nowhere else"},
		"used": {retention.Kept, retention.Kept, "a session is working in it"}, "half": {retention.Leftover, retention.Removed, "half removed"},
		"broken": {retention.Unsaved, retention.Unsaved, "not known"}, "a": {retention.Foreign, retention.Foreign, "no session has a record"},
	}
	for _, clean := range []bool{false, true} {
		r := retention.Look(t.Context(), o)
		if clean {
			r = retention.Clean(t.Context(), o)
		}
		seen := 0
		for _, it := range r.Items {
			test := want[filepath.Base(it.Path)]
			state := test.looks
			if clean {
				state = test.cleans
			}
			if seen++; it.State != state || !strings.Contains(it.Why, test.why) {
				t.Errorf("cleans %v: %s is %s: %s", clean, it.Path, it.State, it.Why)
			}
		}
		if seen != len(want) {
			t.Errorf("%d items: %+v", seen, r.Items)
		}
	}
	for name, tree := range trees {
		_, err := os.Lstat(tree.Path)
		if gone := name == "old" || name == "half"; gone != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.Git = nil
	if n, _ := retention.Clean(t.Context(), o).Total("worktrees", retention.Unsaved); n != 3 {
		t.Errorf("without git, %d of three stay", n)
	}
}
