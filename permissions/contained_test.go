package permissions_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestTries checks which commands are tried before a person is asked: those about which only the mode
// asks, in the default and plan modes.
func TestTries(t *testing.T) {
	t.Parallel()
	const run, ask, off = permissions.ContainedRun, permissions.ContainedAsk, permissions.ContainedOff
	for name, test := range map[string]struct {
		contained  permissions.Contained
		unasked    permissions.Unasked
		mode       permissions.Mode
		rules      permissions.RuleSet
		command    string
		unconfined bool
		headless   bool
		hook       permissions.Verdict
		check      permissions.Check
		want       bool
	}{
		"unknown":           {contained: run, command: "make test", want: true},
		"asks all the same": {contained: ask, command: "make test", want: true},
		"in plan mode":      {contained: run, mode: permissions.ModePlan, command: "make test", want: true},
		"a known edit":      {contained: run, command: "rm build", want: true},
		"off":               {contained: off, command: "make test"},
		"not set":           {command: "make test"},
		"never unasked":     {contained: run, unasked: permissions.UnaskedNever, command: "make test"},
		"allowed anyway":    {contained: run, unasked: permissions.UnaskedAlways, command: "make test"},
		"an edit, planned":  {contained: run, mode: permissions.ModePlan, command: "rm build"},
		"acceptEdits":       {contained: run, mode: permissions.ModeAcceptEdits, command: "make test"},
		"auto":              {contained: run, mode: permissions.ModeAuto, command: "make test"},
		"dontAsk":           {contained: run, mode: permissions.ModeDontAsk, command: "make test"},
		"bypass":            {contained: run, mode: permissions.ModeBypass, command: "make test"},
		"not confined":      {contained: run, command: "make test", unconfined: true},
		"no sandbox, edit":  {contained: run, command: "rm build", unconfined: true},
		"an allow rule":     {contained: run, command: "make test", rules: permissions.RuleSet{Allow: permissions.RuleTexts("Bash(make:*)")}},
		"a deny rule":       {contained: run, command: "make test", rules: permissions.RuleSet{Deny: permissions.RuleTexts("Bash(make:*)")}},
		"an ask rule":       {contained: run, command: "make test", rules: permissions.RuleSet{Ask: permissions.RuleTexts("Bash(make:*)")}},
		"a part denied":     {contained: run, command: "make; git push", rules: permissions.RuleSet{Deny: permissions.RuleTexts("Bash(git push:*)")}},
		"a part asked":      {contained: run, command: "make; git push", rules: permissions.RuleSet{Ask: permissions.RuleTexts("Bash(git push:*)")}},
		"a path asked":      {contained: run, command: "make < /ws/x", rules: permissions.RuleSet{Ask: permissions.RuleTexts("Read(x)")}},
		"a path denied":     {contained: run, command: "make < /ws/x", rules: permissions.RuleSet{Deny: permissions.RuleTexts("Read(x)")}},
		"git, and a rule":   {contained: run, command: "git show $x", rules: permissions.RuleSet{Deny: permissions.RuleTexts("Read(x)")}},
		"protected":         {contained: run, command: "make > .git/hooks/pre-commit"},
		"outside":           {contained: run, command: "make > /srv/x"},
		"reads outside":     {contained: run, command: "make < /srv/x"},
		"a host":            {contained: run, command: "curl https://a.org", rules: permissions.RuleSet{Allow: permissions.RuleTexts("WebFetch(domain:a.org)")}},
		"critical":          {contained: run, command: "make; rm -rf /"},
		"unparsable":        {contained: run, command: "make 'x"},
		"a hook asks":       {contained: run, command: "make", hook: permissions.Ask},
		"a hook denies":     {contained: run, command: "make", hook: permissions.Deny},
		"headless":          {contained: run, command: "make", headless: true, want: true},
		"the tool asks":     {contained: run, command: "make", check: permissions.CheckAsk},
	} {
		test.rules.Source = permissions.SourceUser
		p, _, err := permissions.Compile(permissions.Setup{
			Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}}, Mode: test.mode,
			Unasked: test.unasked, Contained: test.contained, Rules: []permissions.RuleSet{test.rules},
		})
		if err != nil {
			t.Fatal(name, err)
		}
		r := bash(test.command)
		r.Confined, r.ToolCheck, r.Headless = !test.unconfined, test.check, test.headless
		var e permissions.Evidence
		if test.hook != permissions.None {
			e.Hook = &permissions.HookAnswer{Verdict: test.hook}
		}
		if got := p.Tries(r, e); got != test.want {
			d := permissions.Decide(p, r, e)
			t.Errorf("%s: tried is %t, want %t; %s (%s)", name, got, test.want, d.Verdict, d.Reason())
		}
		if got, want := p.TrialStands(), test.contained == run; got != want {
			t.Errorf("%s: it stands is %t", name, got)
		}
	}
	_, _, err := permissions.Compile(permissions.Setup{Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}}, Contained: "always"})
	if err == nil || !strings.Contains(err.Error(), "off, ask and run") {
		t.Errorf("an unknown value: %v", err)
	}
}
