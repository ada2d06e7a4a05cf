package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/permissions"
)

// TestChainAllowOnce shows a person all that a command touches, and asks again for
// what they were not shown.
func TestChainAllowOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		touches string // by a capability call of the running command
		asked   int32
	}{
		"what was shown": {"/opt/shown", 1},
		"something else": {"/opt/other", 2},
	} {
		t.Run(name, func(t *testing.T) {
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, test.touches)}}
			tool := (&ran{}).shell(nil)
			tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
				return text("ran"), err
			}
			person := yes()
			h := open(t, host.Options{Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}})
			s := session(t, h, host.SessionOptions{Asker: person})
			result, _ := one(t, s, "Bash", `{"command":"cat /opt/shown"}`)
			if person.asked.Load() != test.asked || native.done != 1 {
				t.Errorf("asked %d times, done %d: %s", person.asked.Load(), native.done, result.Text())
			}
			one(t, s, "Bash", `{"command":"cat /opt/shown"}`)
			if person.asked.Load() != 2*test.asked {
				t.Error("once was more than once")
			}
		})
	}
}

// TestChainShown checks what is shown, and that changing it changes nothing.
func TestChainShown(t *testing.T) {
	t.Parallel()
	var r ran
	dir := files(t, map[string]string{"a.txt": ""})
	var first host.Approval
	person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
		first = q
		first.Accesses, first.Remember = slices.Clone(q.Accesses), slices.Clone(q.Remember)
		for i := range q.Accesses {
			q.Accesses[i].Target, q.Accesses[i].Real = "/etc/passwd", "/etc/passwd"
		}
		copy(q.Input, `{"path":"z"`)
		for i := range q.Remember {
			q.Remember[i].Rules[0] = "Bash"
		}
		return host.Reply{Answer: host.AnswerAllow, Remember: &q.Remember[0]}, nil
	})
	h := open(t, host.Options{Tools: r.chainTools()})
	s := session(t, h, host.SessionOptions{Cwd: dir, Asker: person})
	result, events := one(t, s, "Put", `{"path":"a.txt","text":"x"}`)
	want := []permissions.Access{{Kind: permissions.AccessWrite, Target: filepath.Join(dir, "a.txt"), Real: filepath.Join(dir, "a.txt")}}
	if !reflect.DeepEqual(first.Accesses, want) || first.Mode != permissions.ModeDefault || first.Session != s.ID() || first.Binding == "" {
		t.Errorf("shown: %+v", first)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); result.IsError || string(b) != "x" {
		t.Errorf("wrote %q: %s", b, result.Text())
	}
	if logs := of(events, host.EventLog); len(logs) != 1 || !strings.Contains(logs[0].Log.Message, "not offered") {
		t.Errorf("a rule that was not offered: %v", logs)
	}
	for _, rule := range s.Policy().Rules() {
		t.Errorf("there is a rule by now: %s", rule)
	}
}

