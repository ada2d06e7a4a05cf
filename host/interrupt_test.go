package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// deafCapability answers test.echo when it is told to, whatever its context says.
type deafCapability struct {
	testCapability
	*barrier
}

func (c *deafCapability) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return deafPlan{c}, nil
}

type deafPlan struct{ *deafCapability }

func (deafPlan) Accesses() []permissions.Access { return nil }
func (deafPlan) Close() error                   { return nil }

func (p deafPlan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	err := p.wait(context.Background())
	return abi.Answer{OK: struct{}{}}, err
}

// child is a process that sleeps, which nobody ends who heeds a context.
type child struct {
	*barrier
	path string
}

func newChild(t *testing.T) *child {
	t.Helper()
	return &child{barrier: newBarrier(), path: testenv.NeedTool(t, "sleep")}
}

// run starts the process and waits for it.
func (c *child) run() (string, error) {
	cmd := exec.Command(c.path, "120") //nolint:noctx // that is the point
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go func() {
		_ = c.wait(context.Background())
		_ = cmd.Process.Kill()
	}()
	return "", cmd.Wait()
}

// childCapability answers test.echo when its child process has ended.
type childCapability struct {
	testCapability
	*child
}

func (c *childCapability) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return childPlan{c}, nil
}

type childPlan struct{ *childCapability }

func (childPlan) Accesses() []permissions.Access { return nil }
func (childPlan) Close() error                   { return nil }

func (p childPlan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	_, err := p.run()
	return abi.Answer{OK: struct{}{}}, err
}

// stubborn is a call that does not heed the end of its context.
type stubborn struct {
	options host.Options
	tool    string
	// began is closed when it runs, and release lets it end, if it ever does.
	began   <-chan struct{}
	release func()
	// behind says that it goes on behind its result.
	behind bool
}

func stubbornCalls(t *testing.T) map[string]func(*testing.T) stubborn {
	t.Helper()
	fixture := func(o host.Options, name, more string) host.Options {
		o.Plugins.Sources = []plugins.Source{plugin(t, name, fixtureTool+more+"\n[limits]\ntime = \"2m\"\n")}
		o.Plugins.Granted = []string{"fixture"}
		o.Plugins.Ceilings = plugins.Limits{Time: 2 * time.Minute}
		return o
	}
	return map[string]func(*testing.T) stubborn{
		"a guest in an endless loop": func(*testing.T) stubborn {
			return stubborn{options: fixture(host.Options{}, "spin", ""), tool: "Fixture", release: func() {}}
		},
		"a guest in a capability": func(*testing.T) stubborn {
			c := &deafCapability{barrier: newBarrier()}
			o := fixture(host.Options{Capabilities: []capability.Capability{c}}, "pass_through", fixtureCapability)
			return stubborn{options: o, tool: "Fixture", began: c.reached, release: c.lift, behind: true}
		},
		"a child process of a capability": func(t *testing.T) stubborn {
			t.Helper()
			c := &childCapability{child: newChild(t)}
			o := fixture(host.Options{Capabilities: []capability.Capability{c}}, "pass_through", fixtureCapability)
			return stubborn{options: o, tool: "Fixture", began: c.reached, release: c.lift, behind: true}
		},
		"a child process of a native tool": func(t *testing.T) stubborn {
			t.Helper()
			c := newChild(t)
			sleep := does("Sleep", func(context.Context, *host.Call) (string, error) { return c.run() }, alone)
			return stubborn{options: host.Options{Tools: []host.NativeTool{sleep}}, tool: "Sleep", began: c.reached, release: c.lift, behind: true}
		},
		"a native tool": func(*testing.T) stubborn {
			b := newBarrier()
			deaf := does("Deaf", func(context.Context, *host.Call) (string, error) { return "", b.wait(context.Background()) }, alone)
			return stubborn{options: host.Options{Tools: []host.NativeTool{deaf}}, tool: "Deaf", began: b.reached, release: b.lift, behind: true}
		},
		"a native tool in a capability": func(*testing.T) stubborn {
			c := &deafCapability{barrier: newBarrier()}
			deaf := does("Deaf", func(ctx context.Context, call *host.Call) (string, error) {
				_, err := call.Do(ctx, abi.Request{Name: "test.echo"})
				return "", err
			}, alone)
			o := host.Options{Tools: []host.NativeTool{deaf}, Capabilities: []capability.Capability{c}}
			return stubborn{options: o, tool: "Deaf", began: c.reached, release: c.lift, behind: true}
		},
	}
}

