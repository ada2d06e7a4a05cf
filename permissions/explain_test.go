package permissions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

func TestSuggestions(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"$ make":                          {"Bash(make)"},
		"$ make test":                     {"Bash(make test:*)"},
		"$ npm run test -x":               {"Bash(npm run test:*)"},
		"$ git push origin main":          {"Bash(git push:*)"},
		"$ git -C x push":                 {"Bash(git -C x push)"},
		"$ python x.py":                   {"Bash(python x.py:*)"},
		"$ npx x":                         {"Bash(npx x)"},
		"$ npm exec x":                    {"Bash(npm exec x)"},
		"$ docker run x":                  {"Bash(docker run x)"},
		"$ go run x":                      {"Bash(go run x:*)"},
		"$ make && go test ./...":         {"Bash(make)", "Bash(go test:*)"},
		"$ ls && make && make":            {"Bash(make)"},
		"$ x 'a b' '*' 'it'":              {`Bash(x 'a b' ''\*'' it)`},
		"$ x $Y":                          {"Bash(x $Y)"},
		"$ X=1 make *":                    {`Bash(X=1 make \*)`},
		"$ cat /etc/a":                    {"Read(//etc/a)"},
		"$ touch a":                       {"Edit(//ws/proj/a)"},
		"$ tee /etc/a":                    {"Bash(tee /etc/a)"},
		"$ make && cat /home/u/.ssh/id":   nil,
		"$~ askme && make":                nil,
		"$ make ((":                       nil,
		"$ sudo make":                     {"Bash(sudo make)"},
		"unknown make":                    nil,
		"WebFetch: net https://a.org/x":   {"WebFetch(domain:a.org)"},
		"WebFetch: net https://u@a.org":   nil,
		"WebFetch: net http://127.0.0.1":  nil,
		"Other: net https://a.org/x":      {"Other"},
		"read /etc/a":                     {"Read(//etc/a)"},
		"call Tool":                       {"Tool"},
		"Other: session worktrees":        {"Other"},
		"ExitWorktree: session worktrees": nil,
		"mcp s t":                         {"mcp__s__t"},
		"mcp s__u t":                      nil,
		"call Bash":                       nil,
	}
	p := compile(t, testSetup())
	for request, want := range tests {
		r := parseRequest(request)
		d := permissions.Decide(p, r, permissions.Evidence{})
		if got := d.Suggestions(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
		if d.AlwaysAllowable() != (want != nil) {
			t.Errorf("%s: always allowing is offered: %t", request, d.AlwaysAllowable())
		}
		q, warnings, err := p.WithRules(permissions.RuleSet{Allow: permissions.RuleTexts(permissions.Explain(p, r, permissions.Evidence{}).Remedy...)})
		if err != nil || len(warnings) != 0 {
			t.Errorf("%s: %v, %v", request, warnings, err)
		}
		if want != nil && verdict(q, r) != permissions.Allow {
			t.Errorf("%s: still %s", request, verdict(q, r))
		}
	}
}