// TestChainRemember takes each offer.
func TestChainRemember(t *testing.T) {
	t.Parallel()
	places := map[host.RuleTarget]string{
		host.TargetProjectLocal: "/p/local.toml", host.TargetProject: "/p/project.toml", host.TargetUser: "/home/u/settings.toml",
	}
	scopes := []host.RuleTarget{host.TargetSession, host.TargetProjectLocal, host.TargetProject, host.TargetUser, host.TargetEdits}
	for i, scope := range scopes {
		t.Run(string(scope), func(t *testing.T) {
			var r ran
			var kept []host.RememberOption
			var offered []host.RuleTarget
			person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
				for _, o := range q.Remember {
					offered = append(offered, o.Target)
				}
				return host.Reply{Answer: host.AnswerAllow, Remember: &q.Remember[i]}, nil
			})
			h := open(t, host.Options{
				Tools: r.chainTools(), Permissions: host.PermissionOptions{
					RuleTargets: places,
					Remember:    func(o host.RememberOption) error { kept = append(kept, o); return nil },
				},
			})
			s := session(t, h, host.SessionOptions{Asker: person})
			// The rule counts for the calls of the same turn, which wait for this one.
			results, events := turnOf(t, s, use("c1", "Put", `{"path":"a"}`), use("c2", "Put", `{"path":"a"}`))
			if results[0].IsError || results[1].IsError || len(of(events, host.EventQuestion)) != 1 {
				t.Errorf("asked %d times: %q, %q", len(of(events, host.EventQuestion)), results[0].Text(), results[1].Text())
			}
			if !slices.Equal(offered, scopes) {
				t.Errorf("offered %v", offered)
			}
			want := []host.RememberOption{{Target: scope, Rules: []string{"Edit(/" + filepath.Join(s.Cwd(), "a") + ")"}, File: places[scope]}}
			ofSession := scope == host.TargetSession || scope == host.TargetEdits
			if ofSession {
				want = nil
			}
			if !reflect.DeepEqual(kept, want) {
				t.Errorf("kept %v, want %v", kept, want)
			}
			// A rule in a file counts as long as the file has it, one for the session
			// as long as that.
			must(t, h.Apply(host.Settings{}))
			if got := len(s.Policy().Rules()); got != map[bool]int{true: 1}[ofSession] {
				t.Errorf("with settings that do not have it, there are %d rules", got)
			}
		})
	}
}

// TestChainRememberFails keeps no rule where that cannot be done, or it was not
// offered, and allows the call that once.
func TestChainRememberFails(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *host.RememberOption){
		"the disk is full":   func(*host.RememberOption) {},
		"another rule":       func(o *host.RememberOption) { o.Rules = []string{"Bash"} },
		"one rule more":      func(o *host.RememberOption) { o.Rules = append(slices.Clone(o.Rules), "Bash") },
		"another file":       func(o *host.RememberOption) { o.File = "/etc/toolquay/settings.toml" },
		"another scope":      func(o *host.RememberOption) { o.Target = host.TargetUser },
		"no file for a rule": func(o *host.RememberOption) { o.File = "" },
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
				o := q.Remember[1]
				change(&o)
				return host.Reply{Answer: host.AnswerAllow, Remember: &o}, nil
			})
			h := open(t, host.Options{
				Tools: r.chainTools(), Permissions: host.PermissionOptions{
					RuleTargets: map[host.RuleTarget]string{host.TargetProject: "/p/settings.toml"},
					Remember:    func(host.RememberOption) error { return errDisk },
				},
			})
			s := session(t, h, host.SessionOptions{Asker: person})
			result, events := one(t, s, "Put", `{"path":"a"}`)
			if result.IsError || len(s.Policy().Rules()) != 0 {
				t.Errorf("rules %v: %s", s.Policy().Rules(), result.Text())
			}
			if logs := of(events, host.EventLog); len(logs) != 1 || !strings.Contains(logs[0].Log.Message, "this once only") {
				t.Errorf("said: %v", logs)
			}
		})
	}
}

// TestChainRememberQueued answers one of two open questions for good: the other is
// withdrawn.
func TestChainRememberQueued(t *testing.T) {
	t.Parallel()
	var r ran
	first, withdrawn := make(chan struct{}), make(chan struct{})
	person := asking(func(ctx context.Context, q host.Approval) (host.Reply, error) {
		if q.CallID == "c2" {
			close(first)
			<-ctx.Done()
			close(withdrawn)
			return host.Reply{Answer: host.AnswerDeny}, nil // too late
		}
		<-first
		return host.Reply{Answer: host.AnswerAllow, Remember: &q.Remember[0]}, nil
	})
	elsewhere := files(t, map[string]string{"b.txt": "beta"})
	s := session(t, open(t, host.Options{Tools: r.chainTools()}), host.SessionOptions{Asker: person})
	input := fmt.Sprintf(`{"path":%q}`, filepath.Join(elsewhere, "b.txt"))
	results, _ := turnOf(t, s, use("c1", "Get", input), use("c2", "Get", input))
	<-withdrawn
	if results[0].Text() != "beta" || results[1].Text() != "beta" {
		t.Errorf("%q and %q", results[0].Text(), results[1].Text())
	}
}

