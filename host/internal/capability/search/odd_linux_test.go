package search

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user who owns nothing.
const nobody = 65534

// TestOddTreesOfNobody runs [TestOddTrees] as a user to whom shut directories are shut,
// which they are not to root.
func TestOddTreesOfNobody(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // TestOddTrees itself is run by such a user
	}
	// The program may lie where another user cannot go, so it is run by its descriptor.
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^TestOddTrees$", "-test.v")
	cmd.ExtraFiles = []*os.File{program}
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME=/", "XDG_CACHE_HOME=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestOddTrees ") {
		t.Errorf("%v\n%s", err, out)
	}
}
