package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// outputting are the sub-commands of git that write the file --output names, as
// soon as they meet it, even where they go on to refuse another flag.
var outputting = []string{
	"git log", "git show", "git diff", "git diff-tree", "git diff-index", "git diff-files",
	"git reflog show", "git reflog", "git stash list", "git stash show", "git rev-list", "git shortlog", "git blame",
}

// A flag that the table lets take the next word does so: else a flag could hide
// there from the table, and not from git.
func TestGitFlagsTakeTheirValues(t *testing.T) {
	testenv.Permitted(t, testenv.Linux)
	testenv.NeedTool(t, "git")
	bwrap := testenv.NeedTool(t, "bwrap")
	dir := scratch(t)
	if out, _ := inSandbox(bwrap, dir, "git init -q . && git add a b"); out != "" {
		t.Fatal(out)
	}
	var commands []string
	var names []string
	for _, name := range outputting {
		for flagName, f := range table()[name].flags {
			if f.value == valueRequired {
				commands = append(commands, fmt.Sprintf("(%s %s --output=probe.%d)", name, flagName, len(names)))
				names = append(names, name+" "+flagName)
			}
		}
	}
	if len(names) < 100 {
		t.Fatalf("only %d flags take values", len(names))
	}
	for group := range slices.Chunk(commands, 8*together) {
		if _, err := inSandbox(bwrap, dir, strings.Join(group, "\n")); err != nil {
			t.Errorf("one of these does not end:\n%s", group)
		}
	}
	for i, name := range names {
		if _, err := os.Stat(filepath.Join(dir, "work", fmt.Sprint("probe.", i))); err == nil {
			t.Errorf("%s takes no word behind it", name)
		}
	}
}
