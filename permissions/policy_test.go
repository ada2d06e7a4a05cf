package permissions_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

func TestCompileRefusesBadDirectories(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*permissions.Setup){
		"no cwd":         func(s *permissions.Setup) { s.Cwd = permissions.Dir{} },
		"relative cwd":   func(s *permissions.Setup) { s.Cwd.Path = "a" },
		"unclean real":   func(s *permissions.Setup) { s.Cwd.Real = "/a/../b" },
		"relative home":  func(s *permissions.Setup) { s.Home.Path = "home" },
		"empty addition": func(s *permissions.Setup) { s.Additional = []permissions.Dir{{}} },
		"session folder": func(s *permissions.Setup) { s.SessionFolder.Path = "x" },
		"forbidden mode": func(s *permissions.Setup) {
			s.Mode, s.Forbidden = permissions.ModeBypass, []permissions.Mode{permissions.ModeBypass}
		},
		"unknown mode":    func(s *permissions.Setup) { s.Mode = "yolo" },
		"deny without ~":  func(s *permissions.Setup) { s.Home = permissions.Dir{}; _ = addRule(s, "deny Read(~/x)") },
		"addition with ~": func(s *permissions.Setup) { s.Home = permissions.Dir{}; s.Rules = dirs("~/x") },
		"empty directory": func(s *permissions.Setup) { s.Rules = dirs("") },
	}
	for name, change := range tests {
		s := testSetup()
		change(&s)
		if p, _, err := permissions.Compile(s); err == nil || p != nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func dirs(names ...string) []permissions.RuleSet {
	return []permissions.RuleSet{{Source: permissions.SourceProject, Directories: names}}
}

func TestModes(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Rules = []permissions.RuleSet{
		{Source: permissions.SourceUser, Mode: permissions.ModeDefault},
		{Source: permissions.SourceCommandLine, Mode: permissions.ModeBypass},
	}
	p := compile(t, s)
	if p.Mode() != permissions.ModeBypass {
		t.Errorf("the weightier source's mode does not count: %s", p.Mode())
	}
	q, err := p.WithMode(permissions.ModeDefault)
	if err != nil || q.Mode() != permissions.ModeDefault || p.Mode() != permissions.ModeBypass {
		t.Errorf("WithMode: %v", err)
	}
	if _, err := p.WithMode("yolo"); err == nil || !strings.Contains(err.Error(), "bypassPermissions and dontAsk") {
		t.Errorf("%v", err)
	}
	s = testSetup()
	s.Forbidden = []permissions.Mode{permissions.ModeBypass}
	if _, err := compile(t, s).WithMode(permissions.ModeBypass); err == nil {
		t.Error("a forbidden mode is entered")
	}
}

func TestOnlyPolicyRules(t *testing.T) {
	t.Parallel()
	s := setupFor(t, "user allow Tool ; user deny Other")
	s.Rules = append(s.Rules, permissions.RuleSet{Source: permissions.SourcePolicy, Allow: permissions.RuleTexts("Third")})
	s.OnlyPolicyRules = true
	p, warnings, err := permissions.Compile(s)
	if err != nil || len(warnings) != 1 || warnings[0].Rule != "Tool" {
		t.Fatalf("%v, %v", warnings, err)
	}
	for tool, want := range map[string]permissions.Verdict{
		"Tool": permissions.Ask, "Other": permissions.Deny, "Third": permissions.Allow,
	} {
		if v := verdict(p, parseRequest("call "+tool)); v != want {
			t.Errorf("%s: %s", tool, v)
		}
	}
	if _, warnings, err = p.WithRules(permissions.RuleSet{
		Source: permissions.SourceSession, Allow: permissions.RuleTexts("Tool"),
	}); err != nil || len(warnings) != 1 {
		t.Errorf("later rules: %v, %v", warnings, err)
	}
}

func TestDirectoriesFromSettings(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Rules = dirs("../other", "~/more", "/abs")
	s.Resolve = func(path string) string { return strings.Replace(path, "/abs", "/real", 1) }
	p := compile(t, s)
	for request, want := range map[string]permissions.Verdict{
		"read /ws/other/a": permissions.Allow, "read /home/u/more/a": permissions.Allow,
		"read /abs/a -> /real/a": permissions.Allow, "read /real/a": permissions.Allow,
		"read /abs/a": permissions.Ask, "read /home/u/mo": permissions.Ask,
	} {
		if v := verdict(p, parseRequest(request)); v != want {
			t.Errorf("%s: %s", request, v)
		}
	}
}

// A working directory reached through a link has two names, and rules relative
// to it bind both.
func TestLinkedWorkingDirectory(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Cwd = permissions.Dir{Path: "/link", Real: "/data/proj"}
	for _, rule := range []string{"deny Read(./secret)", "allow Edit(./out)", "deny Read(/top)"} {
		if err := addRule(&s, rule); err != nil {
			t.Fatal(err)
		}
	}
	p := compile(t, s)
	for request, want := range map[string]permissions.Verdict{
		"read /link/a -> /data/proj/a":        permissions.Allow,
		"read /data/proj/a":                   permissions.Allow,
		"read /link/a":                        permissions.Ask, // it is not where the link led
		"read /data/proj/secret":              permissions.Deny,
		"read /link/secret -> /data/proj/s":   permissions.Deny,
		"read /data/proj/top":                 permissions.Deny,
		"write /link/out -> /data/proj/out":   permissions.Allow,
		"write /link/out -> /data/proj/other": permissions.Ask,
	} {
		if v := verdict(p, parseRequest(request)); v != want {
			t.Errorf("%s: %s, want %s", request, v, want)
		}
	}
}

// A deny that names a link binds what the link points at; an allow does not.
func TestLinksInRules(t *testing.T) {
	t.Parallel()
	s := setupFor(t, "deny Read(//tmp/x/*.key) ; deny Read(./keys) ; allow Read(//tmp/y)")
	s.Resolve = func(path string) string {
		path = strings.Replace(path, "/tmp", "/private/tmp", 1)
		return strings.Replace(path, "/ws/proj/keys", "/vault", 1)
	}
	p := compile(t, s)
	for request, want := range map[string]permissions.Verdict{
		"read /private/tmp/x/a.key":       permissions.Deny,
		"read /private/tmp/x/a.pub":       permissions.Ask,
		"read /vault/a":                   permissions.Deny,
		"read /private/tmp/y":             permissions.Ask,
		"read /tmp/y -> /private/tmp/y":   permissions.Ask,
		"read /tmp/x/a.key -> /elsewhere": permissions.Deny,
	} {
		if v := verdict(p, parseRequest(request)); v != want {
			t.Errorf("%s: %s, want %s", request, v, want)
		}
	}
}

func TestWithCwd(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "deny Read(./key) ; allow Edit(src/**) ; ask Read(../up)"))
	moved := p.WithCwd(permissions.Dir{Path: "/ws/proj/sub"})
	if moved.Cwd().Path != "/ws/proj/sub" || p.Cwd().Path != "/ws/proj" {
		t.Error("WithCwd changes the policy it is called on, or nothing")
	}
	for request, want := range map[string]permissions.Verdict{
		"read /ws/proj/key":        permissions.Deny,
		"read /ws/proj/sub/key":    permissions.Deny,
		"read /ws/proj/up":         permissions.Ask,
		"write /ws/proj/src/a":     permissions.Allow,
		"write /ws/proj/sub/src/a": permissions.Ask,
		"read /ws/proj/b":          permissions.Allow,
	} {
		if v := verdict(moved, parseRequest(request)); v != want {
			t.Errorf("%s: %s, want %s", request, v, want)
		}
	}
	if v := verdict(p.WithCwd(permissions.Dir{Path: "/etc"}), parseRequest("read /etc/hosts")); v != permissions.Ask {
		t.Errorf("walking to a directory makes it a working directory: %s", v)
	}
}

