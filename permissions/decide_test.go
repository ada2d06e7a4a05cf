package permissions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

func TestEvidence(t *testing.T) {
	t.Parallel()
	const none = permissions.None
	hook := func(v permissions.Verdict) permissions.Evidence {
		return permissions.Evidence{Hook: &permissions.HookAnswer{Verdict: v, Reason: "hook"}}
	}
	approved := func(hash string, paths ...string) permissions.Evidence {
		a := &permissions.Approval{InputHash: hash}
		for _, p := range paths {
			a.Accesses = append(a.Accesses, permissions.Access{Kind: permissions.AccessRead, Target: p, Real: p})
		}
		return permissions.Evidence{Approval: a}
	}
	tests := map[string]struct {
		rules, request string
		check          permissions.Check
		builtin        bool
		evidence       permissions.Evidence
		want           permissions.Verdict
		layer          permissions.Layer
	}{
		"hook denies in bypass":          {rules: "mode bypassPermissions", request: "read /ws/proj/a", evidence: hook(permissions.Deny), want: permissions.Deny, layer: permissions.LayerHook},
		"hook asks in bypass":            {rules: "mode bypassPermissions", request: "read /ws/proj/a", evidence: hook(permissions.Ask), want: permissions.Ask, layer: permissions.LayerHook},
		"hook asks over allow":           {rules: "allow Any", request: "read /ws/proj/a", evidence: hook(permissions.Ask), want: permissions.Ask, layer: permissions.LayerHook},
		"hook allows what is open":       {request: "read /etc/hosts", evidence: hook(permissions.Allow), want: permissions.Allow, layer: permissions.LayerHook},
		"hook allows no denied path":     {rules: "deny Read(a)", request: "read /ws/proj/a", evidence: hook(permissions.Allow), want: permissions.Deny, layer: permissions.LayerRule},
		"hook allows no asked path":      {rules: "ask Read(a)", request: "read /ws/proj/a", evidence: hook(permissions.Allow), want: permissions.Ask, layer: permissions.LayerRule},
		"hook allows no credentials":     {request: "read /home/u/.ssh/id", evidence: hook(permissions.Allow), want: permissions.Ask, layer: permissions.LayerCredentials},
		"credentials before protected":   {request: "write /home/u/.ssh/.git/config", want: permissions.Ask, layer: permissions.LayerCredentials},
		"hook without a word":            {request: "read /etc/hosts", evidence: hook(none), want: permissions.Ask, layer: permissions.LayerMode},
		"hook with nonsense":             {request: "read /ws/proj/a", evidence: hook(9), want: permissions.Deny, layer: permissions.LayerHook},
		"check denies":                   {rules: "allow Any", request: "call Any", check: permissions.CheckDeny, want: permissions.Deny, layer: permissions.LayerToolCheck},
		"check asks":                     {rules: "allow Any", request: "call Any", check: permissions.CheckAsk, want: permissions.Ask, layer: permissions.LayerToolCheck},
		"a plugin's check cannot allow":  {request: "call Any", check: permissions.CheckAllow, want: permissions.Ask, layer: permissions.LayerMode},
		"a built-in's can":               {request: "call Any", check: permissions.CheckAllow, builtin: true, want: permissions.Allow, layer: permissions.LayerToolCheck},
		"but not against a rule":         {rules: "ask Any", request: "call Any", check: permissions.CheckAllow, builtin: true, want: permissions.Ask, layer: permissions.LayerRule},
		"passthrough asks":               {request: "start Any", check: permissions.CheckPassthrough, want: permissions.Ask, layer: permissions.LayerToolCheck},
		"passthrough asks in bypass":     {rules: "mode bypassPermissions", request: "start Any", check: permissions.CheckPassthrough, want: permissions.Ask, layer: permissions.LayerToolCheck},
		"passthrough with a rule":        {rules: "allow Any", request: "start Any", check: permissions.CheckPassthrough, want: permissions.Allow, layer: permissions.LayerMode},
		"unknown check":                  {request: "start Any", check: 77, want: permissions.Ask, layer: permissions.LayerToolCheck},
		"approved":                       {request: "read /etc/hosts", evidence: approved("h", "/etc/hosts"), want: permissions.Allow, layer: permissions.LayerApproval},
		"approved, other access":         {request: "read /etc/hosts", evidence: approved("h", "/etc/motd"), want: permissions.Ask, layer: permissions.LayerMode},
		"approved, other input":          {request: "read /etc/hosts", evidence: approved("i", "/etc/hosts"), want: permissions.Ask, layer: permissions.LayerMode},
		"approved, no hash":              {request: "read /etc/hosts", evidence: approved("", "/etc/hosts"), want: permissions.Ask, layer: permissions.LayerMode},
		"approved against an ask rule":   {rules: "ask Read(a)", request: "read /ws/proj/a", evidence: approved("h", "/ws/proj/a"), want: permissions.Allow, layer: permissions.LayerApproval},
		"approved credentials":           {request: "read /home/u/.ssh/id", evidence: approved("h", "/home/u/.ssh/id"), want: permissions.Allow, layer: permissions.LayerApproval},
		"approved against a deny rule":   {rules: "deny Read(a)", request: "read /ws/proj/a", evidence: approved("h", "/ws/proj/a"), want: permissions.Deny, layer: permissions.LayerRule},
		"approved call":                  {rules: "ask Any", request: "call Any", evidence: approved("h"), want: permissions.Allow, layer: permissions.LayerApproval},
		"approved call, denied the tool": {rules: "deny Any", request: "call Any", evidence: approved("h"), want: permissions.Deny, layer: permissions.LayerRule},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parseRequest(tt.request)
			r.ToolCheck, r.Origin.Builtin, r.InputHash = tt.check, tt.builtin, "h"
			d := permissions.Decide(compile(t, setupFor(t, tt.rules)), r, tt.evidence)
			if d.Verdict != tt.want || d.Layer != tt.layer {
				t.Errorf("%s by %s, want %s by %s", d.Verdict, d.Layer, tt.want, tt.layer)
			}
		})
	}
}

