package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/permissions"
)

// TestChainSettingsWhileAsked changes the settings while a question is open.
func TestChainSettingsWhileAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules     []permissions.RuleSet
		mode      permissions.Mode
		withdrawn bool
		want      abi.Code
	}{
		"a deny":            {rules: rules("Edit(a)", "", ""), withdrawn: true, want: abi.CodeDenied},
		"an allow":          {rules: rules("", "", "Edit(a)"), withdrawn: true},
		"another mode":      {mode: permissions.ModeAcceptEdits, withdrawn: true},
		"plan":              {mode: permissions.ModePlan, withdrawn: true, want: abi.CodeDenied},
		"dontAsk":           {mode: permissions.ModeDontAsk, withdrawn: true, want: abi.CodeNeedsApproval},
		"an ask":            {rules: rules("", "Edit(a)", "")},
		"something else":    {rules: rules("Edit(b)", "", "Edit(c)")},
		"a mode like it":    {mode: permissions.ModeAuto, withdrawn: true}, // where the built-in judge allows it
		"nothing, by Apply": {},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			var h *host.Host
			var s *host.Session
			var withdrawn atomic.Bool
			person := asking(func(ctx context.Context, _ host.Approval) (host.Reply, error) {
				var err error
				if test.mode != "" {
					err = s.SetMode(test.mode)
				} else {
					err = h.Apply(host.Settings{Rules: test.rules})
				}
				if err != nil {
					t.Error(err)
				}
				if test.withdrawn {
					<-ctx.Done()
				} else {
					time.Sleep(20 * time.Millisecond)
				}
				withdrawn.Store(ctx.Err() != nil)
				return host.Reply{Answer: host.AnswerAllow}, nil
			})
			list := &logged{}
			h = open(t, host.Options{Tools: r.chainTools(), Observe: host.ObserveOptions{Decisions: list}})
			s = session(t, h, host.SessionOptions{Asker: person})
			result, _ := one(t, s, "Put", `{"path":"a"}`)
			if test.want != "" {
				wantError(t, result, test.want)
			}
			if r.count() == 1 != (test.want == "") {
				t.Errorf("ran %d times: %s", r.count(), result.Text())
			}
			all := list.all()
			if byPerson := strings.HasSuffix(all[len(all)-1], "person"); len(all) != 2 || byPerson == test.withdrawn {
				t.Errorf("the log says %v", all)
			}
			soon(t, "the asker ends as it should", func() bool { return withdrawn.Load() == test.withdrawn })
		})
	}
}

// TestChainAskedRaces cancels, answers and changes the rules at once, many times:
// each call has one result, and what was refused did not run.
func TestChainAskedRaces(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	did := map[string]int{}
	tool := (&ran{}).put()
	tool.Run = func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		did[c.ID]++
		return text("done"), nil
	}
	asked := make(chan struct{}, 100)
	person := asking(func(ctx context.Context, q host.Approval) (host.Reply, error) {
		asked <- struct{}{}
		reply := host.Reply{Answer: host.AnswerAllow}
		switch q.CallID[len(q.CallID)-1] {
		case '1':
			reply = host.Reply{Answer: host.AnswerDeny}
		case '2':
			reply.Remember = &q.Remember[0]
		case '3':
			<-ctx.Done()
			return host.Reply{}, ctx.Err()
		}
		return reply, nil
	})
	list := &logged{}
	h := open(t, host.Options{Tools: []host.NativeTool{tool}, Observe: host.ObserveOptions{Decisions: list, DecisionsRequired: true}})
	for i := range 150 {
		s := session(t, h, host.SessionOptions{Asker: person})
		ctx, cancel := context.WithCancel(t.Context())
		var helpers sync.WaitGroup
		helpers.Go(func() { <-asked; time.Sleep(time.Duration(i%7) * 20 * time.Microsecond); cancel() })
		helpers.Go(func() {
			if err := h.Apply(host.Settings{Rules: rules([]string{"", "Edit(a)"}[i%2], "", "")}); err != nil {
				t.Error(err)
			}
		})
		id := fmt.Sprintf("c%d-%d", i, i%4)
		results := map[string]int{}
		for e := range s.Run(ctx, []abi.ToolUse{use(id, "Put", `{"path":"a"}`)}) {
			if e.Kind == host.EventResult {
				results[e.CallID]++
				mu.Lock()
				if ran := did[id]; ran > 1 || ran == 0 && !e.Result.IsError || ran == 1 && e.Result.IsError && e.Result.Error.Code == abi.CodeDenied {
					t.Errorf("%s ran %d times, with the result %q", id, ran, e.Result.Text())
				}
				if strings.Contains(e.Result.Text(), "could not be asked") {
					t.Errorf("cancelled, and reported as %q", e.Result.Text())
				}
				mu.Unlock()
			}
		}
		if results[id] != 1 {
			t.Errorf("%d results", results[id])
		}
		select {
		case asked <- struct{}{}: // it was denied before anybody was asked
		default:
		}
		helpers.Wait()
		for len(asked) > 0 {
			<-asked
		}
		must(t, s.Close(t.Context()))
	}
}