// A rule is not suggested where something else asks in spite of it.
func TestNothingVoidIsSuggested(t *testing.T) {
	t.Parallel()
	for rules, request := range map[string]string{
		"ask Bash(make:*)":              "$ go x && make",
		"ask Tool":                      "Tool: read /etc/a",
		"mode plan":                     "write /ws/proj/a",
		"mode plan ; deny Read(a)":      "read /ws/proj/a",
		"mode default ; ask Read(//e*)": "$ make && cat /etc/a",
	} {
		d := permissions.Decide(compile(t, setupFor(t, rules)), parseRequest(request), permissions.Evidence{})
		if got := d.Suggestions(); got != nil || d.Verdict == permissions.Allow {
			t.Errorf("%s with %s: %s, suggested %q", request, rules, d.Verdict, got)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	r := parseRequest("$ make")
	r.Headless = true
	d := permissions.Decide(compile(t, testSetup()), r, permissions.Evidence{})
	got := d.Refusal()
	if got.Code != abi.CodeNeedsApproval || got.Layer != permissions.LayerMode || got.Matched != "running make" ||
		!slices.Equal(got.Allow, []string{"Bash(make)"}) {
		t.Errorf("%+v", got)
	}
	d = permissions.Decide(compile(t, setupFor(t, "deny Bash(make)")), r, permissions.Evidence{})
	if got = d.Refusal(); got.Code != abi.CodeDenied || got.Rule != "Bash(make)" || got.Source == "" || got.Allow != nil {
		t.Errorf("%+v", got)
	}
	p := compile(t, setupFor(t, "mode dontAsk"))
	d = permissions.Decide(p, parseRequest("$ make"), permissions.Evidence{})
	if m := d.Message(); !strings.Contains(m, "dontAsk") || !strings.Contains(m, "It needs the allow rule Bash(make).") {
		t.Error(m)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := setupFor(t, "deny Read(.env) ; ask Bash(make:*) ; allow Bash ; mode auto")
	r := parseRequest("$~ make x && cat .env && tee /etc/a")
	r.InputHash = "h"
	e := permissions.Evidence{Hook: &permissions.HookAnswer{Verdict: permissions.Ask, Reason: "the hook"}}
	x := permissions.Explain(compile(t, s), r, e)
	if x.Decision.Verdict != permissions.Deny || x.Decision.Rule.String() != "Read(.env)" || x.Remedy != nil {
		t.Errorf("%+v, %q", x.Decision.Finding, x.Remedy)
	}
	var got []string
	for _, step := range x.Chain {
		for i := range step.Findings {
			got = append(got, step.Name+": "+step.Findings[i].Reason())
		}
	}
	want := []string{
		"deny: the deny rule Read(.env) (project, project.toml)",
		"must ask: the hook",
		"must ask: the ask rule Bash(make:*) (project, project.toml)",
		"mode: it is not read-only",
		"mode: it is read-only",
		"mode: it is inside the working directories",
		"mode: it is an edit outside the working directories",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if d := permissions.Decide(compile(t, s), r, e); d.Verdict != x.Decision.Verdict || d.Rule.String() != x.Decision.Rule.String() {
		t.Error("explaining changes the decision")
	}
}

func TestRemedyIsWhole(t *testing.T) {
	t.Parallel()
	p := compile(t, testSetup())
	x := permissions.Explain(p, parseRequest("$ make && cat /etc/a /etc/b && touch c"), permissions.Evidence{})
	if want := []string{"Bash(make)", "Read(//etc/a)", "Read(//etc/b)", "Edit(//ws/proj/c)"}; !slices.Equal(x.Remedy, want) {
		t.Errorf("%q", x.Remedy)
	}
	if x = permissions.Explain(p, parseRequest("read /ws/proj/a"), permissions.Evidence{}); x.Remedy != nil {
		t.Errorf("%q for what is allowed", x.Remedy)
	}
}

func TestJudgeCall(t *testing.T) {
	t.Parallel()
	p := compile(t, testSetup())
	for request, want := range map[string]permissions.Verdict{
		"$ tee a": permissions.Allow, "$ ls && echo x > a": permissions.Allow, "read /ws/proj/a": permissions.Allow,
		"write /ws/lib/a": permissions.Allow, "session todos": permissions.Allow,
		"$ make": permissions.None, "$ tee /etc/a": permissions.None, "$ curl x": permissions.None, "$ tee ((": permissions.None,
		"$ !ls": permissions.None, "$~ askme": permissions.None, "$ X=1 tee a": permissions.None, "$ tee link": permissions.None,
		"read /etc/a": permissions.None, "write /var/s1/a": permissions.None, "net a": permissions.None, "call Tool": permissions.None,
		"unknown ls": permissions.None, "start Tool": permissions.None, "write /ws/proj/l -> /etc/a": permissions.None,
		"$ sudo tee a": permissions.None,
	} {
		r := parseRequest(request)
		r.InputHash = "h"
		if a := permissions.JudgeCall(p, r); a.Verdict != want || a.InputHash != "h" {
			t.Errorf("%s: %+v", request, a)
		}
	}
}

func TestApprovalOfCommands(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "ask Bash(make:*)"))
	r := parseRequest("$~ make && cat /etc/a && askme && touch b")
	r.InputHash = "h"
	all := permissions.Evidence{Approval: &permissions.Approval{InputHash: "h", Accesses: r.Accesses}}
	if d := permissions.Decide(p, r, all); d.Verdict != permissions.Allow {
		t.Errorf("approved: %s", d.Message())
	}
	for i := range r.Accesses {
		some := permissions.Evidence{Approval: &permissions.Approval{
			InputHash: "h", Accesses: slices.Delete(slices.Clone(r.Accesses), i, i+1),
		}}
		if d := permissions.Decide(p, r, some); d.Verdict != permissions.Ask || d.Access != r.Accesses[i] {
			t.Errorf("%s was not shown: %s", r.Accesses[i], d.Message())
		}
	}
	for _, request := range []string{"$~ doom", "$ !ls", "$ make ((", "$ rm -r /"} {
		r := parseRequest(request)
		r.InputHash = "h"
		e := permissions.Evidence{Approval: &permissions.Approval{InputHash: "h", Accesses: r.Accesses}}
		if v := permissions.Decide(p, r, e).Verdict; v != permissions.Allow {
			t.Errorf("%s: %s though a person said yes", request, v)
		}
	}
}

// A part's grant is for what that part touches, in the place where the part's
// accesses are listed, and for nothing else that is the same.
func TestGrantIsForThePart(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "allow Bash(cat:*)"))
	r := parseRequest("$ cat /etc/a")
	if v := verdict(p, r); v != permissions.Allow {
		t.Fatalf("%s", v)
	}
	first := r
	first.Accesses = append([]permissions.Access{r.Accesses[1]}, r.Accesses...)
	last := r
	last.Accesses = slices.Concat(r.Accesses, r.Accesses[1:])
	for _, r := range []permissions.Request{first, last} {
		if v := verdict(p, r); v != permissions.Ask {
			t.Errorf("an access of its own is allowed by a part's grant: %+v", r.Accesses)
		}
	}
	bare := r
	bare.Accesses = r.Accesses[:1]
	denied := compile(t, setupFor(t, "allow Bash(cat:*) ; deny Read(//etc)"))
	if v := verdict(denied, bare); v != permissions.Deny {
		t.Errorf("an access that is not listed is not judged: %s", v)
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule            string
		match, notMatch string
		fails           bool
	}{
		"path":             {"Read(.env)", "Read(/ws/proj/x/.env)", "Read(a)", false},
		"bare path":        {"Read(~/x)", "~/x/y", "x", false},
		"relative":         {"Edit(src/**)", "src/a/b", "Edit(lib/a)", false},
		"path, wrong":      {"Read(./.env)", "sub/.env", "", true},
		"path, too much":   {"Read(.env)", "", "sub/.env", true},
		"edit is no read":  {"Edit(a)", "Edit(a)", "Read(a)", false},
		"command":          {"Bash(git push:*)", "git push origin", "git pull", false},
		"command call":     {"Bash(git push:*)", "Bash(git push 'a b')", "Bash(git 'push a')", false},
		"command, wrong":   {"Bash(git push)", "git push origin", "", true},
		"two commands":     {"Bash(make)", "make && ls", "", true},
		"quote":            {"Bash(make)", "make 'x", "", true},
		"expansion":        {"Bash(make a)", "make a", "make $X", false},
		"host":             {"WebFetch(domain:*.a.org)", "https://x.a.org/y", "a.org", false},
		"host, wrong":      {"WebFetch(domain:a.org)", "x.a.org", "", true},
		"tool":             {"Tool", "Tool", "Tools", false},
		"server":           {"mcp__s", "mcp__s__t", "mcp__t", false},
		"server, wrong":    {"mcp__s", "mcp__t__s", "", true},
		"other tool":       {"Read(a)", "", "Other(a)", false},
		"empty":            {"Read(a)", "Read()", "", true},
		"tool by an alias": {"View(./a)", "View(a)", "Read(b)", false},
	}
	for name, tt := range tests {
		for _, verdict := range []permissions.Verdict{permissions.Deny, permissions.Allow} {
			text := permissions.RuleText{Text: tt.rule, Line: 7}
			if tt.match != "" {
				text.Match = []string{tt.match}
			}
			if tt.notMatch != "" {
				text.NotMatch = []string{tt.notMatch}
			}
			checkExample(t, name, verdict, text, tt.fails)
		}
	}
	s := testSetup()
	s.Analyse = facts
	s.Rules = []permissions.RuleSet{{Deny: []permissions.RuleText{{Text: "Bash(make)", Match: []string{"ls && make"}}}}}
	if _, _, err := permissions.Compile(s); err != nil {
		t.Errorf("with commands read: %v", err)
	}
	s = setupFor(t, "tool Tool path=p mode")
	s.Rules = []permissions.RuleSet{{Deny: []permissions.RuleText{
		{Text: "Tool(mode:f*)", Match: []string{"mode:fast", "Tool(mode:f)"}, NotMatch: []string{"mode:slow", "other:fast"}},
	}}}
	if _, _, err := permissions.Compile(s); err != nil {
		t.Errorf("a field: %v", err)
	}
}

