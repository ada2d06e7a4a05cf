package permissions_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// A name that a variable holds, or that a pipe brings, is judged no looser than one that is
// written out: where a rule denies reading it, it is not read unasked, whatever allows the
// command.
func TestConstantsHideNothing(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/unknown/constants.txt")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, mode := range modes {
		for _, rule := range []string{"deny Read(secret/**)", "ask Read(secret/**)", "deny Read(key)"} {
			for _, allow := range []string{"", "allow Bash", "allow Bash(cat:*)"} {
				p := unknownPolicy(t, mode, rule, allow)
				for line := range strings.Lines(string(data)) {
					command := strings.TrimSuffix(line, "\n")
					if command == "" || command[0] == '#' {
						continue
					}
					tried++
					command = strings.ReplaceAll(command, "@", "secret/key")
					if verdict(p, bash(command)) == permissions.Allow {
						t.Errorf("%s, %q, mode %s: %s is allowed", rule, allow, mode, command)
					}
				}
			}
		}
	}
	if tried < 2000 {
		t.Errorf("only %d commands were tried", tried)
	}
}

// What a variable holds that no rule speaks of is read unasked.
func TestConstantsPassBesideRules(t *testing.T) {
	t.Parallel()
	p := unknownPolicy(t, permissions.ModeDefault, "deny Read(secret/**)")
	for _, command := range []string{
		`f=a; cat "$f"`, `for f in a b; do cat "$f"; done`, `f=src/x.go; cat "${f%.go}_test.go"`, `ls "$(dirname src/x.go)"`,
		`for f in src/*.go; do wc -l "$f"; done`, `while read -r l; do echo "$l"; done < a`,
	} {
		if v := verdict(p, bash(command)); v != permissions.Allow {
			t.Errorf("%s: %s", command, v)
		}
	}
}
