package runnertest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// alone runs the test that calls it in a process of its own, in which the variable
// is set.
func alone(t *testing.T, variable string) {
	t.Helper()
	var pattern []string
	for name := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(name)+"$")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", strings.Join(pattern, "/"))
	child.Env = append(os.Environ(), variable+"=1")
	out, err := child.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v", err)
	}
}
