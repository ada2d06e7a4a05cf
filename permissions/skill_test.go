package permissions_test

import (
	"encoding/json"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// TestSkillRules names skills by rules: NAME, or NAME:* with all that is called NAME:REST. What
// holds back covers a name of every source, and what allows one alone.
func TestSkillRules(t *testing.T) {
	t.Parallel()
	const yes, no = permissions.Allow, permissions.None
	for _, test := range []struct {
		rule, called string
		deny, allow  permissions.Verdict // whether such a rule binds
	}{
		{"Skill", "pdf", yes, yes},
		{"Skill(*)", "pdf", yes, yes},
		{"Skill(pdf)", "pdf", yes, yes},
		{"Skill(/pdf)", "pdf", yes, yes},
		{"Skill(pdf)", "/pdf a b", yes, yes}, // as a model may write it
		{"Skill(pdf)", "pdf2", no, no},
		{"Skill(pdf)", "pd", no, no},
		{"Skill(pdf)", "acme:pdf", yes, no},
		{"Skill(acme:pdf)", "acme:pdf", yes, yes},
		{"Skill(acme:pdf)", "other:pdf", no, no},
		{"Skill(acme:pdf)", "x:acme:pdf", yes, no},
		{"Skill(acme:*)", "acme:pdf", yes, yes},
		{"Skill(acme:*)", "acme", yes, yes},
		{"Skill(acme:*)", "acme2:pdf", no, no},
		{"Skill(git:*)", "user:git:commit", yes, no},
		{"SlashCommand(/pdf:*)", "pdf", yes, yes},
		{"Skill(pdf)", "", no, no},
	} {
		input, err := json.Marshal(map[string]string{"skill": test.called, "args": "pdf"})
		if err != nil {
			t.Fatal(err)
		}
		for list, bound := range map[string]permissions.Verdict{"deny": test.deny, "ask": test.deny, "allow": test.allow} {
			set, verdict := permissions.RuleSet{Source: permissions.SourceUser}, permissions.None
			switch texts := permissions.RuleTexts(test.rule); list {
			case "deny":
				set.Deny, verdict = texts, permissions.Deny
			case "ask":
				set.Ask, verdict = texts, permissions.Ask
			case "allow":
				set.Allow, verdict = texts, permissions.Allow
			}
			setup := permissions.Setup{
				Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}}, Rules: []permissions.RuleSet{set}, Aliases: map[string]string{"SlashCommand": "Skill"},
				Tools: []permissions.Tool{{Name: "Skill", Aliases: []string{"SlashCommand"}, Properties: []string{"skill", "args"}}},
			}
			p, warnings, err := permissions.Compile(setup)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%s %s: %v, %v", list, test.rule, warnings, err)
			}
			// What no rule speaks of asks here, but for what an allow rule covers.
			d := permissions.Decide(p, permissions.Request{Tool: "Skill", Input: input, Stage: permissions.StageCall, Effects: permissions.EffectsUnknown}, permissions.Evidence{})
			if got := d.Rule != nil; got != (bound == yes) || got && d.Verdict != verdict {
				t.Errorf("%s %s and %q: %s by %v", list, test.rule, test.called, d.Verdict, d.Rule)
			}
			if list == "deny" && p.OfferedWith("Skill", input) == (bound == yes) {
				t.Errorf("deny %s: offered is not %v of %q", test.rule, bound == no, test.called)
			}
		}
	}
}

// TestSkillRulesThatNameNothing are refused where they hold back, and grant nothing.
func TestSkillRulesThatNameNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Skill(:*)", "Skill(/)", "Skill(a b)", "Skill(a*)", "Skill(a:*:*)"} {
		for _, v := range []permissions.Verdict{permissions.Deny, permissions.Ask, permissions.Allow} {
			if r, warning, err := permissions.ParseRule(v, text, permissions.Source{}, nil); err == nil {
				t.Errorf("%s %s is read as %+v, %s", v, text, r, warning)
			}
		}
	}
}

// TestReadBelow writes a rule on exactly what is in a directory, whatever its name.
func TestReadBelow(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"/home/u/skills/pdf": "Read(//home/u/skills/pdf/**)", "/a[b]*?/ c{d} ": `Read(//a\[b]\*\?/ c\{d}\ /**)`, "/a/": "Read(//a/**)"} {
		if got := permissions.ReadBelow(dir); got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
		p, warnings, err := permissions.Compile(permissions.Setup{
			Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}},
			Rules:  []permissions.RuleSet{{Source: permissions.SourceSession, Allow: permissions.RuleTexts(permissions.ReadBelow(dir))}},
		})
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%q: %v, %v", dir, warnings, err)
		}
		for path, verdict := range map[string]permissions.Verdict{"/x/y": permissions.Allow, "/x": permissions.Allow, "x/../../z": permissions.Ask, "2/x": permissions.Ask} {
			target := trimmed(dir) + path
			if path == "x/../../z" {
				target = "/z"
			}
			d := permissions.Decide(p, permissions.Request{Tool: "Read", Effects: permissions.EffectsListed, Accesses: []permissions.Access{{Kind: permissions.AccessRead, Target: target, Real: target}}}, permissions.Evidence{})
			if d.Verdict != verdict {
				t.Errorf("%q: %s is %s, want %s", dir, target, d.Verdict, verdict)
			}
		}
	}
}

func trimmed(dir string) string {
	for len(dir) > 1 && dir[len(dir)-1] == '/' {
		dir = dir[:len(dir)-1]
	}
	return dir
}

// TestSkillsAreNoSecrets of the host's own: rules can allow that they are read, and nothing beside them.
func TestSkillsAreNoSecrets(t *testing.T) {
	t.Parallel()
	const own, allow, ask = "/home/u/.config/toolquay", permissions.Allow, permissions.Ask
	for rule, verdict := range map[string]permissions.Verdict{"Read": allow, "Read(//home/u/.config/toolquay/**)": allow, "": ask} {
		set := permissions.RuleSet{Source: permissions.SourceUser}
		if rule != "" {
			set.Allow = permissions.RuleTexts(rule)
		}
		dir := permissions.Dir{Path: own}
		p, _, err := permissions.Compile(permissions.Setup{
			Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/ws"}, Home: permissions.Dir{Path: "/home/u"}, HostFolders: []permissions.Dir{dir}, Skills: []permissions.Dir{dir}},
			Rules:  []permissions.RuleSet{set},
		})
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]permissions.Verdict{
			"/skills/pdf/a.py": verdict, "/commands/x.md": verdict, "/plugins/acme/skills/x/SKILL.md": verdict,
			"/settings.toml": ask, "/plugins/acme/plugin.toml": ask, "/skills2/x": ask, "": ask,
		} {
			for _, tree := range []bool{false, true} {
				a := permissions.Access{Kind: permissions.AccessRead, Target: own + path, Real: own + path, Tree: tree}
				d := permissions.Decide(p, permissions.Request{Tool: "Read", Effects: permissions.EffectsListed, Accesses: []permissions.Access{a}}, permissions.Evidence{})
				if d.Verdict != want {
					t.Errorf("allow %q: %s (tree: %v) is %s, want %s", rule, path, tree, d.Verdict, want)
				}
			}
			a := permissions.Access{Kind: permissions.AccessWrite, Target: own + path, Real: own + path}
			if d := permissions.Decide(p, permissions.Request{Tool: "Write", Effects: permissions.EffectsListed, Accesses: []permissions.Access{a}}, permissions.Evidence{}); d.Verdict != ask {
				t.Errorf("allow %q: changing %s is %s", rule, path, d.Verdict)
			}
		}
	}
}