func TestWithRules(t *testing.T) {
	t.Parallel()
	p := compile(t, testSetup())
	q, _, err := p.WithRules(permissions.RuleSet{Source: permissions.SourceSession, Allow: permissions.RuleTexts("Read(//etc)")})
	if err != nil {
		t.Fatal(err)
	}
	r := parseRequest("read /etc/hosts")
	if verdict(q, r) != permissions.Allow || verdict(p, r) != permissions.Ask {
		t.Error("WithRules changes the policy it is called on, or nothing")
	}
	if q, _, err := p.WithRules(permissions.RuleSet{Deny: permissions.RuleTexts("Read(")}); err == nil || q != nil {
		t.Error("a malformed deny is let pass")
	}
}

func TestDecideDoesNotAllocateToAllow(t *testing.T) {
	p := compile(t, setupFor(t, "deny Read(.env) ; allow Read(//usr/share) ; deny Read(*.pem)"))
	for _, request := range []string{"read /ws/proj/a/b.go", "read /usr/share/doc"} {
		r := parseRequest(request)
		if n := testing.AllocsPerRun(100, func() { permissions.Decide(p, r, permissions.Evidence{}) }); n != 0 {
			t.Errorf("%s: %v allocations", request, n)
		}
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	p := compile(t, testSetup())
	access := func(request string) permissions.Access { return parseRequest(request).Accesses[0] }
	scope, err := p.Scope([]string{"src/**", "//etc/*.conf"})
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]bool{
		"read /ws/proj/src/a": true, "write /ws/proj/src/a": true, "read /etc/a.conf": true,
		"read /ws/proj/a": false, "read /etc/hosts": false, "read /ws/proj/src/l -> /etc/hosts": false,
		"read /etc/hosts -> /ws/proj/src/a": false, "writetree /ws/proj": false, "tree /ws/proj": true, "net h": false,
	} {
		if a := access(request); scope.Covers(a) != want {
			t.Errorf("%s: %t", request, !want)
		}
	}
	if scope.Covers(permissions.Access{Kind: permissions.AccessRead, Target: "/ws/proj/src/a"}) {
		t.Error("a path that is not resolved is covered")
	}
	if everywhere, err := p.Scope(nil); err != nil || !everywhere.Covers(access("read /etc/hosts")) {
		t.Errorf("no patterns are not everywhere: %v", err)
	}
	if _, err := p.Scope([]string{"[a"}); err == nil {
		t.Error("a malformed pattern is a scope")
	}
	if !p.Inside("/ws/lib/a") || p.Inside("/ws") {
		t.Error("Inside")
	}
}
