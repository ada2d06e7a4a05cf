package permissions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// Malformed rules grant nothing in an allow and stop the load in a deny or ask.
func TestMalformedRules(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                                       "the rule is empty",
		" ":                                      "the rule is empty",
		"Read(":                                  "a ( without its )",
		"Read(a":                                 "a ( without its )",
		"Read(a) b":                              "a ( without its )",
		"Read)":                                  "a ) without its (",
		"Read()":                                 "nothing between the parentheses",
		"(a)":                                    "no tool before the parenthesis",
		"Re ad(a)":                               "cannot be a tool's name",
		"Réad":                                   "cannot be a tool's name",
		"1Read":                                  "cannot be a tool's name",
		"_Read":                                  "cannot be a tool's name",
		"Read;Edit":                              "cannot be a tool's name",
		strings.Repeat("a", 300):                 "at most 256",
		"mcp__":                                  "a name is missing",
		"mcp____t":                               "a name is missing",
		"mcp__s__":                               "a name is missing",
		"Read(!a)":                               "cannot be negated",
		"Read( a)":                               "a space at the edge",
		"Read(a )":                               "a space at the edge",
		"Read([a)":                               "a [ without its ]",
		"Read([)":                                "a [ without its ]",
		"Read([])":                               "a [ without its ]",
		"Read([!])":                              "a [ without its ]",
		`Read([\)`:                               "a [ without its ]",
		"Read([a/b])":                            "a [ without its ]",
		"Read([z-a])":                            "runs backwards",
		`Read(a\)`:                               "a backslash at the end",
		"Read(*.{pem,key})":                      "{a,b} is not expanded",
		"Read(~root/x)":                          "another user's home",
		"Read(*/../x)":                           "after a wildcard",
		"Read(a\x00b)":                           "a control character",
		"Read(a\nb)":                             "a control character",
		"Read(a\xffb)":                           "not UTF-8",
		"Read(" + strings.Repeat("a", 2000):      "a ( without its )",
		"Read(" + strings.Repeat("a", 2e3) + ")": "at most 1024",
		"Read(" + strings.Repeat("a/", 70) + ")": "more than 64",
		"Write([a)":                              "a [ without its ]",
		`Bash(echo "a)`:                          "a quote without its end",
		"Bash(echo 'a)":                          "a quote without its end",
		"Bash( )":                                "no command",
		"Bash(a\x00b)":                           "a control character",
		"Bash(a\xff)":                            "not UTF-8",
		"Bash(" + strings.Repeat("a", 2e4) + ")": "at most 10000",
		"WebFetch(domain:)":                      "it names no host",
		"WebFetch(domain:*.)":                    "it names no host",
		"WebFetch(domain:a*.org)":                "a wildcard in a host",
		"WebFetch(domain:*)x)":                   "a wildcard in a host",
		"WebFetch(domain:http://a)":              "write domain:a",
		"WebFetch(domain:a:80)":                  "write domain:a",
		"WebFetch(domain:u@a)":                   "user information",
		"WebFetch(domain:bücher.de)":             "write its xn-- form",
		"WebFetch(domain:0x7f.1)":                "an address written in another form",
		"WebFetch(domain:a..b)":                  "no host's name",
		"WebFetch(domain:*.10.0.0.1)":            "nothing below an address",
	}
	for text, want := range tests {
		for _, list := range []string{"deny", "ask", "allow"} {
			s := testSetup()
			set := permissions.RuleSet{Source: permissions.SourceUser, File: "u.toml"}
			rules := []permissions.RuleText{{Text: text, Line: 4}}
			switch list {
			case "deny":
				set.Deny = rules
			case "ask":
				set.Ask = rules
			default:
				set.Allow = rules
			}
			s.Rules = []permissions.RuleSet{set}
			p, warnings, err := permissions.Compile(s)
			if list != "allow" {
				if p != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "u.toml:4") {
					t.Errorf("%s %q: %v", list, text, err)
				}
				continue
			}
			if err != nil || len(p.Rules()) != 0 || len(warnings) != 1 ||
				!strings.Contains(warnings[0].String(), want) || !strings.Contains(warnings[0].String(), "user, u.toml:4: ") {
				t.Errorf("allow %q: %v, %v", text, warnings, err)
			}
		}
	}
	for _, text := range []string{"*", "mcp__*", "mcp__*__t", "To*", "mcp__s*", "mcp__s__a__*", "mcp__s___*"} {
		if _, _, err := permissions.ParseRule(permissions.Allow, text, permissions.Source{}, nil); err == nil {
			t.Errorf("allow %s parses", text)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Rules = []permissions.RuleSet{
		{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(", "Read(a)"), Mode: "yolo"},
		{Source: permissions.SourceProject, Ask: permissions.RuleTexts("Read()")},
	}
	_, _, err := permissions.Compile(s)
	if err == nil || strings.Count(err.Error(), "\n") != 2 || !strings.Contains(err.Error(), `unknown mode "yolo"`) {
		t.Errorf("%v", err)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ list, rule, want string }{
		"write":        {"allow", "Write(a)", "it grants nothing: rules on paths are written Edit(a)"},
		"glob":         {"allow", "Glob(//v)", "it grants nothing: rules on paths are written Read(//v)"},
		"write denied": {"deny", "Write(a)", "it counts as Edit(a)"},
		"content":      {"allow", "Run(ls)", "it grants nothing: what is in the parentheses is not understood"},
		"content deny": {"deny", "Run(ls)", "it binds every call of Run"},
		"param":        {"allow", "Tool(a:b)", "it grants nothing: a rule on a parameter can only deny or ask"},
		"powershell":   {"allow", "PowerShell(sudo *)", "it grants nothing: what runs other commands"},
		"compound":     {"allow", "Bash(a && b *)", "it grants nothing: a wildcard cannot speak of several commands"},
		"variable":     {"allow", "Bash(A=1 b *)", "it grants nothing: a wildcard cannot speak of several commands"},
		"held back":    {"deny", "Bash(a && b)", "it binds commands that are written just so"},
		"runner":       {"allow", "Bash(sudo *)", "it grants nothing: what runs other commands, as sudo does"},
		"runner flags": {"allow", "Bash(docker exec web ls:*)", "it grants nothing: what runs other commands"},
		"command case": {"allow", "bash(ls)", "the tool is called Bash"},
		"no domain":    {"allow", "WebFetch(x)", "it grants nothing: what is in the parentheses is not understood"},
		"case":         {"deny", "read(a)", "the tool is called Read"},
		"parameter":    {"ask", "Read(limit:3)", "it may also mean a parameter"},
	}
	for name, tt := range tests {
		_, warnings, err := permissions.Compile(setupFor(t, tt.list+" "+tt.rule))
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Message, tt.want) || warnings[0].Rule != tt.rule {
			t.Errorf("%s: %v, %v", name, warnings, err)
		}
	}
	for _, rule := range []string{
		"Read(a)", "Edit(//a/**)", "Tool", "Tool(*)", "mcp__s", "Write", "Bash(ls)", "Bash(git commit:*)", "Bash(git * x)",
		"WebFetch(domain:x.org)", "WebFetch(domain:*.x.org)", "WebFetch(domain:[::1])", "Bash(npm*)",
	} {
		for _, list := range []string{"deny ", "ask ", "allow "} {
			if _, warnings, err := permissions.Compile(setupFor(t, list+rule)); err != nil || len(warnings) != 0 {
				t.Errorf("%s%s: %v, %v", list, rule, warnings, err)
			}
		}
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "deny Tool ; deny mcp__s ; deny Read(a) ; ask Grep ; deny Old"))
	tests := map[string]bool{
		"Tool": false, "mcp__s__t": false, "Read": true, "Grep": true, "Edit": true, "mcp__t__s": true,
	}
	for tool, want := range tests {
		if p.Offered(tool) != want {
			t.Errorf("%s: %t", tool, !want)
		}
	}
	if p.Offered("New", "Other", "Old") {
		t.Error("a rule with an alias does not bind the tool")
	}
	r := parseRequest("start New")
	r.Aliases = []string{"Old"}
	if v := verdict(p, r); v != permissions.Deny {
		t.Errorf("by alias: %s", v)
	}
}

func TestRulesAreSorted(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "user allow Zeta ; allow Beta ; deny Alpha ; user deny Alpha"))
	var got []string
	for _, r := range p.Rules() {
		got = append(got, r.Source.Kind.String()+" "+r.String())
	}
	if want := []string{"project Alpha", "project Beta", "user Alpha", "user Zeta"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A deny holds at least for what an allow of the same text would let pass.
func FuzzRule(f *testing.F) {
	for _, line := range table(f) {
		request := parseRequest(line.request)
		for rule := range strings.SplitSeq(line.rules, " ; ") {
			if _, text, ok := strings.Cut(rule, " "); ok && len(request.Accesses) == 1 {
				a := request.Accesses[0]
				f.Add(text, request.Tool, a.Target, a.Real, a.Kind == permissions.AccessWrite, a.Tree)
			}
		}
	}
	f.Fuzz(func(t *testing.T, rule, tool, target, actual string, write, tree bool) {
		r := permissions.Request{Tool: tool, Effects: permissions.EffectsListed}
		a := permissions.Access{Kind: permissions.AccessRead, Target: target, Real: actual, Tree: tree}
		if write {
			a.Kind = permissions.AccessWrite
		}
		r.Accesses = []permissions.Access{a}
		s := testSetup()
		s.Rules = []permissions.RuleSet{{Allow: permissions.RuleTexts(rule)}}
		p, _, err := permissions.Compile(s)
		if err != nil {
			t.Fatalf("an allow rule is an error: %v", err)
		}
		allowed := permissions.Decide(p, r, permissions.Evidence{})
		_ = allowed.Message()
		s.Rules = []permissions.RuleSet{{Deny: permissions.RuleTexts(rule)}}
		p, _, err = permissions.Compile(s)
		if err != nil {
			if allowed.Rule != nil {
				t.Fatalf("%q allows and is malformed as a deny: %v", rule, err)
			}
			return
		}
		if len(p.Rules()) != 1 {
			t.Fatalf("the deny rule %q was dropped", rule)
		}
		if d := permissions.Decide(p, r, permissions.Evidence{}); allowed.Rule != nil && d.Verdict != permissions.Deny {
			t.Fatalf("%q allows what it does not deny: %+v", rule, r)
		}
	})
}

// A deny on commands or hosts holds at least for what an allow of the same text
// would let pass, and no rule makes judging fail.
func FuzzCommandRule(f *testing.F) {
	for _, line := range table(f) {
		command, ok := strings.CutPrefix(line.request, "$ ")
		if !ok {
			continue
		}
		for rule := range strings.SplitSeq(line.rules, " ; ") {
			if _, text, ok := strings.Cut(rule, " "); ok {
				f.Add(text, command)
			}
		}
	}
	f.Fuzz(func(t *testing.T, rule, command string) {
		c := facts(command)
		r := permissions.Request{
			Tool: "Bash", Effects: permissions.EffectsListed,
			Commands: []permissions.Command{c}, Accesses: c.Accesses()[:1],
		}
		s := testSetup()
		s.Rules = []permissions.RuleSet{{Allow: permissions.RuleTexts(rule)}}
		p, _, err := permissions.Compile(s)
		if err != nil {
			t.Fatalf("an allow rule is an error: %v", err)
		}
		x := permissions.Explain(p, r, permissions.Evidence{})
		byRule := x.Decision.Verdict == permissions.Allow && x.Decision.Rule != nil
		if byRule && (c.Fault != "" || c.Unsandboxed) {
			t.Fatalf("%q allows %q", rule, command)
		}
		s.Rules = []permissions.RuleSet{{Deny: permissions.RuleTexts(rule)}}
		p, _, err = permissions.Compile(s)
		if err != nil {
			if byRule {
				t.Fatalf("%q allows and is malformed as a deny: %v", rule, err)
			}
			return
		}
		if d := permissions.Decide(p, r, permissions.Evidence{}); byRule && d.Verdict != permissions.Deny {
			t.Fatalf("%q allows what it does not deny: %q", rule, command)
		}
	})
}
