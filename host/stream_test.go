package host_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// does is a native tool that reads only and runs beside others, unless change says
// otherwise.
func does(name string, run func(ctx context.Context, c *host.Call) (string, error), change ...func(*abi.Tool)) host.NativeTool {
	t := echo(name, change...)
	t.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		s, err := run(ctx, c)
		return text(s), err
	}
	return t
}

// safely has a tool run beside others.
func safely(t host.NativeTool) host.NativeTool {
	t.Contract.ConcurrencySafe = abi.TraitTrue
	return t
}

func alone(c *abi.Tool) { c.ConcurrencySafe = abi.TraitFalse }

// barrier is something that tools wait at until it is opened.
type barrier struct {
	reached, opened chan struct{}
	reach, open     sync.Once
}

func newBarrier() *barrier {
	return &barrier{reached: make(chan struct{}), opened: make(chan struct{})}
}

// wait says that somebody is there, and waits until the barrier opens, or for ctx.
func (b *barrier) wait(ctx context.Context) error {
	b.reach.Do(func() { close(b.reached) })
	select {
	case <-b.opened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *barrier) lift() { b.open.Do(func() { close(b.opened) }) }

// heard are the events of a stream, read as they come.
type heard struct {
	tb    testing.TB
	ended chan struct{}

	mu     sync.Mutex
	events []host.Event
}

func listen(tb testing.TB, events iter.Seq[host.Event]) *heard {
	tb.Helper()
	h := &heard{tb: tb, ended: make(chan struct{})}
	go func() {
		defer close(h.ended)
		for e := range events {
			h.mu.Lock()
			h.events = append(h.events, e)
			h.mu.Unlock()
		}
	}()
	return h
}

func (h *heard) now() []host.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// await waits for an event of a call.
func (h *heard) await(kind host.EventKind, id string) host.Event {
	h.tb.Helper()
	var found host.Event
	soon(h.tb, string(kind)+" of "+id, func() bool {
		i := slices.IndexFunc(h.now(), func(e host.Event) bool { return e.Kind == kind && e.CallID == id })
		if i < 0 {
			return false
		}
		found = h.now()[i]
		return true
	})
	return found
}

// all waits for the end.
func (h *heard) all() []host.Event {
	h.tb.Helper()
	arrives(h.tb, "the end of the stream", h.ended)
	return h.now()
}

// arrives waits for a channel to be closed.
func arrives(tb testing.TB, what string, c <-chan struct{}) {
	tb.Helper()
	select {
	case <-c:
	case <-time.After(testenv.Patience):
		tb.Fatalf("not in time: %s", what)
	}
}

// resultsOf are the results among events, by call.
func resultsOf(events []host.Event) map[string]abi.ToolResult {
	found := make(map[string]abi.ToolResult)
	for _, e := range of(events, host.EventResult) {
		found[e.CallID] = *e.Result
	}
	return found
}

// TestStreamResultsComeEarly has the result of the first call leave before the model
// has written the second.
func TestStreamResultsComeEarly(t *testing.T) {
	root := files(t, map[string]string{"a": "alpha\n", "b": "beta\n"})
	s := session(t, open(t, host.Options{Builtins: true}), host.SessionOptions{Cwd: root})
	st := s.Stream(t.Context())
	next, stop := iter.Pull(st.Events())
	defer stop()
	must(t, st.Add(use("1", "Read", `{"file_path":"a"}`)))
	var events []host.Event
	for len(of(events, host.EventResult)) == 0 {
		e, ok := next()
		if !ok {
			t.Fatal("the stream ended before it was closed")
		}
		events = append(events, e)
	}
	must(t, st.Add(use("2", "Read", `{"file_path":"b"}`)))
	st.Close()
	for e, ok := next(); ok; e, ok = next() {
		events = append(events, e)
	}
	results := of(events, host.EventResult)
	if len(results) != 2 || !strings.Contains(results[0].Result.Text(), "alpha") || !strings.Contains(results[1].Result.Text(), "beta") {
		t.Fatalf("the results are %+v", results)
	}
}

// TestStreamKnowsItsPlace looks at what all events of a turn tell of where they
// happened.
func TestStreamKnowsItsPlace(t *testing.T) {
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}}), host.SessionOptions{ID: "the-session"})
	var turns []string
	for range 2 {
		_, events := one(t, s, "Echo", `{"s":"x"}`)
		first, end := events[0], events[len(events)-1]
		if first.Kind != host.EventTurn || end.Kind != host.EventTurnEnded {
			t.Errorf("the turn begins with %s and ends with %s", first.Kind, end.Kind)
		}
		for _, e := range events {
			if e.Session != "the-session" || e.Turn != first.Turn || e.Turn == "" || e.Parent != "" || e.Depth != 0 || e.Time.IsZero() {
				t.Errorf("%s happened at %q, %q, %q, %d", e.Kind, e.Session, e.Turn, e.Parent, e.Depth)
			}
		}
		turns = append(turns, first.Turn)
	}
	if turns[0] == turns[1] {
		t.Error("two turns have one name")
	}
}