func checkExample(t *testing.T, name string, v permissions.Verdict, text permissions.RuleText, fails bool) {
	t.Helper()
	s := testSetup()
	set := permissions.RuleSet{Source: permissions.SourceUser, File: "u.toml"}
	if v == permissions.Deny {
		set.Deny = []permissions.RuleText{text}
	} else {
		set.Allow = []permissions.RuleText{text}
	}
	s.Rules = []permissions.RuleSet{set}
	p, warnings, err := permissions.Compile(s)
	switch {
	case !fails:
		if err != nil || len(warnings) != 0 {
			t.Errorf("%s, %s: %v, %v", name, v, warnings, err)
		}
	case v == permissions.Deny:
		if err == nil || !strings.Contains(err.Error(), "u.toml:7: ") || !strings.Contains(err.Error(), "the example ") {
			t.Errorf("%s, %s: %v", name, v, err)
		}
	case err != nil || len(p.Rules()) != 0 || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "u.toml:7: "):
		t.Errorf("%s, %s: %v, %v", name, v, warnings, err)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	set := permissions.RuleSet{
		Allow: []permissions.RuleText{
			{Text: "Old", Expires: now}, {Text: "Soon", Expires: now.Add(time.Hour)}, {Text: "Ever"},
		},
		Deny: []permissions.RuleText{{Text: "No", Expires: now.Add(-1)}},
	}
	s := testSetup()
	s.Rules, s.Now = []permissions.RuleSet{set}, now
	p, warnings, err := permissions.Compile(s)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("%v, %v", warnings, err)
	}
	names := func(p *permissions.Policy) string {
		var out []string
		for _, r := range p.Rules() {
			out = append(out, r.String())
		}
		return strings.Join(out, " ")
	}
	if got := names(p); got != "Ever Soon" {
		t.Errorf("now: %s", got)
	}
	later := p.At(now.Add(time.Hour))
	if names(later) != "Ever" || names(p) != "Ever Soon" || p.At(now) != p {
		t.Errorf("later: %s", names(later))
	}
	if v := verdict(later, parseRequest("call Soon")); v != permissions.Ask {
		t.Errorf("an expired rule counts: %s", v)
	}
	s.Now = time.Time{}
	p, warnings, err = permissions.Compile(s)
	if err != nil || names(p) != "Ever No" || len(warnings) != 2 {
		t.Errorf("at no time: %s, %v, %v", names(p), warnings, err)
	}
}
