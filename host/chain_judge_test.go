package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

const (
	judgeAllows = `{"reason":"an ordinary step","verdict":"allow"}`
	judgeAsks   = `{"reason":"not sure","verdict":"ask"}`
)

// chainModel is the judge's model.
type chainModel struct {
	say    string
	wait   func(ctx context.Context, p judge.Prompt) // nil: it answers at once
	answer func(p judge.Prompt) string               // nil: say

	asked, ended atomic.Int32
}

func (m *chainModel) Complete(ctx context.Context, p judge.Prompt) (string, error) {
	m.asked.Add(1)
	if m.wait != nil {
		m.wait(ctx, p)
	}
	if ctx.Err() != nil {
		m.ended.Add(1)
		return "", ctx.Err()
	}
	if m.answer != nil {
		return m.answer(p), nil
	}
	return m.say, nil
}

// judged opens a session in the mode auto, with a judge.
func judged(t *testing.T, m *chainModel, o host.Options, so host.SessionOptions) *host.Session {
	t.Helper()
	o.Permissions.Judge.Model = m
	so.Mode = permissions.ModeAuto
	return session(t, open(t, o), so)
}

// TestChainJudge asks a model where rules and mode leave a call open.
func TestChainJudge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		say            string
		headless       bool
		deny, ask      string
		input          string
		judged, person int32
		want           abi.Code
	}{
		"allows":              {say: judgeAllows, judged: 1},
		"allows, headless":    {say: judgeAllows, headless: true, judged: 1},
		"asks":                {say: judgeAsks, judged: 1, person: 1, want: abi.CodeDenied},
		"asks, headless":      {say: judgeAsks, headless: true, judged: 1, want: abi.CodeNeedsApproval},
		"says nonsense":       {say: "sure!", headless: true, judged: 1, want: abi.CodeNeedsApproval},
		"an ask rule":         {say: judgeAllows, ask: "WebFetch", person: 1, want: abi.CodeDenied},
		"a deny rule":         {say: judgeAllows, deny: "WebFetch", want: abi.CodeDenied},
		"a host on this side": {say: judgeAllows, input: `{"host":"169.254.169.254"}`, want: abi.CodeDenied},
	} {
		t.Run(name, func(t *testing.T) {
			var r ran
			m, person, events := &chainModel{say: test.say}, no(), &logged{}
			so := host.SessionOptions{}
			if !test.headless {
				so.Asker = person
			}
			s := judged(t, m, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{Rules: rules(test.deny, test.ask, "")}, Observe: host.ObserveOptions{Decisions: events}}, so)
			if test.input == "" {
				test.input = `{"host":"example.com"}`
			}
			result, _ := one(t, s, "WebFetch", test.input)
			if test.want != "" {
				wantError(t, result, test.want)
			}
			if ran := r.count() == 1; ran != (test.want == "") || m.asked.Load() != test.judged || person.asked.Load() != test.person {
				t.Errorf("ran %v; the judge was asked %d times, a person %d", ran, m.asked.Load(), person.asked.Load())
			}
			if test.judged == 1 && !strings.HasSuffix(events.all()[0], "judge") {
				t.Errorf("the log says %v", events.all())
			}
		})
	}
}

// TestChainJudgeSpeculates has the judge begin while hooks run.
func TestChainJudgeSpeculates(t *testing.T) {
	t.Parallel()
	var r ran
	began := make(chan struct{})
	m := &chainModel{say: judgeAllows, wait: func(context.Context, judge.Prompt) { close(began) }}
	s := judged(t, m, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{Hooks: hookSet(t, hooks.Hook{
		Event: hooks.PreToolUse, Func: func(ctx context.Context, _ hooks.Input) (hooks.Output, error) {
			select {
			case <-began:
				return hooks.Output{}, nil
			case <-ctx.Done():
				return hooks.Output{}, ctx.Err()
			}
		}, Timeout: testenv.Patience,
	})}}, host.SessionOptions{})
	result, _ := one(t, s, "WebFetch", `{"host":"example.com"}`)
	if result.IsError || m.asked.Load() != 1 {
		t.Errorf("asked %d times: %s", m.asked.Load(), result.Text())
	}
}

