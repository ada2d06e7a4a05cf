package permissions_test

import (
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// Directories in which rules and guarded places may speak of some names and not of
// others.
var someTrees = []string{
	"/", "/ws/proj", "/ws/proj/src", "/ws/proj/a/b", "/ws/lib/.git", "/home/u", "/home/u/.ssh", "/home/u/.config", "/home/v",
	"/root", "/etc", "/etc/ssh", "/proc", "/proc/1", "/proc/1/fd", "/var/s1", "/var", "/var/sessions/s2", "/opt/host", "/WS/proj",
}

// Names that rules and guarded places end with, and others.
var someChildren = []string{
	"a", "b", "A", ".env", ".ENV", "src", "x.go", "X.GO", ".git", ".ssh", "plain.txt", "dev", "environ", "mem", "fd", "root",
	"ssh_host_rsa_key", "shadow", "Shadow", ".netrc", "config.json", "proj", "s1", "sessions", "plugins", "ßtrange", "\xff", "..", ".", "",
}

func (g gen) evidence(accesses ...permissions.Access) permissions.Evidence {
	var e permissions.Evidence
	if g.IntN(3) == 0 {
		e.Hook = &permissions.HookAnswer{Verdict: permissions.Verdict(g.IntN(4))}
	}
	if g.IntN(3) == 0 {
		e.Judge = &permissions.JudgeAnswer{InputHash: "h", Verdict: permissions.Verdict(g.IntN(4))}
	}
	if g.IntN(2) == 0 {
		e.Approval = &permissions.Approval{InputHash: pick(g, []string{"h", "i"})}
		for _, a := range accesses {
			if g.IntN(2) == 0 {
				e.Approval.Accesses = append(e.Approval.Accesses, a)
			}
		}
	}
	return e
}

func under(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// Where the tree of a directory is allowed, a name in it that is plain is, too, under any
// policy and any evidence.
func TestPlainNamesAreJudgedAsTheirDirectory(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		s.Sessions = permissions.Dir{Path: "/var/sessions"}
		p, _, err := permissions.Compile(s)
		if err != nil {
			return true
		}
		if g.IntN(4) == 0 {
			p = p.WithCwd(permissions.Dir{Path: "/ws/proj/a"})
		}
		for range requestsPerPolicy {
			tree := permissions.Access{Kind: permissions.AccessRead, Target: pick(g, someTrees), Tree: true}
			if tree.Real = tree.Target; g.IntN(3) == 0 {
				tree.Real = pick(g, someTrees)
			}
			if !g.alike(t, p, tree) {
				return false
			}
		}
		return true
	})
}

// alike holds every name in a directory to the law.
func (g gen) alike(t *testing.T, p *permissions.Policy, tree permissions.Access) bool {
	t.Helper()
	r := permissions.Request{
		Stage: permissions.StageCapability, Tool: pick(g, someTools), InputHash: "h", Headless: g.IntN(2) == 0,
		ToolCheck: permissions.Check(g.IntN(4)), Accesses: []permissions.Access{tree},
	}
	name := pick(g, someChildren)
	file := permissions.Access{Kind: permissions.AccessRead, Target: under(tree.Target, name), Real: under(tree.Real, name)}
	e := g.evidence(tree, file)
	dir := p.Directory(tree.Target, tree.Real)
	whole := permissions.Decide(p, r, e)
	if whole.Verdict != permissions.Allow || whole.Layer == permissions.LayerApproval || !dir.Plain(name) {
		return true
	}
	r.Accesses = []permissions.Access{file}
	one := permissions.Decide(p, r, e)
	if one.Verdict != permissions.Allow {
		t.Logf("%+v: %s by %s, and %q in it %s by %s", tree, whole.Verdict, whole.Layer, name, one.Verdict, one.Layer)
		return false
	}
	return true
}

// What is plain, and what is not: else a law that nothing is plain would hold.
func TestPlain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rules, dir string
		plain      []string
		others     []string
	}{
		"no rules":         {"", "/ws/proj", []string{"a", ".env", ".git", "a b", "ß"}, []string{".ssh", "environ", "", ".", "..", "a/b", "a\x00"}},
		"any depth":        {"deny Read(.env) ; ask Read(*.pem)", "/ws/proj/x", []string{"a", "env", ".env2", "pem"}, []string{".env", "x.pem"}},
		"case":             {"fold ; deny Read(.env)", "/ws/proj/x", []string{"a"}, []string{".env", ".ENV"}},
		"one directory's":  {"deny Read(./gen/*.go)", "/ws/proj/gen", []string{"a", "go"}, []string{"a.go"}},
		"not in another":   {"deny Read(./gen/*.go)", "/ws/proj/other", []string{"a", "a.go"}, nil},
		"in the middle":    {"deny Read(./a/**/b/*.go)", "/ws/proj/a/x/b", []string{"a"}, []string{"a.go"}},
		"its end":          {"deny Read(./a/**/b)", "/ws/proj/a/x", []string{"a"}, []string{"b"}},
		"a directory":      {"deny Read(//ws/proj/secrets)", "/ws/proj", []string{"a"}, []string{"secrets"}},
		"the root":         {"deny Read(//secrets)", "/", []string{"a"}, []string{"secrets", "dev"}},
		"denied":           {"deny Read(secrets/**)", "/ws/proj/secrets", nil, nil},
		"below what is":    {"deny Read(./secrets)", "/ws/proj/secrets/x", nil, []string{"a"}},
		"only for writing": {"deny Edit(*.lock)", "/ws/proj", []string{"a.lock"}, nil},
		"another's home":   {"", "/home/v", []string{"a"}, []string{".ssh", ".netrc"}},
		"credentials":      {"", "/home/v/.ssh", nil, []string{"a"}},
		"near them":        {"", "/etc/ssh", nil, []string{"a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := compile(t, setupFor(t, tt.rules))
			d := p.Directory(tt.dir, tt.dir)
			linked := p.Directory("/ws/lib/link", tt.dir)
			for _, child := range tt.plain {
				if !d.Plain(child) || !linked.Plain(child) {
					t.Errorf("%q in %s is not plain", child, tt.dir)
				}
			}
			for _, child := range tt.others {
				if d.Plain(child) || linked.Plain(child) {
					t.Errorf("%q in %s is plain", child, tt.dir)
				}
			}
		})
	}
}

func BenchmarkPlain(b *testing.B) {
	p := compile(b, setupFor(b, "deny Read(.env) ; deny Read(*.pem) ; deny Read(secrets/**) ; deny Read(./gen/*.go) ; ask Read(//srv)"))
	b.Run("prepared", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Directory("/ws/proj/internal/server", "/ws/proj/internal/server")
		}
	})
	b.Run("asked", func(b *testing.B) {
		b.ReportAllocs()
		d := p.Directory("/ws/proj/internal/server", "/ws/proj/internal/server")
		for b.Loop() {
			d.Plain("handler_test.go")
		}
	})
}
