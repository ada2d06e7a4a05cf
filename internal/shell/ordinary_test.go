package shell

import (
	"os"
	"strings"
	"testing"
)

// The least that may pass of the commands that people run without thinking.
const (
	ordinary      = 108
	ordinaryFloor = 89
)

// TestOrdinaryCommandsPass holds the commands of testdata/ordinary.txt against their
// verdicts: "ro", or "no" with the reason in the next line.
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
		if c.ReadOnly {
			passed++
		}
		if c.ReadOnly != (want == "ro") {
			t.Errorf("ordinary.txt:%d: %s: read-only is %t: %s", i+1, command, c.ReadOnly, c.Reason)
		}
		if want == "no" && (i+1 == len(lines) || !strings.Contains(c.Reason, strings.TrimSpace(lines[i+1]))) {
			t.Errorf("ordinary.txt:%d: %s asks, as %s", i+1, command, c.Reason)
		}
	}
	if all != ordinary || passed < ordinaryFloor {
		t.Errorf("%d of %d ordinary commands pass; want %d of %d", passed, all, ordinaryFloor, ordinary)
	}
}
