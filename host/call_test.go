package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// called makes one call of its own, and returns its result.
func called(ctx context.Context, tb testing.TB, s *host.Session, tool, input string) (r abi.ToolResult) {
	tb.Helper()
	var last host.EventKind
	for e := range s.Call(ctx, use("1", tool, input)) {
		if last = e.Kind; e.Kind == host.EventResult {
			r = *e.Result
		}
	}
	if r.ToolUseID != "1" || last != host.EventTurnEnded {
		tb.Errorf("%+v, and last came %s", r, last)
	}
	return r
}

// held is a tool whose calls on a path wait until they are let go.
func held(begun chan<- string, let <-chan struct{}) host.NativeTool {
	t := appends(new(overlaps))
	t.Contract.Name = "Hold"
	t.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		begun <- field(c, "path")
		select {
		case <-let:
			return text("let"), nil
		case <-ctx.Done():
			return abi.ToolResult{}, context.Cause(ctx)
		}
	}
	return t
}

// TestCallsOfNoMessage has calls from several places at once.
func TestCallsOfNoMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun, let := make(chan string, 10), make(chan struct{})
	o := host.Options{Builtins: true, Tools: []host.NativeTool{held(begun, let), reads(new(overlaps)), echo("Alone", alone)}}
	o.Permissions.Rules = rules("", "", "Hold | Look | Alone | Edit | Read")
	h := open(t, o)
	s := session(t, h, host.SessionOptions{Cwd: dir})
	if err := os.WriteFile(filepath.Join(dir, "other"), []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { wantText(t, called(t.Context(), t, s, "Hold", `{"path":"a"}`), "let") })
	<-begun

	// What fails before its turn waits for nobody.
	wantError(t, called(t.Context(), t, s, "Read", `{"file_path":7}`), abi.CodeInvalidInput)

	// Beside it: what conflicts with nothing, each seeing what was before it.
	wantText(t, called(t.Context(), t, s, "Read", `{"file_path":"other"}`), "one")
	wantText(t, called(t.Context(), t, s, "Edit", `{"file_path":"other","old_string":"one","new_string":"two"}`), "Edited")
	wantText(t, called(t.Context(), t, s, "Look", `{"path":"other"}`), "two")

	// What conflicts waits, and ends with its own context alone.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r := called(ctx, t, s, "Look", `{"path":"a"}`); r.Error == nil || r.Error.Code != abi.CodeCancelled {
		t.Errorf("a call that had to wait: %+v", r)
	}
	behind := make(chan abi.ToolResult, 2)
	go func() { behind <- called(t.Context(), t, s, "Look", `{"path":"a"}`) }()
	go func() { behind <- turnResult(t, s) }()
	select {
	case r := <-behind:
		t.Errorf("it did not wait: %+v", r)
	case <-time.After(50 * time.Millisecond):
	}
	close(let)
	<-behind
	<-behind
}

// turnResult is the result of a turn, which waits for calls of no message.
func turnResult(t *testing.T, s *host.Session) abi.ToolResult {
	t.Helper()
	r, _ := one(t, s, "Alone", `{}`)
	return r
}

// TestSessionsShareLocks has sessions of one host keep out of each other's way.
func TestSessionsShareLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	under := new(overlaps)
	h := open(t, host.Options{Tools: []host.NativeTool{appends(under)}, Permissions: host.PermissionOptions{Rules: rules("", "", "Append")}})
	const sessions, each = 6, 10
	var all sync.WaitGroup
	for i := range sessions {
		s := session(t, h, host.SessionOptions{Cwd: dir})
		for j := range each {
			all.Go(func() {
				input := fmt.Sprintf(`{"path":"file","text":"<%d.%d>"}`, i, j)
				if j%2 == 0 {
					wantText(t, called(t.Context(), t, s, "Append", input), "appended")
					return
				}
				r, _ := one(t, s, "Append", input)
				wantText(t, r, "appended")
			})
		}
	}
	all.Wait()
	if got := contentOf(filepath.Join(dir, "file")); strings.Count(got, "<") != sessions*each || under.most.Load() != 1 {
		t.Errorf("%d ran at once, and the file holds %q", under.most.Load(), got)
	}
}

// TestCallsAtTheEnd closes a session under calls.
func TestCallsAtTheEnd(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 10)
	o := host.Options{Tools: []host.NativeTool{held(begun, nil)}}
	o.Permissions.Rules = rules("", "", "Hold")
	h := open(t, o)
	s := session(t, h, host.SessionOptions{Cwd: t.TempDir()})
	results := make(chan abi.ToolResult, 3)
	for range 3 {
		go func() { results <- called(t.Context(), t, s, "Hold", `{"path":"a"}`) }()
	}
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	for range 3 {
		if r := <-results; r.Error == nil || r.Error.Code != abi.CodeCancelled {
			t.Errorf("%+v", r)
		}
	}
	if r := called(t.Context(), t, s, "Hold", `{"path":"a"}`); r.Error == nil {
		t.Errorf("after the end: %+v", r)
	}
}

// TestEventsOfACall has a call of no message tell the same as a turn of one call.
func TestEventsOfACall(t *testing.T) {
	t.Parallel()
	o := &observed{}
	h := open(t, host.Options{
		Observe: host.ObserveOptions{Events: o.see},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{&testCapability{}},
	})
	s := session(t, h, host.SessionOptions{})
	want := inShort(slices.Collect(s.Run(t.Context(), []abi.ToolUse{use("1", "Fixture", `{}`)})))
	o.turns = nil
	if got := inShort(slices.Collect(s.Call(t.Context(), use("1", "Fixture", `{}`)))); got != want {
		t.Errorf("read were %s, not %s", got, want)
	}
	for _, events := range o.turns {
		if got := inShort(events); got != want {
			t.Errorf("observed were %s, not %s", got, want)
		}
	}
	if len(o.turns) != 1 {
		t.Errorf("events of %d turns", len(o.turns))
	}
}