func TestDecideWithoutPolicy(t *testing.T) {
	t.Parallel()
	d := permissions.Decide(nil, parseRequest("read /a"), permissions.Evidence{})
	if d.Verdict != permissions.Deny || d.Code() != abi.CodeDenied {
		t.Errorf("%+v", d)
	}
}

func TestUnresolvedPathsNeedEvidence(t *testing.T) {
	t.Parallel()
	r := permissions.Request{Stage: permissions.StageCapability, Tool: "Any", Accesses: []permissions.Access{
		{Kind: permissions.AccessRead, Target: "/ws/proj/a"},
	}}
	for rules, want := range map[string]permissions.Verdict{
		"":                       permissions.Ask,
		"allow Read(//)":         permissions.Ask,
		"mode bypassPermissions": permissions.Ask,
		"deny Read(a)":           permissions.Deny,
	} {
		d := permissions.Decide(compile(t, setupFor(t, rules)), r, permissions.Evidence{})
		if d.Verdict != want || (d.Need == permissions.NeedRealPath) != (want == permissions.Ask) {
			t.Errorf("%q: %s, needs %d", rules, d.Verdict, d.Need)
		}
	}
}

func TestCapabilityStageKnowsAllAccesses(t *testing.T) {
	t.Parallel()
	p := compile(t, testSetup())
	r := parseRequest("read /ws/proj/a")
	r.Effects = permissions.EffectsUnknown
	if v := verdict(p, r); v != permissions.Ask {
		t.Errorf("a call of unknown effects: %s", v)
	}
	r.Stage = permissions.StageCapability
	if v := verdict(p, r); v != permissions.Allow {
		t.Errorf("a capability call: %s", v)
	}
}