// soonEnough is how long a result may take to come once its call is to end.
const soonEnough = 100 * time.Millisecond

// TestEndsAtOnce ends calls that do not listen, in every way there is, and has the
// result at once; what still goes on keeps the next turn waiting.
func TestEndsAtOnce(t *testing.T) {
	ends := map[string]struct {
		code abi.Code
		end  func(st *host.Stream, s *host.Session, cancel context.CancelFunc)
	}{
		"interrupt": {abi.CodeInterrupted, func(st *host.Stream, _ *host.Session, _ context.CancelFunc) { st.Interrupt() }},
		"cancel":    {abi.CodeCancelled, func(_ *host.Stream, _ *host.Session, cancel context.CancelFunc) { cancel() }},
		"session": {abi.CodeCancelled, func(_ *host.Stream, s *host.Session, _ context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = s.Close(ctx) // it need not wait for the turn
		}},
	}
	for what, call := range stubbornCalls(t) {
		for how, end := range ends {
			closes := how == "session"
			t.Run(what+"/"+how, func(t *testing.T) {
				limit := soonEnough
				if testenv.Race {
					limit = testenv.Patience
				}
				testenv.InTime(t, limit, func() time.Duration { return endsAtOnce(t, call(t), closes, end.code, end.end) })
			})
		}
	}
}

func endsAtOnce(t *testing.T, call stubborn, closes bool, code abi.Code, end func(*host.Stream, *host.Session, context.CancelFunc)) time.Duration {
	t.Helper()
	defer call.release()
	call.options.Tools = append(call.options.Tools, echo("Echo"))
	s := session(t, open(t, call.options), host.SessionOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	st := s.Stream(ctx)
	h := listen(t, st.Events())
	must(t, st.Add(use("1", call.tool, `{}`)))
	h.await(host.EventStarted, "1")
	if call.began != nil {
		arrives(t, "the call", call.began)
	} else {
		time.Sleep(20 * time.Millisecond) // a guest says nothing before it loops
	}
	took := testenv.Took(func() {
		end(st, s, cancel)
		e := h.await(host.EventResult, "1")
		wantError(t, *e.Result, code, "<tool_use_error>")
	})
	st.Close()
	h.all()
	next := make(chan struct{})
	go func() {
		defer close(next)
		s.Results(t.Context(), []abi.ToolUse{use("2", "Echo", `{"s":"x"}`)})
	}()
	if call.behind && !closes {
		select {
		case <-next:
			t.Error("the next turn began while something of the last went on")
		case <-time.After(50 * time.Millisecond):
		}
	}
	call.release()
	arrives(t, "the next turn", next)
	return took
}

// TestInterrupt interrupts a turn of calls that may be interrupted, that may not, and
// that have not begun.
func TestInterrupt(t *testing.T) {
	ends, blocks := newBarrier(), newBarrier()
	block := func(c *abi.Tool) { c.Interrupt = abi.InterruptBlock }
	titled := func(c *abi.Tool) {
		c.Title = "s"
		c.InputSchema = `{"type":"object","properties":{"s":{"type":"string"}}}`
	}
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Ends", func(ctx context.Context, _ *host.Call) (string, error) { return "", ends.wait(ctx) }, titled),
		does("Blocks", func(ctx context.Context, _ *host.Call) (string, error) { return "blocked", blocks.wait(ctx) }, block),
		echo("Later", block, alone, titled),
	}}), host.SessionOptions{})
	st := s.Stream(t.Context())
	h := listen(t, st.Events())
	if !st.Interruptible() {
		t.Error("where nothing runs, nothing blocks an interrupt")
	}
	must(t, st.Add(use("1", "Ends", `{"s":"make  all"}`)))
	arrives(t, "the first call", ends.reached)
	if !st.Interruptible() {
		t.Error("a call that ends is said to block an interrupt")
	}
	must(t, st.Add(use("2", "Blocks", `{}`)))
	arrives(t, "the second call", blocks.reached)
	if st.Interruptible() {
		t.Error("a call that blocks is said to end")
	}
	must(t, st.Add(use("3", "Later", `{"s":"x"}`)))
	st.Interrupt()
	must(t, st.Add(use("4", "Ends", `{"s":"too late"}`)))
	st.Close()
	wantError(t, *h.await(host.EventResult, "1").Result, abi.CodeInterrupted,
		"The user interrupted before Ends(make all) had ended. What it had done by then stays as it is")
	if got := resultsOf(h.now()); len(got) != 1 {
		t.Errorf("results that came before the call that blocks had ended: %v", got)
	}
	blocks.lift()
	got := resultsOf(h.all())
	if r := got["2"]; r.Text() != "blocked" || r.IsError {
		t.Errorf("the call that blocks an interrupt answers %q", r.Text())
	}
	wantError(t, got["3"], abi.CodeInterrupted, "The user interrupted before Later(x) began. Nothing of it was done.")
	wantError(t, got["4"], abi.CodeInterrupted, "before Ends(too late) began")
	var news []bool
	for _, e := range of(h.now(), host.EventInterruptible) {
		news = append(news, e.Interruptible)
	}
	if len(news) != 2 || news[0] || !news[1] {
		t.Errorf("whether all is interruptible was told as %v", news)
	}
}