// TestChainOffers offers nothing that would be void.
func TestChainOffers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool, input string
		ask         string
		only        bool
		want        string // the rules
	}{
		"a file":           {tool: "Put", input: `{"path":"a"}`, want: "Edit(/CWD/a) Edit(/CWD/**)"},
		"a file elsewhere": {tool: "Put", input: `{"path":"/opt/a"}`, want: "Edit(//opt/a)"},
		"a new directory":  {tool: "Bash", input: `{"command":"mkdir b"}`, want: "Edit(/CWD/b) Edit(/CWD/**)"},
		"more than edits":  {tool: "Bash", input: `{"command":"mkdir b && make b"}`, want: "Edit(/CWD/b) Bash(make b:*)"},
		"a command":        {tool: "Bash", input: `{"command":"go test ./..."}`, want: "Bash(go test:*)"},
		"an ask rule":      {tool: "Put", input: `{"path":"a"}`, ask: "Edit(a)"},
		"a protected file": {tool: "Put", input: `{"path":".git/config"}`},
		"no sandbox":       {tool: "Bash", input: `{"command":"go test","dangerouslyDisableSandbox":true}`},
		"not judged":       {tool: "Bash", input: `{"command":"go 'test"}`},
		"policy's only":    {tool: "Put", input: `{"path":"a"}`, only: true},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			person := no()
			h := open(t, host.Options{Tools: []host.NativeTool{r.put(), r.shell(notRun)}, Permissions: host.PermissionOptions{Rules: rules("", test.ask, ""), OnlyPolicyRules: test.only}})
			s := session(t, h, host.SessionOptions{Asker: person})
			one(t, s, test.tool, test.input)
			var got []string
			for _, o := range person.last.Load().Remember {
				got = append(got, o.Rules...)
			}
			want := strings.ReplaceAll(test.want, "CWD", strings.TrimPrefix(s.Cwd(), "/"))
			if strings.ReplaceAll(strings.Join(got, " "), "//", "/") != strings.ReplaceAll(want, "//", "/") {
				t.Errorf("offered %q, want %q", got, want)
			}
		})
	}
}

// TestChainEveryEdit takes the offer of all edits: what is inside the working directories
// is edited unasked from then on, and what is not, or is protected, asks.
func TestChainEveryEdit(t *testing.T) {
	t.Parallel()
	var r ran
	asked := 0
	person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
		asked++
		i := slices.IndexFunc(q.Remember, func(o host.RememberOption) bool { return o.Target == host.TargetEdits })
		if i < 0 {
			return host.Reply{Answer: host.AnswerDeny}, nil
		}
		return host.Reply{Answer: host.AnswerAllow, Remember: &q.Remember[i]}, nil
	})
	dir := files(t, map[string]string{"sub/b": ""})
	must(t, os.Symlink("/opt", filepath.Join(dir, "out")))
	h := open(t, host.Options{Tools: []host.NativeTool{r.put(), r.shell(notRun)}})
	s := session(t, h, host.SessionOptions{Cwd: dir, Asker: person})
	for i, step := range []struct {
		tool, input string
		asked       int
		mode        permissions.Mode
		want        abi.Code
	}{
		{"Put", `{"path":"a"}`, 1, "", ""},
		{"Put", `{"path":"sub/b"}`, 1, "", ""},
		{"Put", `{"path":"/opt/a"}`, 2, "", abi.CodeDenied},
		{"Put", `{"path":"out/a"}`, 3, "", abi.CodeDenied},
		{"Put", `{"path":".git/config"}`, 4, "", abi.CodeDenied},
		{"Bash", `{"command":"make a"}`, 5, "", abi.CodeDenied},
		{"Bash", `{"command":"rm -rf ."}`, 6, "", abi.CodeDenied},
		{"Put", `{"path":"a"}`, 6, permissions.ModePlan, abi.CodeDenied},
		{"Put", `{"path":"a"}`, 6, permissions.ModeDefault, ""},
	} {
		if step.mode != "" {
			must(t, s.SetMode(step.mode))
		}
		result, _ := one(t, s, step.tool, step.input)
		if result.IsError != (step.want != "") || asked != step.asked {
			t.Errorf("step %d: asked %d times, want %d: %s", i, asked, step.asked, result.Text())
		}
	}
}