func TestDecisionTells(t *testing.T) {
	t.Parallel()
	s := testSetup()
	s.Rules = []permissions.RuleSet{{
		Source: permissions.SourceProject, File: ".toolquay/settings.toml",
		Deny:  []permissions.RuleText{{Text: "Read(.env)", Line: 3}},
		Ask:   []permissions.RuleText{{Text: "Slow", Line: 5}},
		Allow: []permissions.RuleText{{Text: "Read(//usr/share)", Line: 7}},
	}}
	p := compile(t, s)
	tests := map[string]struct {
		request string
		message string
		code    abi.Code
		next    permissions.Layer
	}{
		"rule": {
			"read /ws/proj/.env",
			"Permission denied: reading /ws/proj/.env (the deny rule Read(.env) (project, .toolquay/settings.toml:3)).",
			abi.CodeDenied, permissions.LayerMode,
		},
		"allow rule": {
			"read /usr/share/doc",
			"Allowed: reading /usr/share/doc (the allow rule Read(//usr/share) (project, .toolquay/settings.toml:7)).",
			"", permissions.LayerMode,
		},
		"outside": {
			"read /etc/hosts",
			"Permission denied: reading /etc/hosts needs a person's approval (it is outside the working directories), " +
				"and nobody can be asked here. It needs the allow rule Read(//etc/hosts).",
			abi.CodeNeedsApproval, "",
		},
		"link": {
			"tree /tmp/l* -> /etc/x",
			"Permission denied: reading /tmp/l* needs a person's approval " +
				"(it is outside the working directories), and nobody can be asked here. " +
				`It needs the allow rule Read(//tmp/l\*).`,
			abi.CodeNeedsApproval, "",
		},
		"ask rule": {
			"Slow: read /ws/proj/a",
			"Permission denied: calling Slow needs a person's approval (the ask rule Slow (project, .toolquay/settings.toml:5)), " +
				"and nobody can be asked here. No allow rule is stronger than an ask rule.",
			abi.CodeNeedsApproval, permissions.LayerMode,
		},
		"credentials": {
			"read /home/u/.netrc",
			"Permission denied: reading /home/u/.netrc needs a person's approval (it holds keys or passwords), " +
				"and nobody can be asked here. No allow rule reaches it.",
			abi.CodeNeedsApproval, permissions.LayerMode,
		},
		"local host": {
			"$ curl localhost",
			"Permission denied: connecting to localhost needs a person's approval " +
				"(it is this machine, a local network or a service that holds the machine's credentials), " +
				"and nobody can be asked here. Only an allow rule that names the host reaches it: WebFetch(domain:localhost).",
			abi.CodeNeedsApproval, permissions.LayerMode,
		},
		"control characters": {
			"read /x\ny",
			`Permission denied: reading "/x\ny" needs a person's approval (it is outside the working directories), ` +
				"and nobody can be asked here. No allow rule can be suggested for it.",
			abi.CodeNeedsApproval, "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parseRequest(tt.request)
			r.Headless = true
			d := permissions.Decide(p, r, permissions.Evidence{})
			if d.Message() != tt.message || d.Code() != tt.code {
				t.Errorf("%s\n got %s\nwant %s", d.Code(), d.Message(), tt.message)
			}
			if d.RunnerUp.Layer != tt.next {
				t.Errorf("runner-up %+v", d.RunnerUp)
			}
		})
	}
}

func TestParseCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]permissions.Check{
		"": permissions.CheckNone, "allow": permissions.CheckAllow, "ask": permissions.CheckAsk,
		"deny": permissions.CheckDeny, "passthrough": permissions.CheckPassthrough, "Allow": permissions.CheckAsk,
	} {
		if got := permissions.ParseCheck(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// Commands that cannot be judged are looked through all the same, in bounds.
func TestHostileCommandsAreQuick(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "mode bypassPermissions ; deny Bash(rm:*) ; deny Bash(*x*y*z) ; deny Bash(a && * && b) ; ask Bash(a*b*c)"))
	for name, tt := range map[string]struct {
		text string
		want permissions.Verdict
	}{
		"short":      {"unknown a", permissions.Allow},
		"words":      {"unknown " + strings.Repeat("a ", 30_000), permissions.Allow},
		"lists":      {"unknown " + strings.Repeat("a && ", 10_000), permissions.Allow},
		"wildcards":  {"unknown " + strings.Repeat("axy ", 15_000), permissions.Allow},
		"at the end": {"unknown " + strings.Repeat("a ", 30_000) + "rm", permissions.Deny},
		"too long":   {"unknown " + strings.Repeat("a", 70_000), permissions.Ask},
	} {
		r := parseRequest(tt.text)
		work := testenv.Work(func() {
			if v := verdict(p, r); v != tt.want {
				t.Errorf("%s: %s", name, v)
			}
		})
		if work > 2*time.Second {
			t.Errorf("%s took %v", name, work)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	s := testSetup()
	var set permissions.RuleSet
	add := func(list *[]permissions.RuleText, rules ...string) {
		*list = append(*list, permissions.RuleTexts(rules...)...)
	}
	add(&set.Deny, "Read(.env)", "Read(secrets/**)", "Read(~/private)", "Edit(/vendor)", "WebFetch", "Read(*.pem)")
	for i := range 15 {
		n := strings.Repeat("x", i+1)
		add(&set.Deny, "Read(//srv/"+n+"/**)", "Edit(./gen/"+n+"/*.go)")
		add(&set.Allow, "Read(//usr/share/"+n+")")
	}
	s.Rules = []permissions.RuleSet{set}
	p := compile(b, s)
	if n := len(p.Rules()); n != 51 {
		b.Fatalf("%d rules", n)
	}
	for name, request := range map[string]string{
		"inside": "read /ws/proj/internal/server/handler.go",
		"rule":   "read /usr/share/xxxxxxxxxx/doc/readme",
		"denied": "read /ws/proj/.env",
		"write":  "write /ws/proj/internal/server/handler.go",
	} {
		r := parseRequest(request)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				permissions.Decide(p, r, permissions.Evidence{})
			}
		})
	}
}

// A command of two parts met by 50 rules on commands: the last of the allows fits.
func BenchmarkDecideCommand(b *testing.B) {
	var set permissions.RuleSet
	for _, rule := range []string{"rm -rf *", "git push --force*", "sudo *", "* --no-verify", "dd:*"} {
		set.Deny = append(set.Deny, permissions.RuleTexts("Bash("+rule+")")...)
	}
	for i := range 44 {
		set.Allow = append(set.Allow, permissions.RuleTexts("Bash(npm run "+strings.Repeat("x", i+1)+":*)")...)
	}
	set.Allow = append(set.Allow, permissions.RuleTexts("Bash(git commit:*)")...)
	s := testSetup()
	s.Rules = []permissions.RuleSet{set}
	p := compile(b, s)
	if n := len(p.Rules()); n != 50 {
		b.Fatalf("%d rules", n)
	}
	for name, command := range map[string]string{
		"simple":  "git commit -m 'a b'",
		"list":    "cat internal/a.go && git commit -a -m 'a b'",
		"expands": "git commit -m $MESSAGE",
	} {
		r := parseRequest("$ " + command)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				permissions.Decide(p, r, permissions.Evidence{})
			}
		})
	}
}

// TestCallBesideItsCommand judges what a call lists behind its command unless it is what the
// parts of the command do.
func TestCallBesideItsCommand(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "deny Read(.env)"))
	for target, want := range map[string]permissions.Verdict{"/ws/proj/a": permissions.Allow, "/ws/proj/.env": permissions.Deny, "/etc/hosts": permissions.Ask} {
		r := bash("cat a")
		if len(r.Accesses) != 2 {
			t.Fatalf("the accesses are %v", r.Accesses)
		}
		r.Accesses[1].Target, r.Accesses[1].Real = target, target
		if got := verdict(p, r); got != want {
			t.Errorf("cat a beside %s: %s, want %s", target, got, want)
		}
	}
}