// TestStreamWaitsForTheTurnBefore adds calls to a stream while another one is open.
func TestStreamWaitsForTheTurnBefore(t *testing.T) {
	var order ran
	note := does("Note", func(_ context.Context, c *host.Call) (string, error) {
		order.note(c)
		return field(c, "s"), nil
	})
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{note}}), host.SessionOptions{})
	first, second := s.Stream(t.Context()), s.Stream(t.Context())
	heard1, heard2 := listen(t, first.Events()), listen(t, second.Events())
	must(t, second.Add(use("2", "Note", `{"s":"b"}`)))
	must(t, second.Add(use("3", "Note", `{"s":"c"}`)))
	second.Close()
	must(t, first.Add(use("1", "Note", `{"s":"a"}`)))
	heard1.await(host.EventResult, "1")
	if events := heard2.now(); len(events) > 0 {
		t.Errorf("the second turn began while the first was open: %v", events)
	}
	first.Close()
	heard1.all()
	results := of(heard2.all(), host.EventResult)
	if len(results) != 2 || results[0].CallID != "2" || results[1].CallID != "3" {
		t.Fatalf("the second turn has the results %+v", results)
	}
	if order.inputs[0] != `{"s":"a"}` || len(order.inputs) != 3 {
		t.Errorf("the calls ran as %v", order.inputs)
	}
}

// TestStreamTakesNoMore adds calls too late.
func TestStreamTakesNoMore(t *testing.T) {
	ends := map[string]func(st *host.Stream, cancel context.CancelFunc){
		"close":            func(st *host.Stream, _ context.CancelFunc) { st.Close(); st.Close() },
		"discard":          func(st *host.Stream, _ context.CancelFunc) { st.Discard() },
		"the context ends": func(_ *host.Stream, cancel context.CancelFunc) { cancel() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := session(t, open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}}), host.SessionOptions{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			st := s.Stream(ctx)
			h := listen(t, st.Events())
			end(st, cancel)
			if err := st.Add(use("1", "Echo", `{"s":"x"}`)); !errors.Is(err, host.ErrStreamClosed) {
				t.Errorf("a call was taken: %v", err)
			}
			if events := h.all(); len(of(events, host.EventQueued)) > 0 {
				t.Errorf("got %v", events)
			}
			if r, _ := one(t, s, "Echo", `{"s":"still here"}`); r.Text() != "still here" {
				t.Errorf("the next turn answers %q", r.Text())
			}
		})
	}
}

