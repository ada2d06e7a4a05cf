package shell

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// The least that may pass, in percent, of the commands that people run without thinking.
const ordinaryFloor = 88

// TestOrdinaryCommandsPass holds the commands of testdata/ordinary.txt against their
// verdicts: "ro", "sb" for what is so in a sandbox, or "no" with the reason in the next line.
func TestOrdinaryCommandsPass(t *testing.T) {
	data, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	all, passed := 0, 0
	for i, line := range lines {
		want, command, ok := strings.Cut(line, " : ")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, " ") || !ok {
			continue
		}
		all++
		c := Analyse(command, testPlace)
		got := verdictOf(c)
		if got != "no" {
			passed++
		}
		if got != want {
			t.Errorf("ordinary.txt:%d: %s is %q, want %q: %s", i+1, command, got, want, c.Reason)
		}
		if want == "no" && (i+1 == len(lines) || !strings.Contains(c.Reason, strings.TrimSpace(lines[i+1]))) {
			t.Errorf("ordinary.txt:%d: %s asks, as %s", i+1, command, c.Reason)
		}
	}
	t.Logf("%d of %d ordinary commands pass, %.1f %%", passed, all, float64(100*passed)/float64(all))
	if all < 141 || 100*passed < ordinaryFloor*all {
		t.Errorf("%d of %d ordinary commands pass; want %d %%", passed, all, ordinaryFloor)
	}
}

// verdictOf is how a table tells where a command is read-only.
func verdictOf(c permissions.Command) string {
	switch {
	case c.ReadOnly && !c.ReadOnlyConfined:
		return "ro, but not in a sandbox" // which must not be
	case c.ReadOnly:
		return "ro"
	case c.ReadOnlyConfined:
		return "sb"
	}
	return "no"
}

// TestReadOnlyConfined holds what is read-only in a sandbox: programs that are known to only
// read, whose files alone are not known, and nothing that takes code from elsewhere.
func TestReadOnlyConfined(t *testing.T) {
	data, err := os.ReadFile("testdata/confined.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		want, command, ok := strings.Cut(line, " : ")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if !ok {
			t.Fatalf("confined.txt:%d: no verdict", i+1)
		}
		if c := Analyse(command, testPlace); verdictOf(c) != want {
			t.Errorf("confined.txt:%d: %s is %q, want %q: %s", i+1, command, verdictOf(c), want, c.Reason)
		}
	}
}
