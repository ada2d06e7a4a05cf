package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestGitBesideOthers runs reads of git that nobody is asked about beside commands that
// change files or are allowed by a rule. None runs a program that the repository names.
func TestGitBesideOthers(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "bash")
	for _, confined := range []sandbox.Mode{sandbox.WhenAvailable, sandbox.Off} {
		for _, command := range []string{"git status", "touch new && git status", "make --version; git status", "unset git; git status"} {
			dir := t.TempDir()
			script := "git init -q . && git config core.fsmonitor 'touch ran; false' && touch a.txt && git add -N a.txt"
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_ = os.Remove(filepath.Join(dir, "ran"))
			h := newShelled(t, func(o *host.Options) {
				o.Shell.Sandbox.Mode, o.Permissions.Rules = confined, rules("", "", "Bash(make:*)")
				o.Permissions.Rules[0].Mode = permissions.ModeAcceptEdits
				o.Shell.Sandbox.Unasked = permissions.UnaskedNever
			})
			r, _ := one(t, session(t, h.Host, host.SessionOptions{Cwd: dir}), "Bash", `{"command":"`+command+`"}`)
			if r.IsError && command != "unset git; git status" && command != "make --version; git status" {
				t.Errorf("%s: %s", command, r.Text())
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Errorf("%s, sandbox %s: a program of the repository ran", command, confined)
			}
		}
	}
}
