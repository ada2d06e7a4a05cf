package permissions_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestUnasked holds in which modes a command that runs wholly confined needs no permission.
func TestUnasked(t *testing.T) {
	t.Parallel()
	const allow, ask, deny = permissions.Allow, permissions.Ask, permissions.Deny
	for unasked, want := range map[permissions.Unasked]map[permissions.Mode]permissions.Verdict{
		"": {
			permissions.ModeDefault: ask, permissions.ModePlan: ask, permissions.ModeAcceptEdits: allow, permissions.ModeAuto: allow,
			permissions.ModeBypass: allow, permissions.ModeDontAsk: deny,
		},
		permissions.UnaskedAlways: {
			permissions.ModeDefault: allow, permissions.ModePlan: ask, permissions.ModeAcceptEdits: allow, permissions.ModeAuto: allow,
			permissions.ModeBypass: allow, permissions.ModeDontAsk: allow,
		},
		permissions.UnaskedNever: {
			permissions.ModeDefault: ask, permissions.ModePlan: ask, permissions.ModeAcceptEdits: ask, permissions.ModeAuto: ask,
			permissions.ModeBypass: allow, permissions.ModeDontAsk: deny,
		},
	} {
		for mode, want := range want {
			p, _, err := permissions.Compile(permissions.Setup{
				Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}}, Mode: mode, Unasked: unasked,
			})
			if err != nil {
				t.Fatal(err)
			}
			r := bash("go test ./...")
			r.Confined = true
			if d := permissions.Decide(p, r, permissions.Evidence{}); d.Verdict != want || want == allow && d.Need != 0 {
				t.Errorf("%q in the mode %s: %s (%s), want %s", unasked, mode, d.Verdict, d.Reason(), want)
			}
			r.Confined = false
			if d := permissions.Decide(p, r, permissions.Evidence{}); d.Verdict == allow && mode != permissions.ModeBypass {
				t.Errorf("%q in the mode %s: not confined, and allowed", unasked, mode)
			}
		}
	}
	_, _, err := permissions.Compile(permissions.Setup{Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}}, Unasked: "sometimes"})
	if err == nil || !strings.Contains(err.Error(), "edits, always and never") {
		t.Errorf("an unknown value: %v", err)
	}
}

// What a confined command reaches is opened by a rule on the host, and that is suggested.
func TestHostsOfConfinedCommandsAreSuggested(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"$ curl https://a.org/x": "WebFetch(domain:a.org)", "$ curl https://u@a.org/x": "", "$ curl http://169.254.169.254/": "",
	} {
		p := compile(t, setupFor(t, "mode acceptEdits"))
		r := parseRequest(request)
		r.Confined = true
		d := permissions.Decide(p, r, permissions.Evidence{})
		if got := strings.Join(d.Suggestions(), " "); got != want || d.Verdict != permissions.Ask {
			t.Errorf("%s: %s, suggested %q, want %q", request, d.Verdict, got, want)
		}
		if p = compile(t, setupFor(t, "mode acceptEdits ; allow "+want)); want != "" && verdict(p, r) != permissions.Allow {
			t.Errorf("%s: still %s", request, verdict(p, r))
		}
	}
}

// readsOf is a request to run a command that only reads as it runs wholly confined.
func readsOf(t *testing.T, text string) permissions.Request {
	t.Helper()
	r := bash(text)
	r.Confined = true
	if !r.Commands[0].ReadOnlyConfined || r.Commands[0].ReadOnly {
		t.Fatalf("%s is not read-only in a sandbox alone", text)
	}
	return r
}

// TestReadsUnasked holds in which modes a command that only reads as it runs wholly confined needs
// no permission: in all, if it runs so; and which rules it is held to.
func TestReadsUnasked(t *testing.T) {
	t.Parallel()
	const text = `for f in $(cat list); do sed -n 1p "$f"; done < "$g"`
	decide := func(mode permissions.Mode, unasked permissions.Unasked, r permissions.Request, deny ...string) permissions.Verdict {
		p, _, err := permissions.Compile(permissions.Setup{
			Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}}, Mode: mode, Unasked: unasked,
			Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts(deny...)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return permissions.Decide(p, r, permissions.Evidence{}).Verdict
	}
	for _, mode := range []permissions.Mode{
		permissions.ModeDefault, permissions.ModePlan, permissions.ModeDontAsk, permissions.ModeAcceptEdits, permissions.ModeAuto,
	} {
		outside, unconfined := readsOf(t, text), readsOf(t, text)
		outside.Commands[0].Unsandboxed, unconfined.Confined = true, false
		hidden := []string{"Read(.env)", "Edit(src/**)"}
		if mode != permissions.ModeAcceptEdits && mode != permissions.ModeAuto {
			hidden = append(hidden, "WebFetch(domain:x.org)") // then it has no network
		}
		for what, test := range map[string]struct{ got, want permissions.Verdict }{
			"confined":              {decide(mode, "", readsOf(t, text)), permissions.Allow},
			"what is hidden":        {decide(mode, "", readsOf(t, text), hidden...), permissions.Allow},
			"its program is denied": {decide(mode, "", readsOf(t, text), "Bash(sed:*)"), permissions.Deny},
			"a file is denied":      {decide(mode, "", readsOf(t, text), "Read(list)"), permissions.Deny},
			"all is denied":         {decide(mode, "", readsOf(t, text), "Bash"), permissions.Deny},
		} {
			if test.got != test.want {
				t.Errorf("in the mode %s, %s: %s", mode, what, test.got)
			}
		}
		for what, got := range map[string]permissions.Verdict{
			"not confined":                   decide(mode, "", unconfined),
			"outside":                        decide(mode, "", outside),
			"never":                          decide(mode, permissions.UnaskedNever, readsOf(t, text)),
			"what git holds":                 decide(mode, "", readsOf(t, `git log --oneline -- "$f"`), "Read(.env)"),
			"a file that is named elsewhere": decide(mode, "", readsOf(t, `cat "$f" /elsewhere`)),
		} {
			if got == permissions.Allow {
				t.Errorf("in the mode %s, %s: allowed", mode, what)
			}
		}
	}
}
