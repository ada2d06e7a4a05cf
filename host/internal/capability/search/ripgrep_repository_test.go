package search

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestRepositoryAgainstRipgrep searches this repository, with what it ignores.
func TestRepositoryAgainstRipgrep(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []abi.ContentsArgs{
		{Pattern: "package search", Mode: abi.ModeContent, LineNumbers: true, Before: 1, After: 2},
		{Pattern: `func \(\w+ \*walk\)`, Mode: abi.ModeCount},
		{Pattern: "CAPABILITY", CaseInsensitive: true, Type: "rust", Mode: abi.ModeCount},
		{Pattern: `^\[\[?\w+\]\]?$`, Globs: []string{"*.{toml,mod}", "!**/testdata/**"}, Mode: abi.ModeContent},
		{Pattern: `package \w+\n\nimport`, Multiline: true, Path: "host", Mode: abi.ModeFiles},
	} {
		a.Limit = 1_000_000
		want := rg(t, root, arguments(a)...)
		_, got, err := call(t, root, abi.CapSearchContents, a, all)
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		if a.Mode == abi.ModeFiles {
			got, want = sortLines(got), sortLines(want)
		}
		if got != want || strings.Count(got, "\n") == 0 {
			t.Errorf("%+v\n%s", a, difference(got, want))
		}
	}
}