// TestInterruptBeforeTheTurn interrupts a stream that waits for another one's turn.
func TestInterruptBeforeTheTurn(t *testing.T) {
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}}), host.SessionOptions{})
	first, second := s.Stream(t.Context()), s.Stream(t.Context())
	h1, h2 := listen(t, first.Events()), listen(t, second.Events())
	must(t, second.Add(use("1", "Echo", `{"s":"x"}`)))
	second.Interrupt()
	second.Close()
	wantError(t, resultsOf(h2.all())["1"], abi.CodeInterrupted, "before Echo began")
	first.Close()
	h1.all()
}

// TestInterruptWhileAPersonIsAsked withdraws the question.
func TestInterruptWhileAPersonIsAsked(t *testing.T) {
	asked := newBarrier()
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{(&ran{}).put()}}), host.SessionOptions{
		Asker: asking(func(ctx context.Context, _ host.Approval) (host.Reply, error) { return host.Reply{}, asked.wait(ctx) }),
	})
	st := s.Stream(t.Context())
	h := listen(t, st.Events())
	must(t, st.Add(use("1", "Put", `{"path":"x"}`)))
	arrives(t, "the question", asked.reached)
	st.Interrupt()
	st.Close()
	wantError(t, resultsOf(h.all())["1"], abi.CodeInterrupted, "before Put(x) began. Nothing of it was done")
}

// TestInterruptWhileAHookRuns ends a call whose hook does not heed it, and one whose
// validation does not.
func TestInterruptWhileAHookRuns(t *testing.T) {
	tests := map[string]func(b *barrier, o *host.Options){
		"a hook": func(b *barrier, o *host.Options) {
			o.Permissions.Hooks = hookSet(t, hooks.Hook{Event: hooks.PreToolUse, Func: func(context.Context, hooks.Input) (hooks.Output, error) {
				return hooks.Output{}, b.wait(context.Background())
			}})
		},
		"its own validation": func(b *barrier, o *host.Options) {
			o.Tools[0].Contract.Validates = true
			o.Tools[0].Assess = func(context.Context, json.RawMessage, []abi.Fact) (abi.Assessment, error) {
				return abi.Assessment{}, b.wait(context.Background())
			}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			limit := soonEnough
			if testenv.Race {
				limit = testenv.Patience
			}
			testenv.InTime(t, limit, func() time.Duration {
				b := newBarrier()
				defer b.lift()
				o := host.Options{Tools: []host.NativeTool{echo("Echo", alone)}}
				change(b, &o)
				st := session(t, open(t, o), host.SessionOptions{}).Stream(t.Context())
				h := listen(t, st.Events())
				must(t, st.Add(use("1", "Echo", `{"s":"x"}`)))
				arrives(t, "what is not to be waited for", b.reached)
				took := testenv.Took(func() {
					st.Interrupt()
					st.Interrupt() // impatient
					wantError(t, *h.await(host.EventResult, "1").Result, abi.CodeInterrupted, "before Echo began. Nothing of it was done.")
				})
				st.Close()
				h.all()
				return took
			})
		})
	}
}

