package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// TestElapsed has a call wait for another: it started after the wait, and ran
// without it.
func TestElapsed(t *testing.T) {
	const wait = 50 * time.Millisecond
	queued := make(chan struct{})
	alone := func(c *abi.Tool) { c.ConcurrencySafe = abi.TraitFalse }
	slow := echo("Slow", alone)
	run := slow.Run
	slow.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		<-queued
		time.Sleep(wait)
		return run(ctx, c)
	}
	h := open(t, host.Options{Tools: []host.NativeTool{slow, echo("Quick", alone)}})
	s := session(t, h, host.SessionOptions{})
	at := map[host.EventKind]host.Event{}
	for e := range s.Run(t.Context(), []abi.ToolUse{use("1", "Slow", `{}`), use("2", "Quick", `{}`)}) {
		if e.CallID != "2" {
			continue
		}
		at[e.Kind] = e
		if e.Kind == host.EventQueued {
			close(queued)
		}
	}
	since := func(kind host.EventKind) time.Duration { return at[kind].Time.Sub(at[host.EventQueued].Time) }
	if got := at[host.EventStarted].Elapsed; got < wait {
		t.Errorf("the call started %s after it was queued, before the other had ended", got)
	}
	for _, kind := range []host.EventKind{host.EventFinished, host.EventResult} {
		if got := at[kind].Elapsed; got <= 0 || got > since(kind)-wait {
			t.Errorf("%s: the call ran for %s of %s, of which it waited %s", kind, got, since(kind), wait)
		}
	}
}
