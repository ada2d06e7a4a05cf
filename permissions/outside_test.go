package permissions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// leaving is a call of Bash that asks to leave the sandbox.
func leaving(command string) permissions.Request {
	r := bashRequest(command)
	r.Commands[0].Unsandboxed, r.Headless = true, true
	return r
}

func outsidePolicy(t *testing.T, change func(s *permissions.Setup), entries ...string) *permissions.Policy {
	t.Helper()
	set := permissions.RuleSet{Source: permissions.SourceUser, File: "/home/u/settings.toml", Outside: permissions.RuleTexts(entries...)}
	setup := permissions.Setup{Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/w", Real: "/w"}, Home: permissions.Dir{Path: "/home/u", Real: "/home/u"}}, Rules: []permissions.RuleSet{set}}
	if change != nil {
		change(&setup)
	}
	p, _, err := permissions.Compile(setup)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOutside lets out of the sandbox what the settings name, every part of it, where no rule
// and no protected place holds it back.
func TestOutside(t *testing.T) {
	t.Parallel()
	entries := []string{"docker:*", "git push:*", "make deploy && make notify", "sudo:*"}
	deny := func(rule string) func(*permissions.Setup) {
		return func(s *permissions.Setup) { s.Rules[0].Deny = permissions.RuleTexts(rule) }
	}
	mode := func(m permissions.Mode) func(*permissions.Setup) {
		return func(s *permissions.Setup) { s.Mode = m }
	}
	for _, test := range []struct {
		command string
		change  func(*permissions.Setup)
		want    permissions.Verdict
	}{
		{"docker ps", nil, permissions.Allow},
		{"docker build -t x . && docker pull x", nil, permissions.Allow},
		{"docker run x", nil, permissions.Deny}, // no wildcard speaks of what runs others
		{"docker ps | grep x", nil, permissions.Allow},
		{"timeout 60 docker build .", nil, permissions.Allow},
		{"git push origin main", nil, permissions.Allow},
		{"make deploy && make notify", nil, permissions.Allow},
		{"docker ps", mode(permissions.ModeBypass), permissions.Allow},
		{"docker ps", mode(permissions.ModeAuto), permissions.Allow},
		{"docker ps", mode(permissions.ModeDontAsk), permissions.Allow},
		{"ls", nil, permissions.Deny}, // what only reads has no reason to leave
		{"docker ps; touch x", nil, permissions.Deny},
		{"docker ps $(curl https://example.org)", nil, permissions.Deny},
		{"sudo docker ps", nil, permissions.Deny},
		{"dockerx ps", nil, permissions.Deny},
		{"git pull", nil, permissions.Deny},
		{"make deploy", nil, permissions.Deny},
		{"docker ps > /home/u/.bashrc", nil, permissions.Deny},
		{"docker ps; cat /home/u/.ssh/id_rsa", nil, permissions.Deny},
		{"docker ps; rm -rf /", nil, permissions.Deny},
		{"docker 'ps", nil, permissions.Deny},
		{"DOCKER_HOST=tcp://x docker ps", nil, permissions.Deny},
		{"docker ps", deny("Bash(docker ps)"), permissions.Deny},
		{"docker run x && docker ps", deny("Bash(docker ps)"), permissions.Deny},
		{"docker ps", func(s *permissions.Setup) { s.Rules[0].Ask = permissions.RuleTexts("Bash(docker:*)") }, permissions.Deny},
		{"docker ps", func(s *permissions.Setup) { s.Rules[0].Source = permissions.SourceProject }, permissions.Deny},
		{"docker ps", func(s *permissions.Setup) { s.Rules[0].Source = permissions.SourceProjectLocal }, permissions.Deny},
		{"docker ps", func(s *permissions.Setup) { s.OnlyPolicyRules = true }, permissions.Deny},
		{"docker ps", func(s *permissions.Setup) { s.Rules[0].Source, s.OnlyPolicyRules = permissions.SourcePolicy, true }, permissions.Allow},
	} {
		d := permissions.Decide(outsidePolicy(t, test.change, entries...), leaving(test.command), permissions.Evidence{})
		if d.Verdict != test.want {
			t.Errorf("%s: %v, want %v: %s", test.command, d.Verdict, test.want, d.Message())
		}
	}
}

// TestOutsideIsNoRule grants nothing to commands that stay in the sandbox, nor to other tools.
func TestOutsideIsNoRule(t *testing.T) {
	t.Parallel()
	p := outsidePolicy(t, nil, "docker:*")
	inside := bashRequest("docker pull x")
	if d := permissions.Decide(p, inside, permissions.Evidence{}); d.Verdict != permissions.Ask {
		t.Errorf("inside: %v", d.Verdict)
	}
	other := leaving("docker pull x")
	other.Tool = "Other"
	if d := permissions.Decide(p, other, permissions.Evidence{}); d.Verdict != permissions.Deny {
		t.Errorf("another tool: %v", d.Verdict)
	}
	if !p.RunsOutside("Bash", &inside.Commands[0]) || p.RunsOutside("Other", &inside.Commands[0]) {
		t.Error("not known as what runs outside")
	}
}

// TestOutsideWarnings tells of entries that grant nothing.
func TestOutsideWarnings(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{"*": "any command would leave", "* ps": "any command would leave", "d*": "any command would leave", "": "it grants nothing", "npx:*": "what runs other commands", "a && b*": "a wildcard cannot speak"} {
		set := permissions.RuleSet{Source: permissions.SourceUser, File: "/s.toml", Outside: []permissions.RuleText{{Text: entry, Line: 7}}}
		_, warnings, err := permissions.Compile(permissions.Setup{Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/w"}}, Rules: []permissions.RuleSet{set}})
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), want) || !strings.Contains(warnings[0].String(), "/s.toml:7") {
			t.Errorf("%q: %v, %v", entry, warnings, err)
		}
	}
}

// TestLeaveIsSuggested names the entries that would let a command leave, and that suffice.
func TestLeaveIsSuggested(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"docker build -t x .":           {"docker build:*"},
		"git push origin main | cat":    {"git push:*"},
		"docker pull x && docker run x": {"docker pull:*", "docker run x"},
		"npx x":                         {"npx x"}, // just so
		"rm -rf /":                      nil,
		"docker ps > /home/u/.bashrc":   nil,
		"ls":                            nil,
	} {
		r := leaving(command)
		r.Headless = false
		x := permissions.Explain(outsidePolicy(t, nil), r, permissions.Evidence{})
		var got []string
		if x.Leave != nil {
			got = x.Leave.Outside
		}
		if !slices.Equal(got, want) || len(x.Remedy) > 0 {
			t.Errorf("%s: %q with %q, want %q", command, got, x.Remedy, want)
			continue
		}
		if want == nil {
			continue
		}
		if d := permissions.Decide(outsidePolicy(t, func(s *permissions.Setup) { s.Rules[0].Allow = permissions.RuleTexts(x.Leave.Rules...) }, got...), r, permissions.Evidence{}); d.Verdict != permissions.Allow {
			t.Errorf("%s: %v", command, d.Message())
		}
		denied := permissions.Decide(outsidePolicy(t, nil), leaving(command), permissions.Evidence{})
		if refusal := denied.Refusal(); !slices.Equal(refusal.Outside, want) || !strings.Contains(denied.Message(), "under [sandbox] in the user's settings") {
			t.Errorf("%s: %+v, %s", command, refusal, denied.Message())
		}
	}
}
