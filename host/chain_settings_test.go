package host_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/grants"
	"github.com/toolquay/toolquay/plugins"
)

// TestChainApply puts rules into force, and leaves all as it was where they are
// broken.
func TestChainApply(t *testing.T) {
	t.Parallel()
	var r ran
	h := open(t, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{Rules: rules("Edit(a)", "", ""), Hooks: hookSet(t, says(hooks.Output{Context: "first hooks"}))}})
	sessions := []*host.Session{session(t, h, host.SessionOptions{}), session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits})}
	broken := host.Settings{Rules: append(rules("", "", "Edit(a)"), rules("Edit(", "", "")...), ForbiddenModes: []permissions.Mode{permissions.ModeAcceptEdits}}
	if err := h.Apply(broken); err == nil || !strings.Contains(err.Error(), "Edit(") {
		t.Fatalf("a broken rule: %v", err)
	}
	sessions = append(sessions, session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits}))
	for i, s := range sessions {
		result, _ := one(t, s, "Put", `{"path":"a"}`)
		wantError(t, result, abi.CodeDenied, "Edit(a)")
		get, _ := one(t, s, "Get", `{"path":"a"}`)
		if !strings.Contains(get.Text(), "first hooks") || i > 0 && s.Mode() != permissions.ModeAcceptEdits {
			t.Errorf("session %d in %s: %s", i, s.Mode(), get.Text())
		}
	}
	must(t, h.Apply(host.Settings{Rules: rules("Edit(b)", "", "")}))
	for _, s := range append(sessions[1:], session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits})) {
		result, _ := one(t, s, "Put", `{"path":"b"}`)
		wantError(t, result, abi.CodeDenied, "Edit(b)")
		if result, _ := one(t, s, "Put", `{"path":"a"}`); result.IsError || strings.Contains(result.Text(), "first hooks") {
			t.Error(result.Text())
		}
	}
	must(t, h.Close(context.Background()))
	if err := h.Apply(host.Settings{}); err == nil {
		t.Error("a closed host took settings")
	}
}

// TestChainSessionRules gives a session a rule, which survives settings and other
// plugins, and is no other session's.
func TestChainSessionRules(t *testing.T) {
	t.Parallel()
	var r ran
	person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
		return host.Reply{Answer: host.AnswerAllow, Remember: &q.Remember[0]}, nil
	})
	source := plugin(t, "ok", fixtureTool)
	tree, _ := source.FS.(fstest.MapFS)
	h := open(t, host.Options{Tools: r.chainTools(), Plugins: host.PluginOptions{Sources: []plugins.Source{source}}})
	dir := t.TempDir()
	s, other := session(t, h, host.SessionOptions{Cwd: dir, Asker: person}), session(t, h, host.SessionOptions{Cwd: dir})
	one(t, s, "Put", `{"path":"a"}`)
	allowed := func(when string) {
		t.Helper()
		result, events := one(t, s, "Put", `{"path":"a"}`)
		if result.IsError || len(of(events, host.EventQuestion)) != 0 {
			t.Errorf("%s: asked %d times: %s", when, len(of(events, host.EventQuestion)), result.Text())
		}
	}
	allowed("at once")
	must(t, h.Apply(host.Settings{Rules: rules("Read(x)", "", "")}))
	allowed("with other settings")
	tree["more/plugin.toml"] = &fstest.MapFile{Data: bytes.ReplaceAll(tree["fixture/plugin.toml"].Data, []byte("ixture"), []byte("ore"))}
	tree["more/more.wasm"] = tree["fixture/fixture.wasm"]
	changes, err := h.Reload(t.Context())
	must(t, err)
	if changes.None() {
		t.Fatal("no plugin was found")
	}
	allowed("with more plugins")
	must(t, s.SetMode(permissions.ModeDontAsk))
	allowed("in another mode")
	result, _ := one(t, other, "Put", `{"path":"a"}`)
	wantError(t, result, abi.CodeNeedsApproval)
	must(t, h.Apply(host.Settings{Rules: rules("Edit(a)", "", "")}))
	result, _ = one(t, s, "Put", `{"path":"a"}`)
	wantError(t, result, abi.CodeDenied)
}

