package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestRepositories opens the repository of a linked work tree or a submodule, where it knows of
// the tree.
func TestRepositories(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	root := paths.Real(t.TempDir())
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(root+name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q", "main")
	run("-C", "main", "commit", "-q", "--allow-empty", "-m", "x")
	run("-C", "main", "worktree", "add", "-q", root+"/linked")
	run("-C", "main", "worktree", "add", "-q", root+"/main/inner")
	if err := os.Symlink(root+"/linked", root+"/link"); err != nil {
		t.Fatal(err)
	}
	common := root + "/main/.git"
	write("/claims/.git", "gitdir: "+common+"/worktrees/linked\n")
	write("/whole/.git", "gitdir: "+common+"\n")
	write("/own/.git", "gitdir: ../fake/worktrees/own\n")
	write("/fake/worktrees/own/gitdir", "../../../own/.git\n")
	write("/fake/worktrees/own/commondir", "../../../main/.git\n")
	write("/plain/a", "")
	run("-c", "protocol.file.allow=always", "-C", "main", "submodule", "--quiet", "add", root+"/main", "lib")
	write("/library/.git", "gitdir: "+common+"/modules/lib\n")
	for _, test := range []struct {
		working []string
		want    []string
	}{
		{[]string{"/linked"}, []string{common}}, {[]string{"/link", "/linked"}, []string{common}}, {[]string{"/main/inner"}, []string{common}},
		{[]string{"/main"}, nil}, {[]string{"/linked", "/main"}, nil}, {[]string{"/plain"}, nil}, {[]string{"/missing"}, nil},
		{[]string{"/claims"}, nil}, {[]string{"/whole"}, nil}, {[]string{"/own"}, nil}, {[]string{"/library"}, nil},
		{[]string{"/main/lib"}, []string{common + "/modules/lib"}}, {[]string{"/main/lib", "/main"}, nil},
	} {
		p := capability.SandboxPolicy{Temp: root + "/tmp"}
		for _, dir := range test.working {
			p.Working = append(p.Working, root+dir)
		}
		if got := repositories(&p, paths.Real); !slices.Equal(got, test.want) {
			t.Errorf("for %q: %q, want %q", test.working, got, test.want)
		}
	}
}
