package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// asker answers every question the same way and counts them.
type asker struct {
	reply host.Reply
	err   error
	asked atomic.Int32
	last  atomic.Pointer[host.Approval]
}

func (*asker) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (a *asker) Ask(_ context.Context, question host.Question) (host.Reply, error) {
	q := *question.Approval
	a.asked.Add(1)
	a.last.Store(&q)
	return a.reply, a.err
}

// TestSecondGate drives one capability call of a real plugin through every
// stage of the gate.
func TestSecondGate(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "x")
	const outside = "/opt/elsewhere"
	declared := fixtureTool + fixtureCapability
	readOnly := fixtureTool + "read_only = true\n" + fixtureCapability
	tests := map[string]struct {
		manifest string
		granted  bool
		access   permissions.Access
		rules    permissions.RuleSet
		asker    *asker

		code abi.Code // empty: it is done
		says []string
	}{
		"done": {manifest: declared, granted: true, access: path(permissions.AccessRead, inside)},
		"undeclared": {
			manifest: fixtureTool, granted: true, access: path(permissions.AccessRead, inside),
			code: abi.CodeUndeclared, says: []string{"test.echo", "does not declare"},
		},
		"not granted": {
			manifest: declared, access: path(permissions.AccessRead, inside),
			code: abi.CodeNotGranted, says: []string{" plugins trust fixture"},
		},
		"not for any tool": {
			manifest: strings.Replace(declared, "[[capabilities]]", "capabilities = [\"fs.read\"]\n[[capabilities]]\nname = \"fs.read\"\n[[capabilities]]", 1),
			granted:  true, access: path(permissions.AccessRead, inside),
			code: abi.CodeUndeclared, says: []string{"test.echo", "declares for none of its tools: add it to capabilities of [[tools]] Fixture"},
		},
		"for another tool": {
			manifest: strings.Replace(declared, "[[capabilities]]", "capabilities = [\"fs.read\"]\n"+strings.Replace(fixtureTool, "Fixture", "Other", 1)+"[[capabilities]]\nname = \"fs.read\"\n[[capabilities]]", 1),
			granted:  true, access: path(permissions.AccessRead, inside),
			code: abi.CodeUndeclared, says: []string{"declares for Other, not for Fixture: add it to capabilities of [[tools]] Fixture"},
		},
		"out of scope": {
			manifest: declared + `scope = ["./docs/**"]`, granted: true, access: path(permissions.AccessRead, inside),
			code: abi.CodeUndeclared, says: []string{"outside the scope"},
		},
		"within scope": {manifest: declared + `scope = ["./x"]`, granted: true, access: path(permissions.AccessRead, inside)},
		"denied by a rule": {
			manifest: declared, granted: true, access: path(permissions.AccessRead, inside),
			rules: permissions.RuleSet{Deny: permissions.RuleTexts("Read(./x)")},
			code:  abi.CodeDenied, says: []string{"Read(./x)"},
		},
		"headless": {
			manifest: declared, granted: true, access: path(permissions.AccessRead, outside),
			code: abi.CodeNeedsApproval, says: []string{"Read(//opt/elsewhere)"},
		},
		"allowed by a rule": {
			manifest: declared, granted: true, access: path(permissions.AccessRead, outside),
			rules: permissions.RuleSet{Allow: permissions.RuleTexts("Read(//opt/elsewhere)")},
		},
		"allowed by the person": {
			manifest: declared, granted: true, access: path(permissions.AccessWrite, outside),
			asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}},
		},
		"denied by the person": {
			manifest: declared, granted: true, access: path(permissions.AccessWrite, outside),
			asker: &asker{reply: host.Reply{Answer: host.AnswerDeny, Message: "use the copy in docs"}},
			code:  abi.CodeDenied, says: []string{"use the copy in docs"},
		},
		"left for later": {
			manifest: declared, granted: true, access: path(permissions.AccessWrite, outside),
			asker: &asker{reply: host.Reply{Answer: host.AnswerLater}},
			code:  abi.CodeNeedsApproval, says: []string{"approval "},
		},
		"an asker that fails": {
			manifest: declared, granted: true, access: path(permissions.AccessWrite, outside),
			asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}, err: errors.New("the terminal is gone")},
			code:  abi.CodeDenied, says: []string{"the terminal is gone"},
		},
		"no answer at all": {
			manifest: declared, granted: true, access: path(permissions.AccessWrite, outside),
			asker: &asker{}, code: abi.CodeDenied,
		},
		"a deny stands above the person": {
			manifest: declared, granted: true, access: path(permissions.AccessWrite, inside),
			rules: permissions.RuleSet{Deny: permissions.RuleTexts("Edit(./x)")},
			asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}},
			code:  abi.CodeDenied, says: []string{"Edit(./x)"},
		},
		"not as read-only as it says": {
			manifest: readOnly, granted: true, access: path(permissions.AccessWrite, inside),
			asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}},
			code:  abi.CodeDenied, says: []string{"declares itself read-only", "fs.write"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			native := &testCapability{accesses: []permissions.Access{test.access}}
			o := host.Options{
				Plugins:      host.PluginOptions{Sources: []plugins.Source{plugin(t, "pass_through", test.manifest)}},
				Capabilities: []capability.Capability{native},
				Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{test.rules}},
			}
			if test.granted {
				o.Plugins.Granted = []string{"fixture"}
			}
			so := host.SessionOptions{Cwd: dir}
			if test.asker != nil {
				so.Asker = test.asker
			}
			s := session(t, open(t, o), so)
			r, _ := one(t, s, "Fixture", `{}`)
			if test.code == "" {
				if r.Text() != "done" || native.done != 1 {
					t.Errorf("got %q; done %d times", r.Text(), native.done)
				}
				return
			}
			wantError(t, r, test.code, test.says...)
			if native.done != 0 {
				t.Error("it was refused and done")
			}
		})
	}
}

