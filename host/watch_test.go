package host_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// news are the changes of tools that an embedder is told of.
type news chan host.ToolsChange

func (n news) observe(e host.Event) {
	if e.Kind == host.EventTools {
		n <- *e.Tools
	}
}

// want waits for changes that come to one in the end. Files are not written in one
// step, so that a plugin may be seen to break on the way.
func (n news) want(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(testenv.Patience)
	for !ok() {
		select {
		case <-n:
		case <-deadline:
			t.Fatalf("no word of it: %s", what)
		}
	}
}

// next is one change.
func (n news) next(t *testing.T, want host.ToolsChange) {
	t.Helper()
	select {
	case got := <-n:
		if !reflect.DeepEqual(got, want) {
			t.Errorf("told of %+v; want %+v", got, want)
		}
	case <-time.After(testenv.Patience):
		t.Fatalf("never told of %+v", want)
	}
}

func TestReloadTellsOfTools(t *testing.T) {
	t.Parallel()
	dir, told := t.TempDir(), make(news, 100)
	h, _ := reloadable(t, dir, func(o *host.Options) { o.Observe.Events = told.observe })
	reload := func() {
		t.Helper()
		if _, err := h.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reload()
	putPlugin(t, dir, "Show", "ok", "")
	reload()
	told.next(t, host.ToolsChange{Added: []string{"Show"}})
	reload()
	putPlugin(t, dir, "Show", "counter", "[[tools]]\nname = \"Also\"\ninput_schema = '{\"type\":\"object\"}'\n")
	reload()
	told.next(t, host.ToolsChange{Added: []string{"Also"}, Changed: []string{"Show"}})
	putPlugin(t, dir, "Show", "ok", "[[capabilities]]\nname = \"fs.read\"\nreason = \"to read\"\n")
	reload()
	told.next(t, host.ToolsChange{Removed: []string{"Also", "Show"}}) // nobody has granted it anything
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	reload()
	if len(told) != 0 {
		t.Errorf("told of %+v", <-told)
	}
}

// Plugins come, change and go in a directory that is not there at first, and each
// session follows.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir, told := filepath.Join(t.TempDir(), "config", "plugins"), make(news, 1000)
	h, s := reloadable(t, dir, func(o *host.Options) { o.Observe.Events = told.observe })
	defer h.Follow(t.Context())()
	answers := func(want string) func() bool {
		return func() bool {
			r := callOnce(t.Context(), t, s, "Show")
			return r.Text() == want
		}
	}
	putPlugin(t, dir, "Show", "ok", "")
	told.want(t, "a plugin came", answers("ok"))
	putPlugin(t, dir, "Show", "counter", "")
	told.want(t, "its module changed", answers("1"))
	putPlugin(t, dir, "Newer", "counter", "")
	told.want(t, "its manifest changed", func() bool { return strings.Contains(definitions(t, s, host.FormatMCP), "Newer") })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	told.want(t, "it went", func() bool { return definitions(t, s, host.FormatMCP) == "[]" })
	putPlugin(t, dir, "Show", "ok", "")
	told.want(t, "it came again", answers("ok"))
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	dir, told := t.TempDir(), make(news, 100)
	h, _ := reloadable(t, dir, func(o *host.Options) { o.Observe.Events = told.observe })
	ctx, cancel := context.WithCancel(t.Context())
	byContext, byHand, byHost := h.Follow(ctx), h.Follow(t.Context()), h.Follow(t.Context())
	cancel()
	byContext()
	byHand()
	byHand() // again
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	byHost()
	h.Follow(t.Context())() // of a host that was closed
	putPlugin(t, dir, "Show", "ok", "")
	time.Sleep(600 * time.Millisecond)
	if len(told) != 0 {
		t.Errorf("told of %+v after the end", <-told)
	}
}

// waiting is a capability whose answer is held back.
type waiting struct {
	entered chan struct{}
	release chan struct{}
}

func (w *waiting) Names() []string { return []string{"test.echo"} }

func (w *waiting) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	plan, err := (&testCapability{}).Plan(ctx, scope, req)
	return heldPlan{plan, w}, err
}

type heldPlan struct {
	capability.Plan
	*waiting
}

func (p heldPlan) Do(ctx context.Context, judge capability.Judge) (abi.Answer, error) {
	p.entered <- struct{}{}
	<-p.release
	return p.Plan.Do(ctx, judge)
}

// A plugin is replaced while a call of it runs, by one that asks for a consent of
// its own: the call ends as it began, the next turn has the new one, and may use it
// once somebody has consented.
func TestPluginReplacedInMidCall(t *testing.T) {
	t.Parallel()
	dir, told := t.TempDir(), make(news, 100)
	consents := filepath.Join(t.TempDir(), "state", "consents.json")
	w := &waiting{entered: make(chan struct{}), release: make(chan struct{})}
	const asks = "summary = \"%\"\n" + fixtureCapability
	putPlugin(t, dir, "Show", "pass_through", strings.Replace(asks, "%", "older", 1))
	consent := func(h *host.Host) {
		t.Helper()
		list, err := plugins.OpenGrants(consents) // as another process would
		if err == nil {
			err = list.Add(h.Plugins().Plugins()[0], time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	h, s := reloadable(t, dir, func(o *host.Options) {
		o.Observe.Events, o.Capabilities, o.Plugins.GrantsFile = told.observe, []capability.Capability{w}, consents
	})
	defer h.Follow(t.Context())()
	offers := func(what string) func() bool {
		return func() bool { return strings.Contains(definitions(t, s, host.FormatMCP), what) }
	}
	consent(h)
	told.want(t, "somebody consented", offers("older"))

	var running sync.WaitGroup
	running.Go(func() {
		results := s.Results(t.Context(), []abi.ToolUse{use("1", "Show", "{}")})
		if got := results[0].Text(); got != "done" {
			t.Errorf("the call that was under way: got %q", got)
		}
	})
	<-w.entered
	putPlugin(t, dir, "Show", "ok", strings.Replace(asks, "%", "newer", 1))
	told.want(t, "it was replaced", func() bool { return !offers("older")() })
	if _, err := h.Reload(t.Context()); err != nil { // perhaps only a part of it was there
		t.Error(err)
	}
	close(w.release)
	running.Wait()
	if r := callOnce(t.Context(), t, s, "Show"); r.Error == nil || r.Error.Code != abi.CodeNotGranted {
		t.Errorf("before anybody has consented to the new one: %q, %v", r.Text(), r.Error)
	}
	consent(h)
	told.want(t, "somebody consented again", offers("newer"))
	if r := callOnce(t.Context(), t, s, "Show"); r.Text() != "ok" {
		t.Errorf("the new one: %q", r.Text())
	}
}

// Not parallel, as it counts goroutines.
func TestFollowLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "")
	h, _ := reloadable(t, dir, nil)
	h.Follow(t.Context())()
	before := runtime.NumGoroutine()
	for range 20 {
		stop := h.Follow(t.Context())
		putPlugin(t, dir, "Show", "counter", "")
		stop()
	}
	for deadline := time.Now().Add(testenv.Patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, and %d before", runtime.NumGoroutine(), before)
		}
	}
}