// TestStreamReaderLeaves breaks out of the loop in the middle of a call.
func TestStreamReaderLeaves(t *testing.T) {
	b := newBarrier()
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Wait", func(ctx context.Context, _ *host.Call) (string, error) { return "", b.wait(ctx) }), echo("Echo"),
	}}), host.SessionOptions{})
	st := s.Stream(t.Context())
	must(t, st.Add(use("1", "Wait", `{}`)))
	for e := range st.Events() {
		if e.Kind == host.EventStarted {
			break
		}
	}
	// The loop ended with the call, though nobody opened the barrier.
	if err := st.Add(use("2", "Wait", `{}`)); !errors.Is(err, host.ErrStreamClosed) {
		t.Errorf("a call was taken after the reader left: %v", err)
	}
	if r, _ := one(t, s, "Echo", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("the next turn answers %q", r.Text())
	}
}

// TestStreamReaderPanics has a panic of the reader's pass, and the session go on.
func TestStreamReaderPanics(t *testing.T) {
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}}), host.SessionOptions{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		for range s.Run(t.Context(), []abi.ToolUse{use("1", "Echo", `{"s":"x"}`)}) {
			panic("the reader's")
		}
	}()
	if r, _ := one(t, s, "Echo", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("the next turn answers %q", r.Text())
	}
}

// TestUnknownToolFailsAtOnce has a call of a tool that there is not wait for none
// before it, but for its place among the results.
func TestUnknownToolFailsAtOnce(t *testing.T) {
	b := newBarrier()
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Slow", func(ctx context.Context, _ *host.Call) (string, error) { return "slow", b.wait(ctx) }, alone),
	}}), host.SessionOptions{})
	st := s.Stream(t.Context())
	h := listen(t, st.Events())
	must(t, st.Add(use("1", "Slow", `{}`)))
	must(t, st.Add(use("2", "Nope", `{}`)))
	st.Close()
	if e := h.await(host.EventFinished, "2"); e.Result.Error == nil || e.Result.Error.Code != abi.CodeUnknownTool {
		t.Errorf("got %+v", e.Result)
	}
	b.lift()
	results := of(h.all(), host.EventResult)
	if len(results) != 2 || results[0].CallID != "1" || results[1].CallID != "2" {
		t.Errorf("the results left as %+v", results)
	}
}

// TestUnknownToolSplitsNoBatch has two reads around a call of a tool that there is
// not run side by side.
func TestUnknownToolSplitsNoBatch(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{
		does("Meet", func(context.Context, *host.Call) (string, error) { both.Done(); both.Wait(); return "met", nil }),
	}}), host.SessionOptions{})
	results, _ := turnOf(t, s, use("1", "Meet", `{}`), use("2", "Nope", `{}`), use("3", "Meet", `{}`))
	if results[0].Text() != "met" || results[2].Text() != "met" {
		t.Errorf("got %+v", results)
	}
}

// TestDiscard voids a message in the middle of its calls: one is done, one runs, one
// waits.
func TestDiscard(t *testing.T) {
	root := files(t, nil)
	b := newBarrier()
	var waited atomic.Bool
	writes := &ran{}
	h := open(t, host.Options{
		Tools: []host.NativeTool{
			writes.put(), echo("Echo"),
			does("Wait", func(ctx context.Context, _ *host.Call) (string, error) {
				err := b.wait(ctx)
				waited.Store(true)
				return "", err
			}, alone),
		},
		Permissions: host.PermissionOptions{Rules: rules("", "", "Put")},
	})
	s := session(t, h, host.SessionOptions{Cwd: root})
	st := s.Stream(t.Context())
	hd := listen(t, st.Events())
	must(t, st.Add(use("0", "Echo", `{"s":"left"}`)))
	hd.await(host.EventResult, "0")
	must(t, st.Add(use("1", "Wait", `{}`)))
	must(t, st.Add(use("2", "Put", `{"path":"never","text":"x"}`)))
	arrives(t, "the first call", b.reached)
	st.Discard()
	events := hd.all()
	if !waited.Load() {
		t.Error("the call that ran was not ended")
	}
	if got := resultsOf(events); len(got) != 1 || got["0"].IsError {
		t.Errorf("the results that left are %+v", got)
	}
	discarded := of(events, host.EventDiscarded)
	if len(discarded) != 2 || discarded[0].CallID != "1" || discarded[1].CallID != "2" {
		t.Fatalf("discarded are %+v", discarded)
	}
	if len(discarded[1].Effects) != 0 || writes.count() != 0 || exists(filepath.Join(root, "never")) {
		t.Errorf("the call that had not begun did %v", discarded[1].Effects)
	}
	if end := events[len(events)-1]; end.Kind != host.EventTurnEnded {
		t.Errorf("the turn ends with %s", end.Kind)
	}
	if r, _ := one(t, s, "Echo", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("the next turn answers %q", r.Text())
	}
}

