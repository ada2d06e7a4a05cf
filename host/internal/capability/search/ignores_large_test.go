package search

import (
	"fmt"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestIgnoresOfALargeDirectory: of a directory that takes many reads it is not known
// at first whether it has ignore files, which count from its first entry on all the
// same.
func TestIgnoresOfALargeDirectory(t *testing.T) {
	t.Parallel()
	pairs := []string{".git/HEAD", "", ".gitignore", "*.no\n", ".ignore", "*.never\n", "x.yes", "found\n"}
	for i := range 1000 {
		ending := []string{"no", "never"}[i%2]
		pairs = append(pairs, fmt.Sprintf("%060d.%s", i, ending), "found\n")
	}
	root := tree(t, pairs...)
	_, got, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "found"}, all)
	if err != nil || got != "x.yes\n" {
		t.Errorf("%.200q, %v", got, err)
	}
}