// TestChainJudgeForOneInput rewrites the input that the judge thinks about: what it
// says of the former one counts for nothing, and it is not waited for.
func TestChainJudgeForOneInput(t *testing.T) {
	t.Parallel()
	var r ran
	m := &chainModel{
		answer: func(p judge.Prompt) string {
			if strings.Contains(p.User, "good.example") {
				return judgeAllows
			}
			return judgeAsks
		},
		wait: func(ctx context.Context, p judge.Prompt) {
			if strings.Contains(p.User, "slow.example") {
				<-ctx.Done()
			}
		},
	}
	for from, to := range map[string]string{"good.example": "bad.example", "slow.example": "good.example"} {
		s := judged(t, m, host.Options{Tools: r.chainTools(), Permissions: host.PermissionOptions{Hooks: hookSet(t, says(hooks.Output{
			UpdatedInput: json.RawMessage(`{"host":"` + to + `"}`),
		}))}}, host.SessionOptions{})
		result, _ := one(t, s, "WebFetch", `{"host":"`+from+`"}`)
		if result.IsError == (to == "good.example") {
			t.Errorf("%s to %s: %s", from, to, result.Text())
		}
	}
}

// TestChainJudgeNotNeeded ends what the judge thinks about as soon as nobody waits
// for it: before the call runs.
func TestChainJudgeNotNeeded(t *testing.T) {
	t.Parallel()
	thinking := func() *chainModel {
		return &chainModel{wait: func(ctx context.Context, _ judge.Prompt) { <-ctx.Done() }}
	}
	for name, o := range map[string]hooks.Output{
		"allowed":   {Verdict: permissions.Allow},
		"denied":    {Verdict: permissions.Deny},
		"asked":     {Verdict: permissions.Ask},
		"rewritten": {Verdict: permissions.Allow, UpdatedInput: json.RawMessage(`{"host":"other.example"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			m := thinking()
			var hung atomic.Bool
			tool := (&ran{}).fetch()
			tool.Run = func(context.Context, *host.Call) (abi.ToolResult, error) {
				hung.Store(!ends(m))
				return text("ran"), nil
			}
			person := asking(func(context.Context, host.Approval) (host.Reply, error) {
				hung.Store(!ends(m))
				return host.Reply{Answer: host.AnswerDeny, Message: "no"}, nil
			})
			hook := hooks.Hook{Event: hooks.PreToolUse, Func: func(context.Context, hooks.Input) (hooks.Output, error) {
				soon(t, "the judge begins", func() bool { return m.asked.Load() > 0 })
				return o, nil
			}}
			s := judged(t, m, host.Options{Tools: []host.NativeTool{tool}, Permissions: host.PermissionOptions{Hooks: hookSet(t, hook)}}, host.SessionOptions{Asker: person})
			one(t, s, "WebFetch", `{"host":"example.com"}`)
			if hung.Load() || !ends(m) {
				t.Error("the judge thinks on")
			}
		})
	}
}

// ends reports whether all that a model was asked was let go, before long.
func ends(m *chainModel) bool {
	for deadline := time.Now().Add(testenv.Patience); m.ended.Load() < m.asked.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// TestChainJudgeCapability asks anew about what a running call wants, though the
// call itself was judged.
func TestChainJudgeCapability(t *testing.T) {
	t.Parallel()
	for say, done := range map[string]int{judgeAllows: 1, judgeAsks: 0} {
		native := &testCapability{accesses: []permissions.Access{path(permissions.AccessWrite, "/opt/elsewhere")}}
		var prompts atomic.Pointer[string]
		m := &chainModel{answer: func(p judge.Prompt) string { prompts.Store(&p.User); return say }}
		s := judged(t, m, host.Options{
			Plugins:      host.PluginOptions{Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)}, Granted: []string{"fixture"}},
			Capabilities: []capability.Capability{native},
		}, host.SessionOptions{})
		result, _ := one(t, s, "Fixture", `{}`)
		if native.done != done || m.asked.Load() != 1 || !strings.Contains(*prompts.Load(), "/opt/elsewhere") {
			t.Errorf("done %d times, asked %d: %s", native.done, m.asked.Load(), result.Text())
		}
	}
}

// TestChainJudgeTakesTime has a deny rule come while the judge thinks.
func TestChainJudgeTakesTime(t *testing.T) {
	t.Parallel()
	var r ran
	var h *host.Host
	m := &chainModel{say: judgeAllows, wait: func(context.Context, judge.Prompt) {
		if err := h.Apply(host.Settings{Rules: rules("WebFetch", "", "")}); err != nil {
			t.Error(err)
		}
	}}
	o := host.Options{Tools: r.chainTools()}
	o.Permissions.Judge.Model = m
	h = open(t, o)
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeAuto})
	result, _ := one(t, s, "WebFetch", `{"host":"example.com"}`)
	wantError(t, result, abi.CodeDenied)
	if r.count() != 0 {
		t.Error("it ran")
	}
}
