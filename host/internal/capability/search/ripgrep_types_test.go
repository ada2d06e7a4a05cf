package search

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestTypesAgainstRipgrep: every type that ripgrep knows is known here, with all of
// its globs. There are more here, of later releases and longer names.
func TestTypesAgainstRipgrep(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), testenv.NeedTool(t, "rg"), "--no-config", "--type-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		name, globs, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("%q is no type", line)
		}
		seen++
		ours := types()[name]
		for glob := range strings.SplitSeq(globs, ", ") {
			if !slices.Contains(ours, glob) {
				t.Errorf("type %s has no %s", name, glob)
			}
		}
	}
	if seen < 100 {
		t.Errorf("ripgrep named %d types", seen)
	}
}
