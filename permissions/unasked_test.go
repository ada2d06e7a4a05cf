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
