package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/host/internal/judge/remote"
	"github.com/toolquay/toolquay/permissions"
)

// TestChainJudgeOncePerCommand counts what a model's server is asked about real
// commands of the built-in Bash, which pass two gates.
func TestChainJudgeOncePerCommand(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		said, _ := json.Marshal(judgeAllows)
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":`+
			`{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, said)
	}))
	t.Cleanup(server.Close)
	model, err := remote.OpenAI(remote.Config{BaseURL: server.URL, Model: "m"})
	must(t, err)
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules, o.Permissions.Judge.Model, o.Shell.Sandbox.Unasked = rules("", "", ""), model, permissions.UnaskedNever
	})
	s := session(t, h.Host, host.SessionOptions{Cwd: t.TempDir(), Mode: permissions.ModeAuto})
	for i, command := range []string{"sh -c 'echo done'", "cat /etc/hostname >/dev/null; sh -c 'echo done'", "sh -c 'echo done'"} {
		if got := told(t, s, command); got != "done" || asked.Load() != int32(i+1) {
			t.Errorf("%s: %q; %d questions after %d calls", command, got, asked.Load(), i+1)
		}
	}
}

// TestChainJudgeEffects asks the judge once about each effect of a call, and anew about
// one that it was not asked about.
func TestChainJudgeEffects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		say     string
		touches string // by three capability calls of the running command, side by side
		judged  int32
		person  int32
	}{
		"what was judged":             {judgeAllows, "/opt/shown", 1, 0},
		"something else":              {judgeAllows, "/opt/other", 2, 0},
		"what a person then allowed":  {judgeAsks, "/opt/shown", 1, 1},
		"something else they allowed": {judgeAsks, "/opt/other", 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, test.touches)}}
			tool := (&ran{}).shell(nil)
			tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				errs := make(chan error)
				for range 3 {
					go func() {
						_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
						errs <- err
					}()
				}
				return text("ran"), errors.Join(<-errs, <-errs, <-errs)
			}
			m, person := &chainModel{say: test.say}, yes()
			s := judged(t, m, host.Options{Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}}, host.SessionOptions{Asker: person})
			result, _ := one(t, s, "Bash", `{"command":"cat /opt/shown"}`)
			if result.IsError || m.asked.Load() != test.judged || person.asked.Load() != test.person {
				t.Errorf("the judge was asked %d times, a person %d: %s", m.asked.Load(), person.asked.Load(), result.Text())
			}
		})
	}
}

// TestChainJudgeNoAnswer has two capability calls of one effect follow each other, of which
// the first has no answer: the second waits for it where only the first gave up, and asks
// anew where there is none.
func TestChainJudgeNoAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		second  string // what the model says to the call's first capability call
		givesUp bool
		judged  int32
	}{
		"given up":  {judgeAllows, true, 2},
		"no answer": {"sure!", false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var giveUp context.CancelFunc
			gone := make(chan struct{})
			m := &chainModel{}
			m.answer = func(judge.Prompt) string {
				if m.asked.Load() == 2 {
					return test.second
				}
				return judgeAllows
			}
			m.wait = func(ctx context.Context, _ judge.Prompt) {
				if test.givesUp && m.asked.Load() == 2 {
					giveUp()
					select {
					case <-gone:
					case <-ctx.Done():
					}
				}
			}
			tool := (&ran{}).shell(nil)
			tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				first, cancel := context.WithCancel(ctx)
				defer cancel()
				giveUp = cancel
				if _, err := c.Do(first, abi.Request{Name: "test.echo"}); err == nil {
					t.Error("the first was allowed")
				}
				close(gone)
				_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
				return text("ran"), err
			}
			native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, "/opt/other")}}
			s := judged(t, m, host.Options{Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}}, host.SessionOptions{})
			result, _ := one(t, s, "Bash", `{"command":"cat /opt/shown"}`)
			if result.IsError || m.asked.Load() != test.judged {
				t.Errorf("the judge was asked %d times: %s", m.asked.Load(), result.Text())
			}
		})
	}
}

// TestChainJudgeOtherRules asks the judge anew where the rules are others by the time of
// the second gate: it was told of them.
func TestChainJudgeOtherRules(t *testing.T) {
	t.Parallel()
	var h *host.Host
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessRead, "/opt/shown")}}
	tool := (&ran{}).shell(nil)
	tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		err := h.Apply(host.Settings{Rules: rules("Read(secret)", "", "")})
		if err == nil {
			_, err = c.Do(ctx, abi.Request{Name: "test.echo"})
		}
		return text("ran"), err
	}
	var last atomic.Value
	m := &chainModel{say: judgeAllows, wait: func(_ context.Context, p judge.Prompt) { last.Store(p.User) }}
	o := host.Options{Tools: []host.NativeTool{tool}, Capabilities: []capability.Capability{native}}
	o.Permissions.Judge.Model = m
	h = open(t, o)
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeAuto})
	result, _ := one(t, s, "Bash", `{"command":"cat /opt/shown"}`)
	if said, ok := last.Load().(string); result.IsError || m.asked.Load() != 2 || !ok || !strings.Contains(said, "Read(secret)") {
		t.Errorf("asked %d times, last with %s: %s", m.asked.Load(), said, result.Text())
	}
}