// TestApprovalCoversWhatWasShown asks once for the call and not again for the
// same access of its capability call, but again for another one.
func TestApprovalCoversWhatWasShown(t *testing.T) {
	for name, test := range map[string]struct {
		touched string
		asked   int32
	}{
		"the same path":    {"/opt/shown", 1},
		"a different path": {"/opt/other", 2},
	} {
		t.Run(name, func(t *testing.T) {
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, test.touched)}}
			manifest := fixtureTool + "[[tools.fields]]\nname = \"p\"\nkind = \"path\"\neffect = \"read\"\n" + fixtureCapability
			manifest = strings.Replace(manifest, `{"type":"object"}`, `{"type":"object","properties":{"p":{"type":"string"}}}`, 1)
			yes := &asker{reply: host.Reply{Answer: host.AnswerAllow}}
			s := session(t, open(t, host.Options{
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, "pass_through", manifest)},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{native},
			}), host.SessionOptions{Asker: yes})
			r, _ := one(t, s, "Fixture", `{"p":"/opt/shown"}`)
			if r.Text() != "done" {
				t.Fatalf("got %q", r.Text())
			}
			if got := yes.asked.Load(); got != test.asked {
				t.Errorf("the person was asked %d times; want %d", got, test.asked)
			}
			q := yes.last.Load()
			if q.Tool != "Fixture" || q.Plugin != "fixture" || q.CallID != "c1" || len(q.Binding) != 64 || q.ID == "" ||
				string(q.Input) != `{"p":"/opt/shown"}` || len(q.Accesses) != 1 || q.Accesses[0].Target != test.touched {
				t.Errorf("the last question was %+v", q)
			}
		})
	}
}

// TestApprovedTree allows a search of a directory: what lies in it passes, a
// guarded place and a denied file in it do not, nor does what lies elsewhere.
func TestApprovedTree(t *testing.T) {
	tree := permissions.Access{Kind: permissions.AccessRead, Target: "/opt/t", Real: "/opt/t", Tree: true}
	ok := path(permissions.AccessRead, "/opt/t/a/b")
	native := &testCapability{accesses: []permissions.Access{tree}, found: []permissions.Access{
		ok,
		path(permissions.AccessRead, "/opt/t/.ssh/id_rsa"),
		path(permissions.AccessRead, "/opt/t/.env"),
		path(permissions.AccessRead, "/opt/tt"),
		path(permissions.AccessWrite, "/opt/t/a/b"),
		{Kind: permissions.AccessRead, Target: "/opt/t/link", Real: "/opt/secret"},
	}}
	s := session(t, open(t, host.Options{
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{native},
		Paths:        host.PathOptions{Home: "/opt/t"},
		Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Read(.env)")}}},
	}), host.SessionOptions{Asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}}})
	r, _ := one(t, s, "Fixture", `{}`)
	if r.Text() != "done" {
		t.Fatalf("got %q", r.Text())
	}
	if len(native.passed) != 1 || native.passed[0] != ok {
		t.Errorf("passed: %v", native.passed)
	}
}

// TestUntrueToolIsDemoted catches a read-only claim out; from then on the tool
// runs alone.
func TestUntrueToolIsDemoted(t *testing.T) {
	dir := t.TempDir()
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessWrite, filepath.Join(dir, "x"))}}
	s := session(t, open(t, host.Options{
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+"read_only = true\nconcurrency_safe = true\n"+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{native},
	}), host.SessionOptions{Cwd: dir, Asker: &asker{reply: host.Reply{Answer: host.AnswerAllow}}})
	r, events := one(t, s, "Fixture", `{}`)
	wantError(t, r, abi.CodeDenied, "read-only")
	warned := false
	for _, e := range events {
		warned = warned || e.Kind == host.EventLog && strings.Contains(e.Log.Message, "treated as not read-only")
	}
	if !warned {
		t.Error("nobody was told")
	}
	// Not believed any more, its write is now the person's to allow.
	r, _ = one(t, s, "Fixture", `{}`)
	if r.Text() != "done" {
		t.Errorf("got %q", r.Text())
	}
}

