package permissions_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestForeseen says of commands whether they meet in the tree ".", or in what git has of it,
// what is there before they start, and what a sandbox hides of it.
func TestForeseen(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"grep -r x .":                           "as it is, hidden",
		"mkdir d && grep -r x .":                "as it is, hidden",
		"make -n; grep -r x .":                  "hidden",
		"!grep -r x .":                          "as it is", // nothing hides from what leaves the sandbox
		"!make -n; grep -r x .":                 "",
		"make -n . && find . -exec z":           "",
		"git checkout a; grep -r x .":           "",
		"git log -p":                            "as it is, hidden",
		"make -n; git log -p":                   "", // no sandbox hides what git brings back
		"git cat-file --batch":                  "", // of which nobody can look at the history
		"find /ws/lib -execdir grep -r x . ';'": "", // the find reads /ws/lib, the grep what is there
	} {
		c := analysed(command)
		trees := compile(t, setupFor(t, "deny Read(.env)")).Searched([]permissions.Command{c})
		var got []string
		for _, a := range trees {
			if c.Foreseen(a, false, false) {
				got = append(got, "as it is")
			}
			if c.Foreseen(a, true, false) {
				got = append(got, "hidden")
			}
		}
		if got := strings.Join(got, ", "); got != want || len(trees) == 0 {
			t.Errorf("%s: %q, want %q: %+v", command, got, want, trees)
		}
	}
}