// TestChainGrants revokes a grant in another list on the same file: it counts no
// more from the next decision on, in a call that runs too.
func TestChainGrants(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state", "grants.json")
	list, err := grants.Open(file)
	must(t, err)
	elsewhere, err := grants.Open(file)
	must(t, err)
	grant, err := elsewhere.Add(grants.Grant{Rule: "Read(//opt/**)", Scope: grants.ScopeUser, Granted: time.Now()}, time.Now())
	must(t, err)
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, "/opt/x")}}
	tool := (&ran{}).fetch()
	tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		if _, err := c.Do(ctx, abi.Request{Name: "test.echo"}); err != nil {
			return abi.ToolResult{}, err
		}
		if err := elsewhere.Revoke(grant.ID); err != nil {
			return abi.ToolResult{}, err
		}
		_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
		return text("both"), err
	}
	entries := &logged{}
	h := open(t, host.Options{
		Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}, Permissions: host.PermissionOptions{Grants: list, Rules: rules("", "", "WebFetch(domain:example.com)")}, Observe: host.ObserveOptions{Decisions: entries},
	})
	s := session(t, h, host.SessionOptions{})
	result, _ := one(t, s, "WebFetch", `{"host":"example.com"}`)
	wantError(t, result, abi.CodeNeedsApproval)
	if native.done != 1 {
		t.Errorf("done %d times", native.done)
	}
	if want := "test.echo allow rule grant " + grant.ID; !slices.Contains(entries.all(), want) {
		t.Errorf("the log says %v, want %q", entries.all(), want)
	}
}

// TestChainGrantExpires lets a grant end, also for what is explained.
func TestChainGrantExpires(t *testing.T) {
	t.Parallel()
	list, err := grants.Open(filepath.Join(t.TempDir(), "state", "grants.json"))
	must(t, err)
	var r ran
	dir := files(t, map[string]string{"b.txt": "beta"})
	now := time.Now()
	_, err = list.Add(grants.Grant{Rule: "Read(/" + dir + "/**)", Scope: grants.ScopeUser, Granted: now, Expires: now.Add(1500 * time.Millisecond)}, now)
	must(t, err)
	h := open(t, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{Grants: list}})
	s := session(t, h, host.SessionOptions{})
	input := fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "b.txt"))
	if result, _ := one(t, s, "Get", input); result.IsError && time.Since(now) < time.Second {
		t.Error(result.Text())
	}
	time.Sleep(time.Until(now.Add(1600 * time.Millisecond)))
	x, err := s.Explain(t.Context(), use("c1", "Get", input))
	must(t, err)
	if x.Decision.Verdict != permissions.Deny {
		t.Errorf("explained by a grant that ended: %v", x.Decision.Verdict)
	}
	result, _ := one(t, s, "Get", input)
	wantError(t, result, abi.CodeNeedsApproval)
}

