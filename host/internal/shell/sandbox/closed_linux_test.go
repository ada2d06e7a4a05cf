//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// A command may close a folder, so that the next sandbox cannot look into it, and have
// its next command open it again: what lies in there is shut all the same.
func TestClosedByCommands(t *testing.T) {
	for _, mode := range []os.FileMode{0, 0o200, 0o300, 0o400, 0o600} {
		t.Run(mode.String(), func(t *testing.T) {
			root := tree(t, "w/s/deep/key", "w/p/deep/hooks/h")
			s := find(t, sandbox.Options{State: root + "/state"})
			for _, dir := range under(root, "w/s", "w/p") {
				if err := os.Chmod(dir, mode); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) //nolint:gosec // for the test's folder to be removed
			}
			spec := sandbox.Spec{
				Writable: under(root, "w"), Hidden: under(root, "w/s/deep/key"), Protected: under(root, "w/p/deep/hooks"), Cwd: root + "/w",
			}
			out, err := run(t, s, spec, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
				`chmod 700 s p; cat s/deep/key; echo x > p/deep/hooks/h; echo x > p/deep/hooks/new; echo end`)
			if strings.Contains(out, "content of") || !strings.HasSuffix(out, "end\n") {
				t.Errorf("%v: it printed\n%s", err, out)
			}
			_ = os.Chmod(root+"/w/p", 0o700) //nolint:gosec // to look into it
			if content, err := os.ReadFile(root + "/w/p/deep/hooks/h"); err != nil || string(content) == "x\n" {
				t.Errorf("it changed what is protected: %q, %v", content, err)
			}
			if exists(root + "/w/p/deep/hooks/new") {
				t.Error("it made what is protected")
			}
		})
	}
}

// Git works in a sandbox that keeps a repository from running programs, and beside it,
// while it runs.
func TestGit(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "basename") // of git submodule
	root := tree(t, "w/f", "lib/f")
	env := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file",
	}
	outside := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	for _, dir := range under(root, "lib", "w") {
		outside("-C", dir, "init", "-q", "-b", "main")
		outside("-C", dir, "add", "f")
		outside("-C", dir, "commit", "-qm", "one")
	}
	outside("-C", root+"/w", "submodule", "--quiet", "add", root+"/lib", "sub")
	outside("-C", root+"/w", "worktree", "add", "-q", root+"/w/tree")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Cwd: root + "/w", Bind: []sandbox.Bind{{Source: root + "/lib", Target: root + "/lib"}}}
	for _, dir := range []string{".git", ".git/modules/sub", ".git/worktrees/tree"} {
		for _, name := range []string{"hooks/", "config", "config.worktree", "commondir"} {
			spec.Protected = append(spec.Protected, root+"/w/"+dir+"/"+name)
		}
	}
	held, err := s.Wrap(t.Context(), spec, []string{"true"}) // as while a command runs
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(t, s, spec, env, `set -e
		echo 2 > g; git add g; git commit -qm two; git status --short; git stash list; git log --format=%s
		git worktree add -q other; git -C other status --short; git worktree list | wc -l; git worktree remove other
		git -C tree status --short; git -C tree log --format=%s -1
		git submodule status | wc -l; cd sub; echo 3 > h; git add h; git commit -qm sub; git status --short; git log --format=%s -1; cd ..
		git gc -q; git fsck; git checkout -qb branch; git rev-parse --git-common-dir --show-toplevel
		echo evil > .git/commondir; echo evil > .git/modules/sub/commondir; rm -f .git/commondir`)
	if !strings.Contains(out, "two\none\n3\none\n1\nsub\n") || strings.Contains(out, "fatal") {
		t.Errorf("%v: it printed\n%s", err, out)
	}
	for _, dir := range []string{"", "/sub", "/tree"} {
		outside("-C", root+"/w"+dir, "status", "--short")
		outside("-C", root+"/w"+dir, "log", "-1")
		outside("-C", root+"/w"+dir, "add", "-A")
		outside("-C", root+"/w"+dir, "commit", "-qm", "outside", "--allow-empty")
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	for _, path := range under(root, "w/.git/commondir", "w/.git/modules/sub/commondir", "w/.git/config.worktree") {
		if exists(path) {
			t.Errorf("%s is left", path)
		}
	}
	outside("-C", root+"/w", "status", "--short")
}