// TestDiscardTellsWhatWasDone discards a turn whose first call has no result yet, and
// whose others have done something by then.
func TestDiscardTellsWhatWasDone(t *testing.T) {
	root := files(t, nil)
	target := filepath.Join(root, "x")
	b := newBarrier()
	native := &testCapability{accesses: []permissions.Access{path(permissions.AccessWrite, target)}}
	s := session(t, open(t, host.Options{
		Tools: []host.NativeTool{
			does("Wait", func(ctx context.Context, _ *host.Call) (string, error) { return "", b.wait(ctx) }),
			safely(putLocked(&ran{}, "Put")),
		},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+"concurrency_safe = true\n"+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{native},
		Permissions:  host.PermissionOptions{Rules: rules("", "", "Put | Fixture | Edit("+root+"/**)")},
	}), host.SessionOptions{Cwd: root, Mode: permissions.ModeAcceptEdits})
	st := s.Stream(t.Context())
	hd := listen(t, st.Events())
	must(t, st.Add(use("1", "Wait", `{}`)))
	must(t, st.Add(use("2", "Fixture", `{}`)))
	must(t, st.Add(use("3", "Put", `{"path":"y","text":"written"}`)))
	hd.await(host.EventFinished, "2")
	hd.await(host.EventFinished, "3")
	st.Discard()
	got := make(map[string][]permissions.Access)
	for _, e := range of(hd.all(), host.EventDiscarded) {
		got[e.CallID] = e.Effects
	}
	want := map[string][]permissions.Access{
		"1": nil,
		"2": {path(permissions.AccessWrite, target)},
		"3": {path(permissions.AccessWrite, filepath.Join(root, "y"))},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the calls did %v, want %v", got, want)
	}
}

// TestResultsWaitForASlowReader bounds the memory of results that nobody reads.
func TestResultsWaitForASlowReader(t *testing.T) {
	const calls, size, most = 40, 1 << 20, 8 << 20
	var began atomic.Int32
	s := session(t, open(t, host.Options{
		Limits:  host.LimitOptions{MaxHeldResults: most},
		Results: unbounded(),
		Tools: []host.NativeTool{does("Big", func(context.Context, *host.Call) (string, error) {
			began.Add(1)
			return strings.Repeat("x", size), nil
		})},
	}), host.SessionOptions{})
	st := s.Stream(t.Context())
	next, stop := iter.Pull(st.Events())
	defer stop()
	for i := range calls {
		must(t, st.Add(use(strconv.Itoa(i), "Big", `{}`)))
	}
	st.Close()
	settled := began.Load()
	for last := int32(-1); last != settled; settled = began.Load() {
		last = settled
		time.Sleep(50 * time.Millisecond)
	}
	// Half of it may lie unread, half be held by calls that wait, and as many calls
	// as run at once may have begun before their results counted.
	if limit := int32(2*most/size + 10); settled > limit {
		t.Errorf("%d calls began before anything was read, over %d", settled, limit)
	}
	results := 0
	for e, ok := next(); ok; e, ok = next() {
		if e.Kind == host.EventResult {
			results++
		}
	}
	if results != calls || began.Load() != calls {
		t.Errorf("%d results of %d calls", results, began.Load())
	}
}

func unbounded() results.Options {
	return results.Options{MaxChars: results.Unlimited, MaxTurnChars: results.Unlimited}
}
