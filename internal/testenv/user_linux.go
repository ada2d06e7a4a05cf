package testenv

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// AsOrdinaryUser runs the test again as the user nobody if this process is root, and reports whether it did.
func AsOrdinaryUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	const nobody = 65534
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	dir, err := os.MkdirTemp("/var/tmp", "test-*") //nolint:usetesting // another user cannot enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // its files are temporary
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.ExtraFiles = []*os.File{program}
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME=/", "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}