// TestNativeToolOfUnknownEffectAsks has an embedder's tool that says nothing of
// what it does.
func TestNativeToolOfUnknownEffectAsks(t *testing.T) {
	h := open(t, host.Options{Tools: []host.NativeTool{echo("Act", func(c *abi.Tool) { c.ReadOnly = abi.TraitFalse })}})
	r, _ := one(t, session(t, h, host.SessionOptions{}), "Act", `{}`)
	wantError(t, r, abi.CodeNeedsApproval, "needs the allow rule Act")

	s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass})
	if r, _ := one(t, s, "Act", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("got %q", r.Text())
	}
}

// TestNativeToolUsesTheGate makes a capability call from Go.
func TestNativeToolUsesTheGate(t *testing.T) {
	root := files(t, map[string]string{"a": "hello", "b": "secret"})
	reader := host.NativeTool{
		Contract: abi.Tool{Name: "Cat", Summary: "Reads", InputSchema: anything, ReadOnly: abi.TraitTrue},
		Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			answer, err := c.Do(ctx, abi.Request{Name: abi.CapFSRead, Args: c.Input})
			if err != nil {
				return abi.ToolResult{}, err
			}
			defer answer.Close()
			buf := make([]byte, 100)
			n, _ := answer.Body.Read(buf)
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock(string(buf[:n]))}}, nil
		},
	}
	s := session(t, open(t, host.Options{
		Tools:       []host.NativeTool{reader},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Read(./b)")}}},
	}), host.SessionOptions{Cwd: root})
	if r, _ := one(t, s, "Cat", `{"path":"a"}`); r.Text() != "hello" {
		t.Errorf("got %q", r.Text())
	}
	r, _ := one(t, s, "Cat", `{"path":"b"}`)
	wantError(t, r, abi.CodeDenied, "Read(./b)")
}

// TestAssessments asks a tool for traits, validity and its own verdict.
func TestAssessments(t *testing.T) {
	root := files(t, map[string]string{"there": "x"})
	var facts []abi.Fact
	tool := echo("Judge", func(c *abi.Tool) {
		c.InputSchema = `{"type":"object","properties":{"p":{"type":"string"},"check":{"type":"string"},"bad":{"type":"boolean"}}}`
		c.ReadOnly, c.ConcurrencySafe, c.Validates, c.Checks = abi.TraitInput, abi.TraitInput, true, true
		c.Fields = []abi.Field{{Name: "p", Kind: abi.FieldPath, Effect: "read"}}
	})
	tool.Assess = func(_ context.Context, input json.RawMessage, f []abi.Fact) (abi.Assessment, error) {
		if f != nil {
			facts = f
		}
		var in struct {
			Check string
			Bad   bool
		}
		if err := json.Unmarshal(input, &in); err != nil {
			return abi.Assessment{}, err
		}
		a := abi.Assessment{ReadOnly: new(true)}
		if in.Bad {
			a.Invalid = &abi.Invalid{Message: "that will not do", Code: 3}
		}
		if in.Check != "" {
			a.Check = &abi.Check{Verdict: in.Check}
		}
		return a, nil
	}
	h := open(t, host.Options{Tools: []host.NativeTool{tool}, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Read(./secret)")}}}})
	s := session(t, h, host.SessionOptions{Cwd: root})
	t.Run("facts", func(t *testing.T) {
		one(t, s, "Judge", `{"p":"there"}`)
		if len(facts) != 1 || !facts[0].Exists || facts[0].Kind != abi.KindFile || facts[0].Size != 1 {
			t.Errorf("facts %+v", facts)
		}
	})
	t.Run("invalid", func(t *testing.T) {
		r, _ := one(t, s, "Judge", `{"bad":true}`)
		wantError(t, r, abi.CodeInvalidInput, "that will not do")
	})
	t.Run("denied by its own check", func(t *testing.T) {
		r, _ := one(t, s, "Judge", `{"check":"deny"}`)
		wantError(t, r, abi.CodeDenied)
	})
	t.Run("asked for by its own check", func(t *testing.T) {
		r, _ := one(t, s, "Judge", `{"check":"ask"}`)
		wantError(t, r, abi.CodeNeedsApproval)
	})
	t.Run("nothing is learnt of a denied path", func(t *testing.T) {
		facts = nil
		r, _ := one(t, s, "Judge", `{"p":"secret"}`)
		wantError(t, r, abi.CodeDenied, "Read(./secret)")
		if facts != nil {
			t.Errorf("facts %+v", facts)
		}
	})
}
