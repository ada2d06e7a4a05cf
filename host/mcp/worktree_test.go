package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestWorktree has clients enter a worktree of a real repository, write in it, keep it, and discard
// another.
func TestWorktree(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ *mcp.Options, o *host.Options) {
				o.Storage.Worktrees = filepath.Join(t.TempDir(), "worktrees")
				o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Mode: permissions.ModeAcceptEdits, Allow: permissions.RuleTexts("ExitWorktree")}}
			})
			git := func(args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "git"), append([]string{"-c", "user.name=n", "-c", "user.email=a@b"}, args...)...)
				cmd.Dir = s.dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %q: %v: %s", args, err, out)
				}
				return string(out)
			}
			git("init", "-q")
			git("add", "-A")
			git("commit", "-q", "-m", "one")
			c := w.connect(s, nil)
			gives(t, c, "EnterWorktree", `{"name":"x"}`, `"worktreeBranch":"worktree/x"`)
			gives(t, c, "Write", `{"file_path":"b.txt","content":"two\n"}`, `/x/b.txt"`)
			if r := result(t, c, "ExitWorktree", `{"action":"remove"}`); !r.IsError {
				t.Errorf("removed with a file in it: %+v", r.StructuredContent)
			}
			gives(t, c, "ExitWorktree", `{"action":"keep"}`, `"action":"keep"`)
			gives(t, c, "EnterWorktree", `{"name":"y"}`, `"worktreeBranch":"worktree/y"`)
			gives(t, c, "Write", `{"file_path":"c.txt","content":"three\n"}`, `/y/c.txt"`)
			gives(t, c, "ExitWorktree", `{"action":"remove","discard_changes":true}`, `"discardedFiles":1`)
			if got := git("branch", "--list", "worktree/*", "--format=%(refname:short)"); got != "worktree/x\n" {
				t.Errorf("the branches are %q", got)
			}
			for _, name := range []string{"b.txt", "c.txt"} {
				if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
					t.Errorf("%s is in the main worktree", name)
				}
			}
		})
	}
}
