package host_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// TestTuning puts other bounds into force for a session that is open: on what runs at once, on
// results and on tools.
func TestTuning(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	meets := echo("Meets")
	meets.Run = func(context.Context, *host.Call) (abi.ToolResult, error) {
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(10 * time.Millisecond) // so that others may begin
		running.Add(-1)
		return text(strings.Repeat("x", 3000)), nil
	}
	o := host.Options{Tools: []host.NativeTool{meets, echo("Other")}}
	h := open(t, o)
	s := session(t, h, host.SessionOptions{})
	run := func() []abi.ToolResult {
		most.Store(0)
		uses := make([]abi.ToolUse, 6)
		for i := range uses {
			uses[i] = use(string(rune('a'+i)), "Meets", `{}`)
		}
		return s.Results(t.Context(), uses)
	}
	results := run()
	if len(results[0].Text()) != 3000 {
		t.Errorf("before: a result of %d characters", len(results[0].Text()))
	}
	tuning := o.Tuning()
	tuning.MaxConcurrent, tuning.Results.MaxChars, tuning.Toolset.Only = 1, 500, []string{"Meets"}
	must(t, h.Apply(host.Settings{Tuning: &tuning}))
	tuning.MaxConcurrent = 9 // what was given is the host's
	results = run()
	if n := most.Load(); n != 1 || len(results[0].Text()) > 1000 {
		t.Errorf("after: %d at once, a result of %d characters", n, len(results[0].Text()))
	}
	r, _ := one(t, s, "Other", `{}`)
	wantError(t, r, abi.CodeDisabled, "Other is not among the tools")
	must(t, h.Apply(host.Settings{})) // leaves it
	if run(); most.Load() != 1 {
		t.Errorf("other settings changed it: %d at once", most.Load())
	}
	for _, bad := range []host.Tuning{{MaxConcurrent: -1}, {MaxCalls: -1}, {Cascade: 99}, {Time: host.CommandTime{Budget: -1}}, {Time: host.CommandTime{AtLimit: "x"}}} {
		if err := h.Apply(host.Settings{Tuning: &bad}); err == nil || !strings.HasPrefix(err.Error(), "the settings cannot be put into force: ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	bounded := o.Tuning()
	bounded.MaxCalls = 2
	must(t, h.Apply(host.Settings{Tuning: &bounded}))
	if results = run(); most.Load() > 2 || len(results[0].Text()) != 3000 {
		t.Errorf("of all sessions: %d at once, a result of %d characters", most.Load(), len(results[0].Text()))
	}
}
