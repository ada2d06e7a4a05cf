//go:build amd64 || arm64

package shell_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// nobody is an ordinary user.
const nobody = 65534

// TestAsOrdinaryUser runs everything once more as one, with samples, where this is root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // all of it runs so
	}
	testenv.SkipUnlessThorough(t)
	testenv.NeedTool(t, "bwrap")
	dir := folder(t)
	program := filepath.Join(dir, "shell.test")
	content, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	testenv.WriteProgram(t, program, content)
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "CI=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, suite := range []string{"TestEscapes", "TestSurvivors", "TestHostKilled", "TestBombs", "TestUndoneAfterKill"} {
		if !strings.Contains(string(out), "--- PASS: "+suite+" ") {
			t.Errorf("%s was not passed", suite)
		}
	}
}
