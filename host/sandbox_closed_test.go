//go:build linux && (amd64 || arm64)

package host_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestSandboxOfClosedDirectories has a command close a directory, so that what it holds
// cannot be found, and the next one open it again. No directory is closed to root, so
// there an ordinary user runs it.
func TestSandboxOfClosedDirectories(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	dir := files(t, map[string]string{"deep/er/.env": "SECRET", "deep/a.txt": "plain"})
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = rules("Read(.env)", "", "Bash") })
	s := session(t, h.Host, host.SessionOptions{Cwd: dir, Asker: agreeing()})
	if got := told(t, s, "chmod 300 deep && echo closed"); !strings.HasSuffix(got, "\nclosed") {
		t.Fatalf("got %q", got)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "deep"), 0o700) }) //nolint:gosec // to be removed
	if got := told(t, s, "d=$(printf %s deep); chmod 700 $d; cat $d/er/.e* $d/er/.[e]nv"); strings.Contains(got, "SECRET") || got == "" {
		t.Errorf("got %q", got)
	}
	must(t, os.Chmod(filepath.Join(dir, "deep"), 0o700)) //nolint:gosec // as it was
	if got := told(t, s, "d=$(printf %s deep); cat $d/a.txt $d/er/.e*"); !strings.Contains(got, "plain") || strings.Contains(got, "SECRET") {
		t.Errorf("opened again: got %q", got)
	}
}

// TestHeldInClosedDirectories has commands close what holds protected names, in a few ways:
// the next one cannot change them, and what may be new there is told.
func TestHeldInClosedDirectories(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	for _, test := range testenv.Some([]struct{ closed, mode string }{
		{"n/.git", "000"}, {"n/.git", "311"}, {"n/.git", "644"}, {"n", "000"}, {"n", "311"}, {"n", "644"},
		{"n/.git/modules", "000"}, {"n/.git/modules", "311"}, {"n/.git/modules", "644"},
		{"n/.git/modules/m", "000"}, {"n/.git/modules/m", "311"}, {"n/.git/modules/m", "644"},
	}) {
		dir := files(t, map[string]string{"n/.git/HEAD": "", "n/.git/config": "old", "n/.git/modules/m/HEAD": "", "n/.git/modules/m/config": "old"})
		open := func() { _ = exec.CommandContext(t.Context(), "chmod", "-R", "u=rwX", dir).Run() }
		s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
		got := told(t, s, inScript(t, dir, "mkdir -p n/new/.vscode; chmod "+test.mode+" "+test.closed+" && echo closed"))
		if !strings.Contains(got, "closed") || test.closed == "n" && test.mode != "644" && !strings.Contains(got, "There may be new protected files in n,") {
			t.Errorf("%+v: got %q", test, got)
		}
		told(t, s, inScript(t, dir, "chmod 755 "+test.closed+"; echo new > n/.git/config; echo new > n/.git/modules/m/config"))
		open()
		for _, name := range []string{"n/.git/config", "n/.git/modules/m/config"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != "old" {
				t.Errorf("%+v: %s is %q, %v", test, name, text, err)
			}
		}
	}
}

// asNobody runs the test once more as an ordinary user.
func asNobody(t *testing.T) {
	t.Helper()
	testenv.NeedTool(t, "bwrap")
	const nobody = 65534
	dir := t.TempDir()
	program := filepath.Join(dir, "host.test")
	content, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	testenv.WriteProgram(t, program, content)
	must(t, os.Chmod(filepath.Dir(dir), 0o711))
	must(t, os.Chown(dir, nobody, nobody))
	ctx, cancel := context.WithTimeout(t.Context(), 5*testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "XDG_CACHE_HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}
