package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions/settings"
)

// skills are the names of the skills that a host of the user's offers, and of those that it does not,
// with the reason.
func (u *trusting) skills(t *testing.T) (offered, withheld []string) {
	t.Helper()
	trust, err := config.OpenTrust(u.dirs.Trust())
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.FindProject(u.root, trust)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := settings.Load(config.UserSettings(u.dirs, p))
	if err != nil {
		t.Fatal(err)
	}
	o, err := config.ForUser(u.dirs, p, loaded)
	if err != nil {
		t.Fatal(err)
	}
	found, problems := open(t, host.Options{Skills: o.Skills, Plugins: o.Plugins}).Skills()
	if len(problems) > 0 {
		t.Errorf("the problems are %v", problems)
	}
	for _, s := range found {
		if problem := s.Problem(); problem != nil {
			withheld = append(withheld, s.Name+": "+problem.Error())
		} else {
			offered = append(offered, s.Name)
		}
	}
	return offered, withheld
}

// TestSkillsOfProjects are offered where the user trusts the project; those that propose rules once
// the user was shown exactly these.
func TestSkillsOfProjects(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	skill := func(name, more string) string { return "---\nname: " + name + "\ndescription: d\n" + more + "---\nx" }
	u.write(t, "../config/skills/mine/SKILL.md", skill("mine", ""))
	u.write(t, "../home/.claude/skills/other/SKILL.md", skill("other", "allowed-tools: Bash\n"))
	u.write(t, ".toolquay/skills/plain/SKILL.md", skill("plain", ""))
	u.write(t, ".toolquay/commands/c.md", "c")
	u.write(t, ".claude/skills/asks/SKILL.md", skill("asks", "allowed-tools: Bash(make:*)\n"))
	u.write(t, ".toolquay/plugins/helper/skills/help/SKILL.md", skill("help", "allowed-tools: Bash(ls)\n"))
	want := func(when string, offered, withheld []string) {
		t.Helper()
		got, not := u.skills(t)
		if !slices.Equal(got, offered) || len(not) != len(withheld) {
			t.Errorf("%s: offered %q and not %q; want %q and %q", when, got, not, offered, withheld)
			return
		}
		for i := range not {
			if !strings.HasPrefix(not[i], withheld[i]+": ") || !strings.Contains(not[i], "toolquay trust") {
				t.Errorf("%s: not offered %q, want %q", when, not[i], withheld[i])
			}
		}
	}
	trust := func(more ...settings.Brought) {
		t.Helper()
		tr, err := config.OpenTrust(u.dirs.Trust())
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.TrustProject(u.root, more, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	brings := func() (texts []string, unseen []settings.Brought) {
		t.Helper()
		tr, err := config.OpenTrust(u.dirs.Trust())
		if err != nil {
			t.Fatal(err)
		}
		p, err := config.FindProject(u.root, tr)
		if err != nil {
			t.Fatal(err)
		}
		_, unseen, err = p.Brings(u.dirs)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range unseen {
			if b.Kind == settings.BringsSkill {
				texts = append(texts, b.Text)
			}
		}
		return texts, unseen
	}

	want("without trust", []string{"mine", "other"}, nil)
	texts, unseen := brings()
	if want := []string{`asks, which proposes to allow ["Bash(make:*)"]`, "c", "help, which proposes to allow [\"Bash(ls)\"]", "plain"}; !slices.Equal(texts, want) {
		t.Errorf("it brings %q, want %q", texts, want)
	}
	trust()
	want("trusted and not shown", []string{"c", "mine", "other", "plain"}, []string{"asks"})
	trust(unseen...)
	want("shown", []string{"asks", "c", "fixture:help", "mine", "other", "plain"}, nil)
	if texts, _ := brings(); texts != nil {
		t.Errorf("still unseen: %q", texts)
	}
	u.write(t, ".claude/skills/asks/SKILL.md", skill("asks", "allowed-tools: Bash\n"))
	u.write(t, ".toolquay/skills/new/SKILL.md", skill("new", ""))
	want("changed", []string{"c", "fixture:help", "mine", "new", "other", "plain"}, []string{"asks"})
	if texts, _ := brings(); !slices.Equal(texts, []string{`asks, which proposes to allow ["Bash"]`}) {
		t.Errorf("unseen: %q", texts)
	}

	tr, err := config.OpenTrust(u.dirs.Trust())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Revoke(u.root); err != nil {
		t.Fatal(err)
	}
	want("revoked", []string{"mine", "other"}, nil)
}

// TestSkillsOfHome are listed once where the user trusts their home directory as a project.
func TestSkillsOfHome(t *testing.T) {
	t.Parallel()
	u := newTrusting(t)
	u.dirs.Home = u.root
	u.write(t, ".claude/skills/mine/SKILL.md", "---\nname: mine\ndescription: d\n---\nx")
	u.write(t, ".toolquay/skills/other/SKILL.md", "---\nname: other\ndescription: d\n---\nx")
	tr, err := config.OpenTrust(u.dirs.Trust())
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.FindProject(u.root, tr)
	if err != nil {
		t.Fatal(err)
	}
	if places := p.SkillSources(u.dirs); len(places) != 1 || places[0].Label != "project" {
		t.Errorf("the project's places are %+v", places)
	}
	if err := tr.TrustProject(u.root, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, not := u.skills(t); !slices.Equal(got, []string{"mine", "other"}) || not != nil {
		t.Errorf("offered %q and not %q", got, not)
	}
}
