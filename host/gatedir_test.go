package host_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// walkingCapability goes through directories as a search does, and asks about the same
// names in both ways.
type walkingCapability struct {
	dirs, names []string

	judgeDir capability.JudgeDir
	// passed and plain are the paths that were allowed, and those of them that needed
	// no judgement of their own.
	passed, plain []string
	wrong         []string // said to be plain, and not allowed
}

func (c *walkingCapability) Names() []string { return []string{"test.echo"} }

func (c *walkingCapability) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return walkingPlan{c}, nil
}

type walkingPlan struct{ *walkingCapability }

func (p walkingPlan) Through(judge capability.JudgeDir) { p.judgeDir = judge }
func (p walkingPlan) Close() error                      { return nil }

func (p walkingPlan) Accesses() []permissions.Access {
	return []permissions.Access{{Kind: permissions.AccessRead, Target: p.dirs[0], Real: p.dirs[0], Tree: true}}
}

func (p walkingPlan) Do(_ context.Context, judge capability.Judge) (abi.Answer, error) {
	for _, dir := range p.dirs {
		tree := permissions.Access{Kind: permissions.AccessRead, Target: dir, Real: dir, Tree: true}
		ok, plain := p.judgeDir(tree)
		if ok != judge(tree) {
			p.wrong = append(p.wrong, dir)
		}
		for _, name := range p.names {
			file := filepath.Join(dir, name)
			allowed, known := judge(path(permissions.AccessRead, file)), plain != nil && plain(name)
			if known && !allowed {
				p.wrong = append(p.wrong, file)
			}
			if known {
				p.plain = append(p.plain, file)
			}
			if allowed {
				p.passed = append(p.passed, file)
			}
		}
	}
	return abi.Answer{OK: struct{}{}, Body: abi.Bytes([]byte("done")), BodyType: abi.PartText, Size: 4}, nil
}

// A search needs no judgement of its own for a file that the rules allow with its
// directory, and only for such a one.
func TestFilesAllowedWithTheirDirectory(t *testing.T) {
	cwd, outside := t.TempDir(), t.TempDir()
	in := func(names ...string) []string {
		for i, name := range names {
			names[i] = filepath.Join(cwd, name)
		}
		return names
	}
	tests := map[string]struct {
		rules  permissions.RuleSet
		scope  string
		dirs   []string
		plain  []string
		passed []string
	}{
		"the working directory": {dirs: []string{cwd}, plain: in("a.go", "key.pem"), passed: in("a.go", "key.pem")},
		"a deny rule": {
			rules: permissions.RuleSet{Deny: permissions.RuleTexts("Read(*.pem)")}, dirs: []string{cwd},
			plain: in("a.go"), passed: in("a.go"),
		},
		"an ask rule": {
			rules: permissions.RuleSet{Ask: permissions.RuleTexts("Read(./x/*.pem)")}, dirs: in("", "x"),
			plain: in("a.go", "key.pem", "x/a.go"), passed: in("a.go", "key.pem", "x/a.go"),
		},
		"a denied directory": {
			rules: permissions.RuleSet{Deny: permissions.RuleTexts("Read(x/**)")}, dirs: in("", "x"),
			plain: in("a.go", "key.pem"), passed: in("a.go", "key.pem"),
		},
		"a scope": {scope: "scope = [\"*.go\"]\n", dirs: []string{cwd}, passed: in("a.go")},
		"what a person allowed": {
			dirs: []string{outside}, passed: []string{filepath.Join(outside, "a.go"), filepath.Join(outside, "key.pem")},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			native := &walkingCapability{dirs: tt.dirs, names: []string{"a.go", "key.pem"}}
			s := session(t, open(t, host.Options{
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability+tt.scope)},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{native},
				Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{tt.rules}},
			}), host.SessionOptions{Cwd: cwd, Asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}}})
			r, _ := one(t, s, "Fixture", `{}`)
			if r.Text() != "done" || len(native.wrong) > 0 {
				t.Fatalf("%s; wrong about %s", r.Text(), strings.Join(native.wrong, ", "))
			}
			if !slices.Equal(native.plain, tt.plain) || !slices.Equal(native.passed, tt.passed) {
				t.Errorf("plain: %v, want %v\npassed: %v, want %v", native.plain, tt.plain, native.passed, tt.passed)
			}
		})
	}
}

// tightening is a search in whose midst a rule comes.
type tightening struct {
	walkingCapability
	dir     string
	tighten func()
	late    bool // a file was allowed that the rule denies
}

func (c *tightening) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return tighteningPlan{c}, nil
}

type tighteningPlan struct{ *tightening }

func (p tighteningPlan) Through(judge capability.JudgeDir) { p.judgeDir = judge }
func (p tighteningPlan) Close() error                      { return nil }

func (p tighteningPlan) tree() permissions.Access {
	return permissions.Access{Kind: permissions.AccessRead, Target: p.dir, Real: p.dir, Tree: true}
}

func (p tighteningPlan) Accesses() []permissions.Access { return []permissions.Access{p.tree()} }

func (p tighteningPlan) Do(_ context.Context, judge capability.Judge) (abi.Answer, error) {
	_, plain := p.judgeDir(p.tree())
	if !plain("key.pem") {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "key.pem is not plain")
	}
	p.tighten()
	p.late = plain("key.pem") || judge(path(permissions.AccessRead, filepath.Join(p.dir, "key.pem")))
	return abi.Answer{OK: struct{}{}}, nil
}

// TestRuleInMidWalk holds a search to a rule that came after its directory was judged.
func TestRuleInMidWalk(t *testing.T) {
	t.Parallel()
	native := &tightening{dir: t.TempDir()}
	h := open(t, host.Options{
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{native},
	})
	native.tighten = func() {
		if err := h.Apply(host.Settings{Rules: rules("Read(*.pem)", "", "")}); err != nil {
			t.Error(err)
		}
	}
	s := session(t, h, host.SessionOptions{Cwd: native.dir})
	if r, _ := one(t, s, "Fixture", `{}`); strings.Contains(r.Text(), "not plain") || native.late {
		t.Errorf("%s; a denied file passes: %v", r.Text(), native.late)
	}
}