// TestCascade fails one of several calls that run together.
func TestCascade(t *testing.T) {
	tests := map[string]struct {
		cascade scheduler.Cascade
		// cancelled are the calls that the failure takes with it.
		cancelled string
	}{
		"batch": {scheduler.CascadeBatch, "2"},
		"turn":  {scheduler.CascadeTurn, "2 5"},
		"off":   {scheduler.CascadeOff, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var three sync.WaitGroup
			three.Add(3)
			cascades := func(c *abi.Tool) {
				c.Cascade, c.Title = true, "s"
				c.InputSchema = `{"type":"object","properties":{"s":{"type":"string"}}}`
			}
			run := func(ctx context.Context, c *host.Call) (string, error) {
				if c.ID > "3" {
					return "ran", nil
				}
				three.Done()
				three.Wait()
				if c.ID == "1" {
					return "", errors.New("exit status 1")
				}
				limit := 200 * time.Millisecond
				if strings.Contains(test.cancelled, c.ID) {
					limit = testenv.Patience
				}
				select {
				case <-ctx.Done():
					return "", context.Cause(ctx)
				case <-time.After(limit):
					return "ran", nil
				}
			}
			s := session(t, open(t, host.Options{Limits: host.LimitOptions{Cascade: test.cascade}, Tools: []host.NativeTool{
				does("Bash", run, cascades), does("Read", run), does("Write", run, alone),
			}}), host.SessionOptions{})
			results, _ := turnOf(t, s,
				use("1", "Bash", `{"s":"make   check"}`), use("2", "Bash", `{"s":"sleep"}`), use("3", "Read", `{}`),
				use("4", "Write", `{}`), use("5", "Bash", `{"s":"ls"}`))
			for i, r := range results[1:] {
				if !strings.Contains(test.cancelled, string(rune('2'+i))) {
					if r.Text() != "ran" {
						t.Errorf("call %d answers %q", i+2, r.Text())
					}
					continue
				}
				if want := "<tool_use_error>Cancelled: parallel tool call Bash(make check) errored</tool_use_error>"; r.Text() != want || r.Error.Code != abi.CodeCancelled {
					t.Errorf("call %d answers %q, %v; want %q", i+2, r.Text(), r.Error, want)
				}
			}
		})
	}
}

// TestInterruptDoesNotCascade has a call that ends by an interrupt take no sibling
// with it that an interrupt lets run.
func TestInterruptDoesNotCascade(t *testing.T) {
	ends, blocks := newBarrier(), newBarrier()
	cascades := func(c *abi.Tool) { c.Cascade = true }
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Ends", func(ctx context.Context, _ *host.Call) (string, error) { return "", ends.wait(ctx) }, cascades),
		does("Blocks", func(ctx context.Context, _ *host.Call) (string, error) { return "ran", blocks.wait(ctx) }, cascades,
			func(c *abi.Tool) { c.Interrupt = abi.InterruptBlock }),
	}}), host.SessionOptions{})
	st := s.Stream(t.Context())
	h := listen(t, st.Events())
	must(t, st.Add(use("1", "Ends", `{}`)))
	must(t, st.Add(use("2", "Blocks", `{}`)))
	arrives(t, "the first call", ends.reached)
	arrives(t, "the second call", blocks.reached)
	st.Interrupt()
	st.Close()
	h.await(host.EventResult, "1")
	blocks.lift()
	if r := resultsOf(h.all())["2"]; r.Text() != "ran" {
		t.Errorf("got %q", r.Text())
	}
}

// TestAbandoned has a call that is cancelled leave something behind that never ends.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen atomic.Int32
		b := newBarrier()
		var h *host.Host
		h, err := host.Open(t.Context(), host.Options{
			Tools: []host.NativeTool{
				does("Deaf", func(context.Context, *host.Call) (string, error) { return "", b.wait(context.Background()) }),
				echo("Echo"),
			},
			Observe: host.ObserveOptions{Events: func(e host.Event) {
				if e.Kind == host.EventAbandoned && e.CallID == "1" && e.Tool == "Deaf" {
					seen.Add(1)
				}
			}},
		})
		must(t, err)
		s := session(t, h, host.SessionOptions{Cwd: "/"})
		ctx, cancel := context.WithCancel(t.Context())
		st := s.Stream(ctx)
		hd := listen(t, st.Events())
		must(t, st.Add(use("1", "Deaf", `{}`)))
		synctest.Wait()
		cancel()
		hd.all()
		began := time.Now()
		if r, _ := one(t, s, "Echo", `{"s":"x"}`); r.Text() != "x" {
			t.Errorf("the next turn answers %q", r.Text())
		}
		if waited := time.Since(began).Round(time.Millisecond * 100); waited != 5*time.Second {
			t.Errorf("the next turn waited %v for what was left, want 5s", waited)
		}
		if h.Abandoned() != 1 || seen.Load() != 1 {
			t.Errorf("abandoned were %d, and told %d", h.Abandoned(), seen.Load())
		}
		b.lift()
		must(t, h.Close(context.Background()))
	})
}