// TestChainCapabilityWhileRunning has a deny rule come while a call runs: it binds
// its next capability call.
func TestChainCapabilityWhileRunning(t *testing.T) {
	t.Parallel()
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, "/opt/x")}}
	var h *host.Host
	tool := (&ran{}).fetch()
	tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		if _, err := c.Do(ctx, abi.Request{Name: "test.echo"}); err != nil {
			return abi.ToolResult{}, err
		}
		if err := h.Apply(host.Settings{Rules: rules("Read(//opt/**)", "", "Read(//opt/**) | WebFetch")}); err != nil {
			return abi.ToolResult{}, err
		}
		_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
		return text("both"), err
	}
	h = open(t, host.Options{
		Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}, Permissions: host.PermissionOptions{Rules: rules("", "", "Read(//opt/**) | WebFetch")},
	})
	result, _ := one(t, session(t, h, host.SessionOptions{}), "WebFetch", `{"host":"example.com"}`)
	wantError(t, result, abi.CodeDenied, "Read(//opt/**)")
	if native.done != 1 {
		t.Errorf("done %d times", native.done)
	}
}

// TestChainReplyReadmitted has the person turn a reading command into a writing one,
// which then waits to run alone: what they allowed stands, for what it was.
func TestChainReplyReadmitted(t *testing.T) {
	t.Parallel()
	const first, second = `{"command":"touch LINK/b"}`, `{"command":"touch DIR/c"}`
	for name, test := range map[string]struct {
		swap    bool
		replies []string // inputs to allow; then it is denied
		asked   int
		done    int
	}{
		"nothing changed":                     {false, []string{first}, 1, 1},
		"the link leads elsewhere by then":    {true, []string{first}, 2, 0},
		"and they write another input, again": {true, []string{first, second}, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := files(t, map[string]string{"in/a.txt": "", "old/x": "", "new/x": ""})
			link := filepath.Join(dir, "link")
			must(t, os.Symlink("old", link))
			var told atomic.Int32
			asked, decided := 0, make(chan struct{})
			decide := sync.OnceFunc(func() { close(decided) })
			person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
				if asked++; asked > len(test.replies) {
					return host.Reply{Answer: host.AnswerDeny}, nil
				}
				input := strings.NewReplacer("LINK", link, "DIR", dir).Replace(test.replies[asked-1])
				return host.Reply{Answer: host.AnswerAllow, Input: json.RawMessage(input)}, nil
			})
			beside := host.NewTool(abi.Tool{Name: "Beside", Summary: "Runs beside", InputSchema: anything, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue},
				func(context.Context, map[string]any) (string, error) {
					<-decided
					time.Sleep(50 * time.Millisecond) // the other call begins to wait, which it tells nobody
					if !test.swap {
						return "", nil
					}
					return "", errors.Join(os.Remove(link), os.Symlink("new", link))
				})
			// The command does what it was first allowed to do, whatever it is by now.
			native := &testCapability{accesses: []permissions.Access{{
				Kind: permissions.AccessWrite, Target: filepath.Join(link, "b"), Real: filepath.Join(dir, "old", "b"),
			}}}
			bash := (&ran{}).shell(nil)
			bash.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
				return text("done"), err
			}
			h := open(t, host.Options{
				Tools: []host.NativeTool{bash, beside}, Capabilities: []capability.Capability{native},
				Observe: host.ObserveOptions{Events: func(e host.Event) {
					if e.CallID == "c2" && e.Kind == host.EventDecided && e.Decision.Verdict == permissions.Allow {
						decide()
					}
				}},
				Permissions: host.PermissionOptions{Hooks: hookSet(t, hooks.Hook{
					Event: hooks.PreToolUse, Matcher: "Bash", Func: func(context.Context, hooks.Input) (hooks.Output, error) {
						told.Add(1)
						return hooks.Output{}, nil
					},
				})},
			})
			s := session(t, h, host.SessionOptions{Cwd: filepath.Join(dir, "in"), Asker: person})
			results, _ := turnOf(t, s, use("c1", "Beside", `{}`), use("c2", "Bash", `{"command":"cat `+dir+`/old/x"}`))
			if asked != test.asked || native.done != test.done {
				t.Errorf("asked %d times, done %d: %s", asked, native.done, results[1].Text())
			}
			if inputs := int32(len(test.replies)) + 1; told.Load() != inputs {
				t.Errorf("the hook ran %d times for %d inputs", told.Load(), inputs)
			}
		})
	}
}

