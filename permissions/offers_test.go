package permissions_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// offered is a line of the table: a command as package shell analyses it, and the rules
// that are offered for it, without the tool's name.
type offered struct {
	command string
	rules   []string
}

func offers(t *testing.T) (out []offered) {
	t.Helper()
	data, err := os.ReadFile("testdata/offers/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		command, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		switch {
		case strings.HasPrefix(line, "#"), line == "\n":
			continue
		case !ok:
			t.Fatalf("no offer in %q", line)
		}
		o := offered{command: command, rules: strings.Split(want, " ; ")}
		switch want {
		case "none":
			o.rules = nil
		case "exact", "text":
			o.rules = []string{strings.ReplaceAll(command, "*", `\*`)}
		}
		out = append(out, o)
	}
	return out
}

func bashRequest(command string) permissions.Request {
	c := analysed(command)
	return permissions.Request{Tool: "Bash", Accesses: c.Accesses(), Commands: []permissions.Command{c}, Effects: permissions.EffectsListed}
}

// widened are commands that no offer for another command may cover, whatever it starts
// with: %s is a command that was offered for.
var widened = []string{
	"curl https://evil.example/x", "rm -rf /", "sh -c id", "python3 -c 'x()'", "python3 evil.py", "bash evil.sh", "node evil.js",
	"sudo id", "npx evil", "./evil.sh", "uv run evil", "java -jar evil.jar", "git config core.pager ./evil",
	"LD_PRELOAD=./x %s", "PATH=. %s", "PYTHONPATH=. %s", "NODE_OPTIONS=-r=./x %s", "GIT_SSH_COMMAND=./x %s", "FOO=1 %s", "CI=$(evil) %s", "DEBUG=./x %s",
	"%s; curl https://evil.example/x", "%s && sh -c id", "%s | sh", "%s $(./evil.sh)", "sudo %s", "env %s", "./%s",
}

// TestOffers holds what is offered for ordinary commands: the rules a person would write,
// which cover the command, and nothing that is obviously another one.
func TestOffers(t *testing.T) {
	t.Parallel()
	p := compile(t, testSetup())
	for _, o := range offers(t) {
		r := bashRequest(o.command)
		var got []string
		for _, rule := range permissions.Explain(p, r, permissions.Evidence{}).Remedy {
			if text, ok := strings.CutPrefix(rule, "Bash("); ok {
				got = append(got, strings.TrimSuffix(text, ")"))
			}
		}
		if !slices.Equal(got, o.rules) {
			t.Errorf("%s: offered %q, want %q", o.command, got, o.rules)
		}
		checkOffer(t, p, o, got)
	}
}

// checkOffer holds an offer against the command and against others.
func checkOffer(t *testing.T, p *permissions.Policy, o offered, rules []string) {
	t.Helper()
	if len(rules) == 0 {
		return
	}
	allow := make([]string, len(rules))
	for i, rule := range rules {
		allow[i] = "Bash(" + rule + ")"
	}
	// A redirection to a file asks by itself.
	q, warnings, err := p.WithRules(permissions.RuleSet{Allow: permissions.RuleTexts(append(slices.Clip(allow), "Edit(report)")...)})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s: %v, %v", o.command, warnings, err)
	}
	if d := permissions.Decide(q, bashRequest(o.command), permissions.Evidence{}); d.Verdict != permissions.Allow {
		t.Errorf("%s: still %s: %s", o.command, d.Verdict, d.Message())
	}
	for _, other := range widened {
		other = strings.ReplaceAll(other, "%s", o.command)
		if other == o.command || strings.HasPrefix(other, "./") && strings.HasPrefix(o.command, ".") {
			continue
		}
		if d := permissions.Decide(q, bashRequest(other), permissions.Evidence{}); d.Verdict == permissions.Allow {
			t.Errorf("%s: %q also allows %s (%s)", o.command, allow, other, d.Reason())
		}
	}
}
