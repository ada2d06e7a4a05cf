package host_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/plugins"
)

// observed keeps events by turn.
type observed struct {
	mu    sync.Mutex
	turns map[string][]host.Event
}

func (o *observed) see(e host.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == nil {
		o.turns = make(map[string][]host.Event)
	}
	o.turns[e.Turn] = append(o.turns[e.Turn], e)
}

// inShort are the kinds of events, with the calls they are of.
func inShort(events []host.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, strings.TrimSpace(string(e.Kind)+" "+e.CallID))
	}
	return strings.Join(all, ", ")
}

// TestObserve has the host's observer see what the reader of a turn does, and also
// where nobody reads: everything, in order, and before the turn returns.
func TestObserve(t *testing.T) {
	o := &observed{}
	h := open(t, host.Options{
		Observe: host.ObserveOptions{Events: o.see},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{&testCapability{}},
		Tools:        []host.NativeTool{echo("Echo", alone)},
	})
	uses := []abi.ToolUse{use("1", "Fixture", `{}`), use("2", "Echo", `{}`), use("3", "Nope", `{}`)}
	const want = "turn, queued 1, queued 2, queued 3, finished 3, decided 1, started 1, decided 1, capability 1, finished 1, result 1, " +
		"decided 2, started 2, finished 2, result 2, result 3, turn_ended"
	sorted := func(s string) []string {
		all := strings.Split(s, ", ")
		slices.Sort(all)
		return all
	}
	for name, run := range map[string]func(s *host.Session) []host.Event{
		"Run":     func(s *host.Session) []host.Event { return slices.Collect(s.Run(t.Context(), uses)) },
		"Results": func(s *host.Session) []host.Event { s.Results(t.Context(), uses); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			o.turns = nil
			s := session(t, h, host.SessionOptions{ID: name})
			read := run(s)
			o.mu.Lock()
			defer o.mu.Unlock()
			if len(o.turns) != 1 {
				t.Fatalf("events of %d turns", len(o.turns))
			}
			for turn, events := range o.turns {
				// Interruptible is news of the whole turn, which depends on its speed.
				events = slices.DeleteFunc(events, func(e host.Event) bool { return e.Kind == host.EventInterruptible })
				read = slices.DeleteFunc(read, func(e host.Event) bool { return e.Kind == host.EventInterruptible })
				if got := sorted(inShort(events)); turn == "" || !slices.Equal(got, sorted(want)) {
					t.Errorf("observed were %v", inShort(events))
				}
				if read != nil && !slices.Equal(sorted(inShort(read)), sorted(want)) {
					t.Errorf("read were %v", inShort(read))
				}
				if events[0].Kind != host.EventTurn || events[len(events)-1].Kind != host.EventTurnEnded {
					t.Errorf("from %s to %s", events[0].Kind, events[len(events)-1].Kind)
				}
				for _, e := range of(events, host.EventFinished) {
					if e.CallID == "1" && (e.Clocks == nil || e.Clocks.Guest <= 0 || e.Clocks.Running < e.Clocks.Guest+e.Clocks.Capability) {
						t.Errorf("the clocks are %+v", e.Clocks)
					}
				}
			}
		})
	}
}

// TestSlowObserver has an observer take its time over what it is told beside the turn: it has seen
// all before the turn returns.
func TestSlowObserver(t *testing.T) {
	t.Parallel()
	o := &observed{}
	h := open(t, host.Options{Observe: host.ObserveOptions{Events: func(e host.Event) {
		if e.Kind == host.EventInterruptible {
			time.Sleep(20 * time.Millisecond)
		}
		o.see(e)
	}}, Tools: []host.NativeTool{echo("Echo", func(c *abi.Tool) { c.Interrupt = abi.InterruptBlock })}})
	read := slices.Collect(session(t, h, host.SessionOptions{}).Run(t.Context(), []abi.ToolUse{use("1", "Echo", `{"s":"x"}`)}))
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := o.turns[read[0].Turn]; len(got) != len(read) {
		t.Errorf("observed were %s, and read %s", inShort(got), inShort(read))
	}
}

// TestObserverMayUseTheTurn interrupts a turn from within its observer, which also
// panics now and then.
func TestObserverMayUseTheTurn(t *testing.T) {
	b := newBarrier()
	var st *host.Stream
	s := session(t, open(t, host.Options{
		Observe: host.ObserveOptions{Events: func(e host.Event) {
			if e.Kind == host.EventStarted && e.CallID == "1" {
				st.Interrupt()
				_ = st.Interruptible()
			}
			if e.Kind == host.EventFinished {
				panic("the observer's")
			}
		}},
		Tools: []host.NativeTool{does("Wait", func(ctx context.Context, _ *host.Call) (string, error) { return "", b.wait(ctx) })},
	}), host.SessionOptions{})
	st = s.Stream(t.Context())
	h := listen(t, st.Events())
	must(t, st.Add(use("1", "Wait", `{}`)))
	st.Close()
	wantError(t, resultsOf(h.all())["1"], abi.CodeInterrupted)
}

// TestObserverMayEndItsGoroutine has an observer do so at one kind of event. All is told
// all the same, each call's end once, and no turn waits for ever.
func TestObserverMayEndItsGoroutine(t *testing.T) {
	t.Parallel()
	for _, kind := range []host.EventKind{
		host.EventTurn, host.EventQueued, host.EventDecided, host.EventStarted, host.EventProgress, host.EventCapability,
		host.EventFinished, host.EventChanged, host.EventResult, host.EventTurnEnded,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			o := &observed{}
			moves := echo("Moves", alone)
			moves.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				c.Report(abi.ProgressHead{Progress: &abi.Progress{Done: 1}})
				_, err := c.Do(ctx, abi.Request{Name: "test.echo"})
				return abi.ToolResult{Changes: []abi.Change{{Kind: abi.ChangeCwd, Value: []byte(`"."`)}}}, err
			}
			s := session(t, open(t, host.Options{
				Observe: host.ObserveOptions{Events: func(e host.Event) {
					o.see(e)
					if e.Kind == kind {
						runtime.Goexit()
					}
				}},
				Tools:        []host.NativeTool{moves, echo("Echo")},
				Capabilities: []capability.Capability{&testCapability{}},
			}), host.SessionOptions{})
			ended := make(chan struct{})
			go func() {
				defer close(ended) // the goroutine may be the one that the observer ends
				s.Results(t.Context(), []abi.ToolUse{use("1", "Moves", `{}`), use("2", "Echo", `{}`), use("3", "Moves", `{}`)})
			}()
			arrives(t, "the end of the turn", ended)
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, events := range o.turns {
				checkEnds(t, events)
			}
			if len(o.turns) != 1 {
				t.Errorf("events of %d turns", len(o.turns))
			}
		})
	}
}

// checkEnds wants each call that was queued to have finished once, and the turn to have
// ended.
func checkEnds(t *testing.T, events []host.Event) {
	t.Helper()
	for _, queued := range of(events, host.EventQueued) {
		for _, kind := range []host.EventKind{host.EventFinished, host.EventResult} {
			n := 0
			for _, e := range of(events, kind) {
				if e.CallID == queued.CallID {
					n++
				}
			}
			if n != 1 {
				t.Errorf("call %s: %d events %s in %s", queued.CallID, n, kind, inShort(events))
			}
		}
	}
	if last := events[len(events)-1]; last.Kind != host.EventTurnEnded {
		t.Errorf("the last event is %s", last.Kind)
	}
}