// TestCallTimeLimit leaves a tool to itself that does not heed the operator's limit.
func TestCallTimeLimit(t *testing.T) {
	b := newBarrier()
	defer b.lift()
	s := session(t, open(t, host.Options{Limits: host.LimitOptions{CallTimeout: 50 * time.Millisecond}, Tools: []host.NativeTool{
		does("Deaf", func(context.Context, *host.Call) (string, error) { return "", b.wait(context.Background()) }),
	}}), host.SessionOptions{})
	r := s.Results(t.Context(), []abi.ToolUse{use("1", "Deaf", `{}`)})
	wantError(t, r[0], abi.CodeTimeout, "50ms that the operator allows")
}

// TestResultsEndAtOnce cancels calls that do not listen where nobody is told of
// events, and plugins run on the caller's own goroutine.
func TestResultsEndAtOnce(t *testing.T) {
	for what, call := range stubbornCalls(t) {
		t.Run(what, func(t *testing.T) {
			limit := soonEnough
			if testenv.Race {
				limit = testenv.Patience
			}
			testenv.InTime(t, limit, func() time.Duration {
				call := call(t)
				defer call.release()
				s := session(t, open(t, call.options), host.SessionOptions{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				results := make(chan []abi.ToolResult, 1)
				go func() { results <- s.Results(ctx, []abi.ToolUse{use("1", call.tool, `{}`)}) }()
				if call.began != nil {
					arrives(t, "the call", call.began)
				} else {
					time.Sleep(200 * time.Millisecond) // a guest says nothing before it loops
				}
				return testenv.Took(func() {
					cancel()
					wantError(t, (<-results)[0], abi.CodeCancelled)
				})
			})
		})
	}
}

// TestWhatGoesOnKeepsItsLocks runs over the time of a call that does not heed it: one
// that has another file goes on, one that has the same waits.
func TestWhatGoesOnKeepsItsLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that only the time of the first is up
		b := newBarrier()
		root := files(t, nil)
		var order sync.Map
		put := putLocked(&ran{}, "Put")
		run := put.Run
		put.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			if c.ID == "1" {
				_ = b.wait(context.Background())
				order.Store("1 ended", true)
			}
			if c.ID == "3" {
				_, ended := order.Load("1 ended")
				order.Store("3 waited", ended)
			}
			return run(ctx, c)
		}
		s := session(t, open(t, host.Options{Limits: host.LimitOptions{CallTimeout: 60 * time.Millisecond}, Tools: []host.NativeTool{put}, Permissions: host.PermissionOptions{Rules: rules("", "", "Put")}}),
			host.SessionOptions{Cwd: root})
		st := s.Stream(t.Context())
		h := listen(t, st.Events())
		must(t, st.Add(use("1", "Put", `{"path":"a"}`)))
		must(t, st.Add(use("2", "Put", `{"path":"b"}`)))
		must(t, st.Add(use("3", "Put", `{"path":"a"}`)))
		st.Close()
		wantError(t, *h.await(host.EventResult, "1").Result, abi.CodeTimeout)
		if r := h.await(host.EventResult, "2").Result; r.Text() != "written" {
			t.Errorf("another file's: %q", r.Text())
		}
		synctest.Wait()
		if len(resultsOf(h.now())) != 2 {
			t.Error("the same file's did not wait")
		}
		b.lift()
		if r := resultsOf(h.all())["3"]; r.Text() != "written" {
			t.Errorf("the same file's: %q", r.Text())
		}
		if waited, _ := order.Load("3 waited"); waited != true {
			t.Error("the same file's began first")
		}
	})
}