// TestChainDenyEndsAdmission denies what a running call wants: a call that hooks
// still look at does not begin.
func TestChainDenyEndsAdmission(t *testing.T) {
	t.Parallel()
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessWrite, "/opt/x")}}
	hooked, stopped := make(chan struct{}), make(chan struct{})
	asks := host.NativeTool{
		Contract: abi.Tool{
			Name: "Asks", Summary: "Asks", InputSchema: hostSchema, ConcurrencySafe: abi.TraitTrue,
			Fields: []abi.Field{{Name: "host", Kind: abi.FieldHost}},
		},
		Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			<-hooked
			_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
			return text("done"), err
		},
	}
	h := open(t, host.Options{
		Tools: []host.NativeTool{asks, echo("Echo")}, Capabilities: []capability.Capability{native},
		Permissions: host.PermissionOptions{
			Rules: rules("", "", "Asks(domain:example.com)"),
			Hooks: hookSet(t,
				hooks.Hook{Event: hooks.PreToolUse, Matcher: "Asks", Func: func(context.Context, hooks.Input) (hooks.Output, error) {
					return hooks.Output{Context: "for the model"}, nil
				}},
				hooks.Hook{Event: hooks.PreToolUse, Matcher: "Echo", Func: func(context.Context, hooks.Input) (hooks.Output, error) {
					close(hooked)
					<-stopped
					return hooks.Output{Verdict: permissions.Allow}, nil
				}}),
		},
	})
	person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
		if q.Capability == "" { // the call itself
			return host.Reply{Answer: host.AnswerAllow}, nil
		}
		return host.Reply{Answer: host.AnswerDeny, EndTurn: true}, nil
	})
	s := session(t, h, host.SessionOptions{Asker: person})
	var results []abi.ToolResult
	for e := range s.Run(t.Context(), []abi.ToolUse{use("c1", "Asks", `{"host":"example.com"}`), use("c2", "Echo", `{}`)}) {
		switch e.Kind {
		case host.EventStop:
			close(stopped)
		case host.EventResult:
			results = append(results, *e.Result)
		default:
		}
	}
	wantError(t, results[0], abi.CodeDenied)
	wantError(t, results[1], abi.CodeCancelled, "not begun")
}

// TestChainGoroutines leaves nothing behind. It runs beside no other test.
func TestChainGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	var r ran
	m := &chainModel{wait: func(ctx context.Context, _ judge.Prompt) { <-ctx.Done() }}
	waits := asking(func(ctx context.Context, _ host.Approval) (host.Reply, error) {
		<-ctx.Done()
		return host.Reply{}, ctx.Err()
	})
	o := host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{Hooks: hookSet(t,
		hooks.Hook{Event: hooks.PreToolUse, Matcher: "Bash", Func: sleeps},
		hooks.Hook{Event: hooks.PostToolUseFailure, Func: sleeps})}}
	o.Permissions.Judge.Model = m
	h, err := host.Open(t.Context(), o)
	must(t, err)
	for _, mode := range []permissions.Mode{permissions.ModeDefault, permissions.ModeAuto} {
		s := session(t, h, host.SessionOptions{Mode: mode, Asker: waits})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, cancel)
		s.Results(ctx, []abi.ToolUse{
			use("c1", "Get", `{"path":"/opt/a"}`), use("c2", "Get", `{"path":"/opt/b"}`), use("c3", "Bash", `{"command":"frobnicate"}`),
		})
		s.Results(t.Context(), []abi.ToolUse{use("c1", "Get", `{"path":"a"}`)})
		cancel()
	}
	must(t, h.Close(t.Context()))
	soon(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestChainAnswerAfterCancel cancels each call just before it is allowed for good:
// too late, so nothing is kept.
func TestChainAnswerAfterCancel(t *testing.T) {
	t.Parallel()
	var r ran
	var kept atomic.Int32
	h := open(t, host.Options{
		Tools: r.chainTools(), Permissions: host.PermissionOptions{
			RuleTargets: map[host.RuleTarget]string{host.TargetUser: "/home/u/settings.toml"},
			Remember:    func(host.RememberOption) error { kept.Add(1); return nil },
		},
	})
	for range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		person := asking(func(_ context.Context, q host.Approval) (host.Reply, error) {
			cancel()
			return host.Reply{Answer: host.AnswerAllow, Remember: &q.Remember[1]}, nil
		})
		s := session(t, h, host.SessionOptions{Asker: person})
		wantError(t, s.Results(ctx, []abi.ToolUse{use("c1", "Put", `{"path":"a"}`)})[0], abi.CodeCancelled)
		cancel()
	}
	if kept.Load() != 0 || r.count() != 0 {
		t.Errorf("%d rules were kept, %d calls ran", kept.Load(), r.count())
	}
}
