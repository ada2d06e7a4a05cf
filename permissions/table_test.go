package permissions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// testSetup is the world the tables speak of.
func testSetup() permissions.Setup {
	return permissions.Setup{
		Layout: permissions.Layout{
			Cwd:           permissions.Dir{Path: "/ws/proj"},
			Additional:    []permissions.Dir{{Path: "/ws/lib"}},
			Home:          permissions.Dir{Path: "/home/u"},
			SessionFolder: permissions.Dir{Path: "/var/s1"},
			TempFolder:    permissions.Dir{Path: "/scratch/s1"},
			PlanFile:      permissions.Dir{Path: "/var/s1/plan.md"},
			HostFolders:   []permissions.Dir{{Path: "/opt/host/plugins"}},
		},
		Aliases: map[string]string{"View": "Read"},
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
	case "tool":
		// tool NAME PROPERTY... with the field that is matched first, as kind=name.
		fields := strings.Fields(rest)
		kind, field, _ := strings.Cut(fields[1], "=")
		s.Tools = append(s.Tools, permissions.Tool{
			Name: fields[0], Properties: append(fields[2:], field),
			Fields: []abi.Field{{Name: field, Kind: abi.FieldKind(kind)}},
		})
		return nil
	default:
		return fmt.Errorf("bad rule %q", text)
	}
	s.Rules = append(s.Rules, set)
	return nil
}

// parseRequest reads "[TOOL:] WHAT SUBJECT [-> REAL]". TOOL may have an input
// behind it, in braces; "$ COMMAND" is a command for a shell, of Bash if no tool
// is named; "mcp SERVER TOOL" a call of a server's tool that is on record.
func parseRequest(text string) permissions.Request {
	r := permissions.Request{Tool: "Any", Effects: permissions.EffectsListed}
	if command, ok := strings.CutPrefix(text, "$ "); ok {
		r.Tool, text = "Bash", "exec "+command
	} else if strings.HasPrefix(text, "$~ ") {
		r.Tool = "Bash"
	} else if tool, rest, ok := strings.Cut(text, ": "); ok {
		r.Tool, text = tool, rest
		if tool, input, ok := strings.Cut(tool, "{"); ok {
			r.Tool, r.Input = tool, []byte("{"+input)
		}
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
	case "mcp":
		r.Effects = permissions.EffectsUnknown
		r.Origin.Server, r.Origin.Tool, _ = strings.Cut(subject, " ")
		r.Tool = "mcp__" + r.Origin.Server + "__" + r.Origin.Tool
		return r
	case "exec", "$":
		c := analysed(subject)
		r.Commands, r.Accesses = []permissions.Command{c}, c.Accesses()
		return r
	case "$~":
		c := facts(subject)
		r.Commands, r.Accesses = []permissions.Command{c}, c.Accesses()
		return r
	case "unknown":
		r.Accesses = []permissions.Access{{Kind: permissions.AccessExec, Target: subject}}
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
	file                 string
	number               int
	want, rules, request string
}

func (l tableLine) String() string { return fmt.Sprintf("%s:%d", l.file, l.number) }

func table(tb testing.TB) []tableLine {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no tables: %v", err)
	}
	var lines []tableLine
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for i, line := range strings.Split(string(src), "\n") {
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			cells := strings.SplitN(line, "|", 3)
			if len(cells) != 3 {
				tb.Fatalf("%s:%d: %d cells", file, i+1, len(cells))
			}
			lines = append(lines, tableLine{
				filepath.Base(file), i + 1,
				strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]),
			})
		}
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
			t.Errorf("%s: %s with %q: %s, want %s: %s", line, line.request, line.rules,
				d.Verdict, line.want, d.Message())
		}
		if (d.Layer == permissions.LayerRule) != (d.Rule != nil) || d.Message() == "" || d.Reason() == "" {
			t.Errorf("%s: decision %+v does not tell why", line, d)
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
	if h.Verdict != want || h.Headless != (d.Verdict == permissions.Ask || d.Headless) {
		t.Errorf("%s: headless %s, want %s", line, h.Verdict, want)
	}
	rules := permissions.Explain(p, r, permissions.Evidence{}).Remedy
	if len(rules) == 0 {
		if len(h.Suggestions()) > 0 && p.Mode() != permissions.ModePlan && !strings.Contains(line.request, " -> ") {
			t.Errorf("%s: suggested %q, which does not help", line, h.Suggestions())
		}
		return
	}
	q, _, err := p.WithRules(permissions.RuleSet{
		Source: permissions.SourceSession, Allow: permissions.RuleTexts(rules...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := permissions.Decide(q, r, permissions.Evidence{}); again.Verdict != permissions.Allow {
		t.Errorf("%s: suggested %v, which gives %s", line, rules, again.Message())
	}
	for _, rule := range h.Suggestions() {
		if a := h.Access; a.Real == a.Target && !strings.Contains(h.Message(), rule) {
			t.Errorf("%s: %q does not name %s", line, h.Message(), rule)
		}
	}
}
