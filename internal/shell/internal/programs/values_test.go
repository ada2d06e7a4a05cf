package programs

import (
	"fmt"
	"math/rand/v2"
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

// A flag that the table lets take the next word does so, and no other that may stand
// before a "--" does: else a flag could hide there from the table, and not from git.
func TestGitFlagsTakeTheirValues(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux)
	testenv.NeedTool(t, "git")
	bwrap := testenv.NeedTool(t, "bwrap")
	dir := scratch(t)
	if out, _ := inSandbox(bwrap, dir, "git init -q . && git add a b"); out != "" {
		t.Fatal(out)
	}
	var commands, names []string
	var takes []bool
	for _, name := range outputting {
		for flagName, f := range table()[name].flags {
			required, separator := f.value == valueRequired, " -- "
			if required {
				separator = " "
			}
			command := fmt.Sprintf("%s %s%s--output=probe.%d", name, flagName, separator, len(names))
			if !required && !Judge(split(command)).ReadOnly {
				continue
			}
			commands = append(commands, "("+command+")")
			names, takes = append(names, name+" "+flagName), append(takes, required)
		}
	}
	if len(names) < 1000 {
		t.Fatalf("only %d flags", len(names))
	}
	tried := rand.Perm(len(commands))[:testenv.Sample(len(commands))]
	for group := range slices.Chunk(tried, 8*together) {
		var text strings.Builder
		for _, i := range group {
			text.WriteString(commands[i] + "\n")
		}
		if _, err := inSandbox(bwrap, dir, text.String()); err != nil {
			t.Errorf("one of these does not end:\n%s", text.String())
		}
	}
	for _, i := range tried {
		name := names[i]
		switch _, err := os.Stat(filepath.Join(dir, "work", fmt.Sprint("probe.", i))); {
		case err == nil && takes[i]:
			t.Errorf("%s takes no word behind it", name)
		case err == nil:
			t.Errorf("%s takes the word behind it", name)
		}
	}
}
