package permissions_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// hide returns words that may become a path when they run, and no word that is it.
func hide(path string) []string {
	return []string{
		`"${x:-` + path + `}"`, `${x:-` + path + `}`, `${x-` + path + `}`, `${x:+` + path + `}`, `"$(echo ` + path + `)"`, `$(echo ` + path + `)`,
		"`echo " + path + "`", `"$x` + path + `"`, `$x` + path, `"${x}"` + path, path + `$x`, path + `"${x}"`, path + `$(:)`, `"${OLDPWD}/` + path + `"`,
		`~u/` + path, `~+/` + path, `$'\x2e/'"$x"` + path, `"${@}"` + path, `"$1` + path + `"`, path + `{,$x}`, path[:1] + `"$x"` + path[1:],
		path[:len(path)-1] + `"${x}"` + path[len(path)-1:],
	}
}

// A word that is only known when it runs is judged no looser than what it may become, by
// whatever rule its command is allowed: not where a rule names that, where it is
// protected, where nothing may be changed, nor where it lies outside and the shell itself
// opens it.
func TestUnknownIsNoLooser(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/unknown/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var policies []*permissions.Policy
	var names []string
	for _, mode := range modes {
		for _, rule := range []string{"", "deny Read(secret/**)", "ask Read(secret/**)", "deny Edit(secret/**)", "ask Edit(secret/**)", "deny Read(//p/**)"} {
			policies = append(policies, unknownPolicy(t, mode, rule, "allow Bash"))
			names = append(names, rule+", mode "+string(mode))
		}
	}
	tried, turn, every := 0, 0, 3
	if !testenv.Thorough() {
		every = 31
	}
	for line := range strings.Lines(string(data)) {
		command := strings.TrimSuffix(line, "\n")
		if command == "" || command[0] == '#' {
			continue
		}
		for _, path := range []string{"secret/key", ".git/hooks/pre-commit", "plain", "/p/out"} {
			plain := bash(strings.ReplaceAll(command, "@", path))
			for _, text := range unknowns(command, path) {
				hidden := bash(text)
				for i, p := range policies {
					if turn++; turn%every != 0 {
						continue // the others by turns
					}
					want := verdict(p, plain)
					if want == permissions.Allow {
						continue
					}
					tried++
					got := verdict(p, hidden)
					planned := names[i] == ", mode plan" && want == permissions.Deny
					if got == permissions.Allow || planned && got != permissions.Deny {
						t.Errorf("%s: %s is %s, and %s is %s", names[i], path, want, text, got)
					}
				}
			}
		}
	}
	if tried < testenv.Sample(10_000) {
		t.Errorf("only %d commands were held back", tried)
	}
}

// unknowns are the forms of a command in which a path is only known when it runs.
func unknowns(command, path string) []string {
	var out []string
	for _, word := range hide(path) {
		out = append(out, strings.ReplaceAll(command, "@", word))
	}
	for _, word := range []string{"$x", `"$x"`} {
		out = append(out, "for x in "+path+"; do\n"+strings.ReplaceAll(command, "@", word)+"\ndone")
	}
	return out
}

func unknownPolicy(t *testing.T, mode permissions.Mode, rules ...string) *permissions.Policy {
	t.Helper()
	setup := testSetup()
	for _, rule := range append(rules, "mode "+string(mode)) {
		if rule == "" {
			continue
		}
		if err := addRule(&setup, rule); err != nil {
			t.Fatal(err)
		}
	}
	p, _, err := permissions.Compile(setup)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bash is a call of Bash with what package shell finds out about its command.
func bash(text string) permissions.Request {
	c := analysed(text)
	return permissions.Request{Tool: "Bash", Effects: permissions.EffectsListed, Commands: []permissions.Command{c}, Accesses: c.Accesses()}
}
