package permissions_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/powershell"
	"github.com/toolquay/toolquay/permissions"
)

// TestPowerShellTable holds testdata/powershell/decided.txt, whose cells are parted by
// tabs: what becomes of commands for PowerShell.
func TestPowerShellTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/powershell/decided.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.SplitN(line, "\t", 3)
		if len(cells) != 3 {
			t.Fatalf("line %d: %d cells", i+1, len(cells))
		}
		c := powershell.Analyse(cells[2], powershell.Place{Cwd: "/ws/proj", Home: "/home/u", Working: []string{"/ws/proj", "/ws/lib"}})
		c.Resolve(throughLink)
		d := permissions.Decide(compile(t, setupFor(t, cells[1])), permissions.Request{
			Tool: "PowerShell", Effects: permissions.EffectsListed,
			Commands: []permissions.Command{c}, Accesses: c.Accesses(),
		}, permissions.Evidence{})
		if want := strings.TrimSpace(cells[0]); d.Verdict.String() != want {
			t.Errorf("line %d: %s with %q: %s, want %s: %s", i+1, cells[2], cells[1], d.Verdict, want, d.Message())
		}
	}
}
