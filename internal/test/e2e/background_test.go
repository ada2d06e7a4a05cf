package e2e

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestBackgroundExample runs examples/background, as its own words tell how: a build
// begins, is looked at while something else is done, and is stopped.
func TestBackgroundExample(t *testing.T) {
	t.Parallel()
	testenv.SkipUnderRace(t)
	testenv.NeedTool(t, "bwrap")
	program := testenv.GoProgram(t, "../../../examples/background")
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, program)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		`== start`, `started in the background as task b[0-9a-z]{8}`,
		`== poll`, `(?m)^internal/`, `== meanwhile`, `main\.go:.*localhost:8080`,
		`== stop`, `(?i)stopped|ended|killed`,
	} {
		at := regexp.MustCompile(want).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("no %s in order in %s", want, out)
		}
		rest = rest[at[1]:]
	}
	// What is told of the task comes when it happens, between the results or behind them.
	for _, want := range []string{" is running\n", " is killed\n"} {
		if strings.Count(string(out), want) != 1 {
			t.Errorf("%q is not once in %s", want, out)
		}
	}
	left, err := os.ReadDir(strings.TrimPrefix(c.Env[len(c.Env)-1], "TMPDIR="))
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), "toolquay-sandboxes-") // where processes find each other
	})
	if err != nil || len(left) > 0 {
		t.Errorf("%v was left, %v", left, err)
	}
}
