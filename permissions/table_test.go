package permissions_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// testSetup is the world the tables speak of.
func testSetup() permissions.Setup {
	return permissions.Setup{
		Cwd:           permissions.Dir{Path: "/ws/proj"},
		Additional:    []permissions.Dir{{Path: "/ws/lib"}},
		Home:          permissions.Dir{Path: "/home/u"},
		SessionFolder: permissions.Dir{Path: "/var/s1"},
		HostFolders:   []permissions.Dir{{Path: "/opt/host/plugins"}},
		Aliases:       map[string]string{"View": "Read"},
	}
}

// addRule adds one rule of a table to a setup: "[user] deny|ask|allow RULE",
// "mode NAME" or "fold".
func addRule(s *permissions.Setup, text string) error {
	set := permissions.RuleSet{Source: permissions.SourceProject, File: "project.toml"}
	if rest, ok := strings.CutPrefix(text, "user "); ok {
		text = rest
		set = permissions.RuleSet{Source: permissions.SourceUser, File: "/home/u/.config/app/settings.toml"}
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "deny":
		set.Deny = permissions.RuleTexts(rest)
	case "ask":
		set.Ask = permissions.RuleTexts(rest)
	case "allow":
		set.Allow = permissions.RuleTexts(rest)
	case "mode":
		set.Mode = permissions.Mode(rest)
	case "fold":
		s.FoldCase = true
		return nil
	default:
		return fmt.Errorf("bad rule %q", text)
	}
	s.Rules = append(s.Rules, set)
	return nil
}

// parseRequest reads "[TOOL:] WHAT SUBJECT [-> REAL]".
func parseRequest(text string) permissions.Request {
	r := permissions.Request{Tool: "Any", Effects: permissions.EffectsListed}
	if tool, rest, ok := strings.Cut(text, ": "); ok {
		r.Tool, text = tool, rest
	}
	what, subject, _ := strings.Cut(text, " ")
	target, actual, linked := strings.Cut(subject, " -> ")
	if !linked {
		actual = target
	}
	a := permissions.Access{Target: target, Real: actual}
	switch what {
	case "call":
		r.Tool, r.Effects = subject, permissions.EffectsUnknown
		return r
	case "start":
		r.Tool, r.Effects = subject, permissions.EffectsGated
		return r
	case "read", "tree":
		a.Kind, a.Tree = permissions.AccessRead, what == "tree"
	case "write", "writetree":
		a.Kind, a.Tree = permissions.AccessWrite, what == "writetree"
	default:
		a = permissions.Access{Kind: permissions.AccessKind(what), Target: subject}
	}
	r.Accesses = []permissions.Access{a}
	return r
}

func compile(tb testing.TB, s permissions.Setup) *permissions.Policy {
	tb.Helper()
	p, _, err := permissions.Compile(s)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

type tableLine struct {
	number               int
	want, rules, request string
}

func table(tb testing.TB) []tableLine {
	tb.Helper()
	src, err := os.ReadFile("testdata/rules.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var lines []tableLine
	for i, line := range strings.Split(string(src), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 3 {
			tb.Fatalf("rules.txt:%d: %d cells", i+1, len(cells))
		}
		lines = append(lines, tableLine{
			i + 1, strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]),
		})
	}
	return lines
}

func setupFor(tb testing.TB, rules string) permissions.Setup {
	tb.Helper()
	s := testSetup()
	for rule := range strings.SplitSeq(rules, " ; ") {
		if rule == "" {
			continue
		}
		if err := addRule(&s, rule); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func TestRuleTable(t *testing.T) {
	t.Parallel()
	for _, line := range table(t) {
		p := compile(t, setupFor(t, line.rules))
		r := parseRequest(line.request)
		d := permissions.Decide(p, r, permissions.Evidence{})
		if d.Verdict.String() != line.want {
			t.Errorf("rules.txt:%d: %s with %q: %s, want %s: %s", line.number, line.request, line.rules,
				d.Verdict, line.want, d.Message())
		}
		if (d.Layer == permissions.LayerRule) != (d.Rule != nil) || d.Message() == "" || d.Reason() == "" {
			t.Errorf("rules.txt:%d: decision %+v does not tell why", line.number, d)
		}
		checkHeadless(t, line, p, r, d)
	}
}

// checkHeadless holds that headless differs in turning ask into deny, and that
// the rules a decision suggests do what it says.
func checkHeadless(t *testing.T, line tableLine, p *permissions.Policy, r permissions.Request, d permissions.Decision) {
	t.Helper()
	r.Headless = true
	h := permissions.Decide(p, r, permissions.Evidence{})
	want := d.Verdict
	if want == permissions.Ask {
		want = permissions.Deny
	}
	if h.Verdict != want || h.Headless != (d.Verdict == permissions.Ask) {
		t.Errorf("rules.txt:%d: headless %s, want %s", line.number, h.Verdict, want)
	}
	rules := h.Suggestions()
	if len(rules) == 0 {
		return
	}
	q, _, err := p.WithRules(permissions.RuleSet{
		Source: permissions.SourceSession, Allow: permissions.RuleTexts(rules...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := permissions.Decide(q, r, permissions.Evidence{}); again.Verdict != permissions.Allow {
		t.Errorf("rules.txt:%d: suggested %v, which gives %s", line.number, rules, again.Message())
	}
	for _, rule := range rules {
		if !strings.Contains(h.Message(), rule) {
			t.Errorf("rules.txt:%d: %q does not name %s", line.number, h.Message(), rule)
		}
	}
}