// TestChainDenyEndsTurn cancels what has not begun, and withdraws what is asked of
// it, but lets what runs come to its end.
func TestChainDenyEndsTurn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		message string
		ends    bool
	}{
		"a person's plain no":      {"", true},
		"a no with words":          {"use b.txt", false},
		"a program's plain no":     {"", false},
		"one with words that ends": {"stop here", true},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			open2 := make(chan struct{})
			person := asking(func(ctx context.Context, q host.Approval) (host.Reply, error) {
				if q.CallID == "c2" {
					close(open2)
					if test.ends {
						<-ctx.Done()
					}
					return host.Reply{Answer: host.AnswerAllow}, nil
				}
				<-open2
				if !q.DenyEndsTurn {
					t.Error("the question does not say what a plain no means")
				}
				return host.Reply{Answer: host.AnswerDeny, Message: test.message, EndTurn: test.ends}, nil
			})
			elsewhere := files(t, map[string]string{"b.txt": "beta"})
			input := fmt.Sprintf(`{"path":%q}`, filepath.Join(elsewhere, "b.txt"))
			h := open(t, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{DenyEndsTurn: true}})
			s := session(t, h, host.SessionOptions{Mode: permissions.ModeAcceptEdits, Asker: person})
			results, events := turnOf(t, s, use("c0", "Put", `{"path":"x"}`), use("c1", "Get", input), use("c2", "Get", input), use("c3", "Put", `{"path":"y"}`))
			wantError(t, results[1], abi.CodeDenied, test.message)
			if results[0].IsError || len(of(events, host.EventStop)) != map[bool]int{true: 1}[test.ends] {
				t.Errorf("stops %v; before it: %s", of(events, host.EventStop), results[0].Text())
			}
			if !test.ends {
				if results[2].IsError || results[3].IsError {
					t.Errorf("%q, %q", results[2].Text(), results[3].Text())
				}
				return
			}
			wantError(t, results[2], abi.CodeCancelled, "not begun")
			wantError(t, results[3], abi.CodeCancelled, "not begun")
			if result, _ := one(t, s, "Put", `{"path":"y"}`); result.IsError {
				t.Errorf("the next turn is ended too: %s", result.Text())
			}
		})
	}
}

