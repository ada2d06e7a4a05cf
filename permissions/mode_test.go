package permissions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// The table of modes, row by row: what is left open asks for. A judge that cannot
// tell leaves it to the person.
func TestModeTable(t *testing.T) {
	t.Parallel()
	const table = `
	                                         default plan  acceptEdits auto  bypassPermissions dontAsk
	read /ws/proj/a                        | allow   allow allow       allow allow             allow
	read /var/s1/a                         | allow   allow allow       allow allow             allow
	$ ls && cat a                          | allow   allow allow       allow allow             allow
	read /etc/a                            | ask     ask   ask         judge allow             deny
	$ cat /etc/a                           | ask     ask   ask         judge allow             deny
	write /ws/proj/a                       | ask     deny  allow       allow allow             deny
	$ mkdir a && touch b && rm c && mv d e | ask     deny  allow       allow allow             deny
	write /scratch/s1/a                    | ask     deny  allow       allow allow             deny
	write /scratch/s1/.git/config          | ask     deny  ask         ask   allow             deny
	write /scratch/s2/a                    | ask     deny  ask         judge allow             deny
	$ ls > /scratch/s1/a                   | ask     deny  allow       allow allow             deny
	write /etc/a                           | ask     deny  ask         judge allow             deny
	$ cp /ws/proj/a /etc/a                 | ask     deny  ask         judge allow             deny
	$ make                                 | ask     ask   ask         judge allow             deny
	net example.com                        | ask     ask   ask         judge allow             deny
	mcp s t                                | ask     ask   ask         judge allow             deny
	call Tool                              | ask     ask   ask         judge allow             deny
	session todos                          | allow   allow allow       allow allow             allow
	session worktrees                     | ask     deny  allow       allow allow             deny
	session unsaved work                  | ask     deny  ask         judge allow             deny
	session schedule                       | ask     deny  ask         judge allow             deny
	session prompts of MCP servers         | ask     ask   ask         judge allow             deny
	odd x                                  | ask     ask   ask         judge allow             deny
	write /ws/proj/.git/config             | ask     deny  ask         ask   allow             deny
	read /home/u/.ssh/id                   | ask     ask   ask         ask   allow             deny
	write /home/u/.ssh/id                  | ask     deny  ask         ask   allow             deny
	$ make ((                              | ask     ask   ask         ask   allow             deny
	unknown make                           | ask     ask   ask         ask   allow             deny
	$~ askme                               | ask     ask   ask         ask   allow             deny
	$~ doom                                | ask     ask   ask         ask   ask               deny
	$ rm /ws                               | ask     deny  ask         ask   ask               deny
	$ !ls                                  | ask     ask   ask         ask   ask               deny`
	lines := strings.Split(strings.TrimSpace(table), "\n")
	names := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		request, answers, _ := strings.Cut(strings.TrimSpace(line), "|")
		for i, want := range strings.Fields(answers) {
			p := compile(t, setupFor(t, "mode "+names[i]))
			r := parseRequest(strings.TrimSpace(request))
			r.InputHash = "h"
			checkMode(t, p, r, want, strings.TrimSpace(request))
		}
	}
}

// TestStricterMode decides requests under rules in all pairs of modes: what
// the stricter of the two allows, both allow, and what either denies, it does not
// allow. Auto without a judge's word is no looser than default.
func TestStricterMode(t *testing.T) {
	t.Parallel()
	modes := []permissions.Mode{
		permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits,
		permissions.ModeAuto, permissions.ModeBypass, permissions.ModeDontAsk,
	}
	requests := []string{
		"read /ws/proj/a", "read /etc/a", "$ cat /etc/a", "write /ws/proj/a", "write /etc/a", "$ mkdir a && rm c", "$ make",
		"net example.com", "mcp s t", "call Tool", "write /ws/proj/.git/config", "read /home/u/.ssh/id", "$ make ((", "$ rm /ws", "$ !ls",
		"session todos", "session worktrees", "session unsaved work", "session schedule", "session prompts of MCP servers",
	}
	for _, rules := range []string{"", "allow Edit", "allow Read", "allow Bash(make)", "ask Read", "deny Edit", "allow Tool"} {
		policies := map[permissions.Mode]*permissions.Policy{}
		for _, m := range modes {
			policies[m] = compile(t, setupFor(t, strings.TrimSuffix("mode "+string(m)+" ; "+rules, " ; ")))
		}
		for _, a := range modes {
			for _, b := range modes {
				mode, noAsk := a.Stricter(b)
				other, _ := b.Stricter(a)
				if mode != other || mode != a && mode != b {
					t.Errorf("%s and %s come to %s, %t", a, b, mode, noAsk)
				}
				for _, request := range requests {
					verdict := func(m permissions.Mode, headless bool) permissions.Verdict {
						r := parseRequest(request)
						r.Headless = headless
						return permissions.Decide(policies[m], r, permissions.Evidence{}).Verdict
					}
					if got, want := verdict(mode, noAsk), max(verdict(a, false), verdict(b, false)); got < want {
						t.Errorf("%q: %s in %s and %s: %s in %s, should be %s", rules, request, a, b, got, mode, want)
					}
				}
			}
		}
	}
}