// TestChainLog logs every decision of both gates, with who made it.
func TestChainLog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules []permissions.RuleSet
		hook  permissions.Verdict
		reply *host.Reply
		want  []string
	}{
		"by a rule": {rules: rules("", "", "Put | Edit(//opt/x)"), want: []string{"allow rule", "test.echo allow rule"}},
		"by a hook": {hook: permissions.Allow, want: []string{"allow hook hook", "test.echo allow hook hook"}},
		"by a person": {reply: &host.Reply{Answer: host.AnswerAllow}, want: []string{
			"ask mode", "allow approval person", "test.echo ask mode", "test.echo allow approval person"}},
		"by a person who denies": {reply: &host.Reply{Answer: host.AnswerDeny}, want: []string{"ask mode", "deny approval person"}},
		"by nobody":              {want: []string{"deny mode"}},
		"at the second gate":     {rules: rules("Edit(//opt/x)", "", "Put"), want: []string{"allow rule", "test.echo deny rule"}},
	} {
		t.Run(name, func(t *testing.T) {
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessWrite, "/opt/x")}}
			tool := (&ran{}).put()
			tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
				return text("done"), err
			}
			list := &logged{}
			h := open(t, host.Options{
				Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}, Permissions: host.PermissionOptions{
					Rules: test.rules,
					Hooks: hookSet(t, says(hooks.Output{Verdict: test.hook})),
				}, Observe: host.ObserveOptions{Decisions: list},
			})
			o := host.SessionOptions{}
			if test.reply != nil {
				o.Asker = &asker{reply: *test.reply}
			}
			_, events := one(t, session(t, h, o), "Put", `{"path":"a"}`)
			if got := list.all(); !slices.Equal(got, test.want) {
				t.Errorf("the log says %q, want %q", got, test.want)
			}
			if n := len(of(events, host.EventDecided)); n != len(test.want) {
				t.Errorf("%d events tell of %d decisions", n, len(test.want))
			}
		})
	}
}

// TestChainLogFails fails to log: where that is required nothing is done.
func TestChainLogFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		required bool
		person   *asker
		after    string // the capability from which on the log fails
	}{
		"required":                         {required: true},
		"required, with a person":          {required: true, person: yes()},
		"not required":                     {},
		"required, from a capability call": {required: true, after: "test.echo"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, "/opt/x")}}
			tool := (&ran{}).put()
			write := tool.Run
			list := &logged{}
			if test.after == "" {
				list.err = errDisk
			}
			tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				list.mu.Lock()
				list.err = errDisk
				list.mu.Unlock()
				if _, err := c.Do(ctx, abi.Request{Name: "test.echo"}); err != nil {
					return abi.ToolResult{}, err
				}
				return write(ctx, c)
			}
			list2 := rules("", "", "Edit(a) | Read(//opt/x)")
			o := host.SessionOptions{}
			if test.person != nil {
				list2 = nil
				o.Asker = test.person
			}
			h := open(t, host.Options{
				Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}, Permissions: host.PermissionOptions{Rules: list2},
				Observe: host.ObserveOptions{Decisions: list, DecisionsRequired: test.required, Logger: textLogger(&said)},
			})
			s := session(t, h, o)
			result, _ := one(t, s, "Put", `{"path":"a"}`)
			if wrote := exists(filepath.Join(s.Cwd(), "a")); wrote == test.required || native.done > 0 == test.required {
				t.Errorf("written %v, done %d: %s", wrote, native.done, result.Text())
			}
			if test.required {
				wantError(t, result, abi.CodeIO, "could not be logged", "no space left")
			}
			if test.person != nil && test.person.asked.Load() != 0 {
				t.Error("a person was asked in vain")
			}
			if !strings.Contains(said.String(), "missing in the log") {
				t.Errorf("nobody is told: %q", said.String())
			}
		})
	}
}

// TestDecisionInputs: the decision about a call carries its input where the options say so.
func TestDecisionInputs(t *testing.T) {
	t.Parallel()
	for as, want := range map[audit.Inputs]string{
		audit.InputsHash: "", audit.InputsFull: `{"s":"x"}`, audit.InputsRedacted: `{"s":"[redacted: 1 bytes, sha256 2d711642b726b04401627ca9fbac32f5]"}`,
	} {
		list := &logged{}
		h := open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}, Observe: host.ObserveOptions{Decisions: list, DecisionInputs: as}})
		one(t, session(t, h, host.SessionOptions{}), "Echo", `{"s":"x"}`)
		if len(list.entries) != 1 || string(list.entries[0].Input) != want || list.entries[0].Inputs != as || list.entries[0].Binding == "" {
			t.Errorf("%v: %+v", as, list.entries)
		}
	}
}