// TestChainReplyInput has the person write the input.
func TestChainReplyInput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		input string
		hook  *hooks.Output
		want  abi.Code
		wrote string
		asked int
	}{
		"another file":       {input: `{"path":"b"}`, wrote: "b", asked: 1},
		"the same, spaced":   {input: ` { "path" : "a" } `, wrote: "a", asked: 1},
		"nonsense":           {input: `{"path":1}`, want: abi.CodeInvalidInput, asked: 1},
		"no JSON":            {input: `{"path":`, want: abi.CodeInvalidInput, asked: 1},
		"denied by a rule":   {input: `{"path":"no"}`, want: abi.CodeDenied, asked: 1},
		"denied by a link":   {input: `{"path":"link"}`, want: abi.CodeDenied, asked: 1},
		"denied by a hook":   {input: `{"path":"b"}`, hook: &hooks.Output{Verdict: permissions.Deny}, want: abi.CodeDenied, asked: 1},
		"rewritten by hooks": {input: `{"path":"b"}`, hook: &hooks.Output{UpdatedInput: json.RawMessage(`{"path":"c"}`)}, want: abi.CodeDenied, asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			asked := 0
			person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
				if asked++; asked > 1 {
					return host.Reply{Answer: host.AnswerDeny}, nil
				}
				return host.Reply{Answer: host.AnswerAllow, Input: json.RawMessage(test.input)}, nil
			})
			list := &logged{}
			h := open(t, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{
				Rules: rules("Edit(no)", "", ""),
				Hooks: hookSet(t, hooks.Hook{
					Event: hooks.PreToolUse, Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
						if test.hook != nil && strings.Contains(string(in.ToolInput), `"b"`) {
							return *test.hook, nil
						}
						return hooks.Output{}, nil
					},
				}),
			}, Observe: host.ObserveOptions{Decisions: list}})
			dir := files(t, map[string]string{"no": "kept"})
			must(t, os.Symlink("no", filepath.Join(dir, "link")))
			s := session(t, h, host.SessionOptions{Cwd: dir, Asker: person})
			result, _ := one(t, s, "Put", `{"path":"a"}`)
			if test.want != "" {
				wantError(t, result, test.want)
			}
			if asked != test.asked || r.count() != map[bool]int{true: 1}[test.wrote != ""] || test.wrote != "" && !exists(filepath.Join(dir, test.wrote)) {
				t.Errorf("asked %d times; ran with %v: %s", asked, r.inputs, result.Text())
			}
			if all := list.all(); test.wrote != "" && !strings.HasSuffix(all[len(all)-1], "person") {
				t.Errorf("the log says %v", all)
			}
		})
	}
}

// TestChainAskers are askers that do not do what they should.
func TestChainAskers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask  asking
		want abi.Code
		says string
	}{
		"panics":        {func(context.Context, host.Approval) (host.Reply, error) { panic("torn") }, abi.CodeDenied, "torn"},
		"exits":         {func(context.Context, host.Approval) (host.Reply, error) { runtime.Goexit(); return host.Reply{}, nil }, abi.CodeDenied, "could not be asked"},
		"fails":         {func(context.Context, host.Approval) (host.Reply, error) { return host.Reply{Answer: "allow"}, errDisk }, abi.CodeDenied, "no space"},
		"says nonsense": {func(context.Context, host.Approval) (host.Reply, error) { return host.Reply{Answer: "ALLOW"}, nil }, abi.CodeDenied, "denied"},
		"says later":    {func(context.Context, host.Approval) (host.Reply, error) { return host.Reply{Answer: "later"}, nil }, abi.CodeNeedsApproval, "approval "},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			s := session(t, open(t, host.Options{Tools: r.chainTools()}), host.SessionOptions{Asker: test.ask})
			result, _ := one(t, s, "Put", `{"path":"a"}`)
			wantError(t, result, test.want, test.says)
			if r.count() != 0 {
				t.Error("it ran")
			}
		})
	}
}

// TestChainDeafAsker cancels a call whose asker does not listen.
func TestChainDeafAsker(t *testing.T) {
	t.Parallel()
	var r ran
	ctx, cancel := context.WithCancel(t.Context())
	let := make(chan struct{})
	deaf := asking(func(context.Context, host.Approval) (host.Reply, error) {
		cancel()
		<-let
		return host.Reply{Answer: host.AnswerAllow}, nil
	})
	s := session(t, open(t, host.Options{Tools: r.chainTools()}), host.SessionOptions{Asker: deaf})
	time.AfterFunc(10*time.Second, func() { close(let) })
	within(t, 5*time.Second, "the cancelled call", func() {
		wantError(t, s.Results(ctx, []abi.ToolUse{use("c1", "Put", `{"path":"a"}`)})[0], abi.CodeCancelled)
	})
}