// checkMode holds one cell; "judge" is asked of a judge in each way.
func checkMode(t *testing.T, p *permissions.Policy, r permissions.Request, want, request string) {
	t.Helper()
	for answer := permissions.None; answer <= permissions.Deny; answer++ {
		expect := want
		if want == "judge" {
			expect = max(answer, permissions.Allow).String()
			if answer == permissions.None {
				expect = "ask"
			}
		}
		e := permissions.Evidence{Judge: &permissions.JudgeAnswer{InputHash: "h", Verdict: answer, Reason: "so"}}
		if d := permissions.Decide(p, r, e); d.Verdict.String() != expect {
			t.Errorf("%s, %s, judge %s: %s, want %s", p.Mode(), request, answer, d.Verdict, expect)
		}
	}
	d := permissions.Decide(p, r, permissions.Evidence{})
	if (d.Need == permissions.NeedJudge) != (want == "judge") {
		t.Errorf("%s, %s: needs %d", p.Mode(), request, d.Need)
	}
	other := permissions.Evidence{Judge: &permissions.JudgeAnswer{InputHash: "other", Verdict: permissions.Allow}}
	if late := permissions.Decide(p, r, other); late.Verdict != d.Verdict {
		t.Errorf("%s, %s: a judge of another input counts", p.Mode(), request)
	}
}

func TestForbiddenModes(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Forbidden = []permissions.Mode{permissions.ModeAuto, permissions.ModePlan, permissions.ModeBypass}
	p := compile(t, s)
	for _, m := range modes {
		forbidden := m == permissions.ModeAuto || m == permissions.ModePlan || m == permissions.ModeBypass
		if _, err := p.WithMode(m); (err != nil) != forbidden {
			t.Errorf("entering %s: %v", m, err)
		}
		for _, offered := range p.Modes() {
			if offered == m && forbidden {
				t.Errorf("%s is offered", m)
			}
		}
	}
	if len(p.Modes()) != 3 {
		t.Errorf("%v are offered", p.Modes())
	}
}

func TestSetAside(t *testing.T) {
	t.Parallel()
	s := setupFor(t, "mode auto ; allow Bash ; allow Bash(python:*) ; allow Bash(make:*) ; allow Tool ; deny Bash(:*)")
	p, warnings, err := permissions.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, w := range warnings {
		if strings.Contains(w.Message, "set aside") {
			rules = append(rules, w.Rule)
		}
	}
	if got := strings.Join(rules, " "); got != "Bash Bash(python:*)" {
		t.Errorf("set aside: %s", got)
	}
	if q, err := p.WithMode(permissions.ModeDefault); err != nil || len(q.SetAside()) != 0 {
		t.Errorf("set aside in default: %v, %v", q.SetAside(), err)
	}
}

func TestPlanFile(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "mode plan"))
	moved := p.WithPlanFile(permissions.Dir{Path: "/var/s1/b.md", Real: "/real/b.md"})
	for request, want := range map[string]permissions.Verdict{
		"write /var/s1/b.md -> /real/b.md": permissions.Allow,
		"write /var/s1/plan.md":            permissions.Deny,
		"write /var/s1/b.md -> /etc/x":     permissions.Deny,
	} {
		if v := verdict(moved, parseRequest(request)); v != want {
			t.Errorf("%s: %s", request, v)
		}
	}
	none := testSetup()
	none.PlanFile, none.Mode = permissions.Dir{}, permissions.ModePlan
	if v := verdict(compile(t, none), parseRequest("write /var/s1/plan.md")); v != permissions.Deny {
		t.Errorf("without a plan file: %s", v)
	}
}

// TestSilent: a silent policy denies what it would ask and changes nothing else, until the mode
// is another one.
func TestSilent(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "mode plan"))
	silent := p.Silent()
	for _, request := range []string{"read /ws/proj/a", "read /etc/a", "write /ws/proj/a", "write /var/s1/plan.md", "$ make", "$ ls", "net example.com", "$ rm /ws"} {
		want := verdict(p, parseRequest(request))
		if want == permissions.Ask {
			want = permissions.Deny
		}
		if got := verdict(silent, parseRequest(request)); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
	if p.NeverAsks() || !silent.NeverAsks() || !silent.At(time.Now()).NeverAsks() || !silent.WithCwd(silent.Cwd()).NeverAsks() {
		t.Error("what is silent does not stay so, or all is")
	}
	back, err := silent.WithMode(permissions.ModeDefault)
	if err != nil || back.NeverAsks() {
		t.Errorf("another mode is silent too: %v", err)
	}
	if dont, err := p.WithMode(permissions.ModeDontAsk); err != nil || !dont.NeverAsks() {
		t.Errorf("dontAsk asks: %v", err)
	}
}
