package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/results"
)

// after is a hook behind the calls of a tool that shows.
func after(tb testing.TB, answer func(shown []abi.Block) hooks.Output) *hooks.Set {
	tb.Helper()
	return hookSet(tb, hooks.Hook{Event: hooks.PostToolUse, Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
		if in.Tool != "Show" {
			return hooks.Output{}, nil
		}
		return answer(in.Result.Content), nil
	}})
}

// long is more than a preview shows, in lines that are each another.
func long() string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "line %d of many\n", i)
	}
	return b.String()
}

// shows calls a tool that shows a file.
func shows(tb testing.TB, s *host.Session, path string) string {
	tb.Helper()
	r, _ := one(tb, s, "Show", edit{Path: path}.input())
	return r.Text()
}

// TestShownOnceItHasLeft has files count as read once the result that shows them has
// left for the model, all of it: else a write stands on what nobody has seen, and
// asking again is answered with a word about what never came.
func TestShownOnceItHasLeft(t *testing.T) {
	t.Parallel()
	replaces := func(by func([]abi.Block) []abi.Block) func(testing.TB) host.Options {
		return func(tb testing.TB) host.Options {
			tb.Helper()
			return host.Options{Permissions: host.PermissionOptions{Hooks: after(tb, func(b []abi.Block) hooks.Output { return hooks.Output{UpdatedOutput: by(b)} })}}
		}
	}
	limited := func(o results.Options) func(testing.TB) host.Options {
		return func(testing.TB) host.Options { return host.Options{Results: o} }
	}
	storing := func(o results.Options) func(testing.TB) host.Options {
		return func(tb testing.TB) host.Options {
			tb.Helper()
			k := kept(tb)
			k.Results = o
			return k
		}
	}
	tight := results.Options{Tools: map[string]results.ToolOptions{"Show": {MaxChars: 3_000}}}
	turn := results.Options{MaxTurnChars: 4_000}
	for name, c := range map[string]struct {
		then    string
		options func(testing.TB) host.Options
		shown   bool
	}{
		"it leaves":       {shown: true},
		"the tool fails":  {then: "fail"},
		"the tool breaks": {then: "break"},
		"its time is up": {then: "wait", options: func(testing.TB) host.Options {
			return host.Options{Limits: host.LimitOptions{CallTimeout: 50 * time.Millisecond}}
		}},
		"a hook replaces it":        {options: replaces(func([]abi.Block) []abi.Block { return []abi.Block{abi.TextBlock("taken out")} })},
		"a hook takes a part out":   {options: replaces(func(b []abi.Block) []abi.Block { return []abi.Block{abi.TextBlock(b[0].Text[10:])} })},
		"a hook adds to it":         {options: replaces(func(b []abi.Block) []abi.Block { return append(b, abi.TextBlock("more")) }), shown: true},
		"it is cut":                 {options: limited(tight)},
		"it is put into a file":     {options: storing(tight)},
		"the turn's is cut":         {options: limited(turn)},
		"the turn's goes to a file": {options: storing(turn)},
		"a hook says something": {options: func(tb testing.TB) host.Options {
			tb.Helper()
			return host.Options{Permissions: host.PermissionOptions{Hooks: after(tb, func([]abi.Block) hooks.Output { return hooks.Output{Context: "fine"} })}}
		}, shown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := settledFiles(t, map[string]string{"a.txt": long()}), host.Options{}
			if c.options != nil {
				o = c.options(t)
			}
			s := session(t, editing(t, o), host.SessionOptions{Cwd: dir, Asker: &questions{}})
			first, _ := one(t, s, "Show", edit{Path: "a.txt", Then: c.then}.input())
			if got := shows(t, s, "a.txt"); strings.HasPrefix(got, "unchanged") != c.shown {
				t.Errorf("first it said %.40q, then %.40q", first.Text(), got)
			}
			if c.then != "" { // which another call has shown by now
				s = session(t, editing(t, o), host.SessionOptions{Cwd: dir, Asker: &questions{}})
				one(t, s, "Show", edit{Path: "a.txt", Then: c.then}.input())
			}
			var r abi.ToolResult
			soon(t, "an answer in the time of a call", func() bool { // which a busy machine may need for itself
				r, _ = one(t, s, "Alter", edit{Path: "a.txt", Old: "line 7 of", New: "7 of"}.input())
				return r.Error == nil || r.Error.Code != abi.CodeTimeout
			})
			if !c.shown {
				wantError(t, r, abi.CodeNotRead)
			} else if r.IsError {
				t.Error(r.Text())
			}
		})
	}
}

// TestShownToNobody ends turns from outside, after the tool has read the file.
func TestShownToNobody(t *testing.T) {
	t.Parallel()
	input := edit{Path: "a.txt"}.input()
	waits := edit{Path: "a.txt", Then: "wait"}.input()
	for name, c := range map[string]struct {
		input string
		end   func(*host.Stream, host.Event) bool // reports whether to go on
		shown bool
	}{
		"it is interrupted": {input: waits, end: func(st *host.Stream, e host.Event) bool {
			if e.Kind == host.EventCapability {
				st.Interrupt()
			}
			return true
		}},
		"it is discarded": {input: input, end: func(st *host.Stream, e host.Event) bool {
			if e.Kind == host.EventResult {
				st.Discard()
			}
			return true
		}},
		"the reader leaves before":   {input: input, end: func(_ *host.Stream, e host.Event) bool { return e.Kind != host.EventFinished }},
		"the reader leaves with it":  {input: input, end: func(_ *host.Stream, e host.Event) bool { return e.Kind != host.EventResult }, shown: true},
		"the reader stays until end": {input: input, end: func(*host.Stream, host.Event) bool { return true }, shown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
			s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: dir, Asker: &questions{}})
			st := s.Stream(t.Context())
			must(t, st.Add(use("c1", "Show", c.input)))
			for e := range st.Events() {
				if !c.end(st, e) {
					break
				}
				if e.Kind == host.EventResult && e.Index == 0 {
					st.Close() // after which the turn may end at once
				}
			}
			r, _ := one(t, s, "Alter", edit{Path: "a.txt", New: "1\n", Whole: true}.input())
			if !c.shown {
				wantError(t, r, abi.CodeNotRead)
			} else if r.IsError {
				t.Error(r.Text())
			}
		})
	}
}

// TestShownInOneTurn lets a call build on the results of those before it, as the model
// did that wrote them, and knows no more in the next turn than has arrived.
func TestShownInOneTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most  int
		known bool
	}{
		"all of it arrives":    {results.Unlimited, true},
		"what was read is cut": {4_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := settledFiles(t, map[string]string{"a.txt": long(), "b.txt": "b\n"})
			o := host.Options{Results: results.Options{MaxTurnChars: c.most}}
			s := session(t, editing(t, o), host.SessionOptions{Cwd: dir, Asker: &questions{}})
			got, _ := turnOf(t, s,
				use("1", "Show", `{"path":"a.txt"}`), use("2", "Show", `{"path":"b.txt"}`),
				use("3", "Alter", edit{Path: "a.txt", Old: "line 7 of", New: "7 of"}.input()),
				use("4", "Alter", edit{Path: "a.txt", Old: "line 8 of", New: "8 of"}.input()),
				use("5", "Alter", edit{Path: "b.txt", Old: "b", New: "B"}.input()))
			for _, r := range got {
				if r.IsError {
					t.Errorf("%s: %s", r.ToolUseID, r.Text())
				}
			}
			r, _ := one(t, s, "Alter", edit{Path: "b.txt", Old: "B", New: "b"}.input())
			if r.IsError {
				t.Errorf("what was shown whole: %s", r.Text())
			}
			r, _ = one(t, s, "Alter", edit{Path: "a.txt", Old: "line 9 of", New: "9 of"}.input())
			if !c.known {
				wantError(t, r, abi.CodeNotRead)
			} else if r.IsError {
				t.Error(r.Text())
			}
		})
	}
}

// TestReferredToIsShown takes a file for read whose result is a word about another that
// was the same: it would never be shown otherwise.
func TestReferredToIsShown(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": long(), "b.txt": long()})
	o := kept(t)
	o.Results.Duplicates = true
	s := session(t, editing(t, o), host.SessionOptions{Cwd: dir, Asker: &questions{}})
	shows(t, s, "a.txt")
	_, events := turnOf(t, s, use("other", "Show", `{"path":"b.txt"}`))
	if n := len(of(events, host.EventReplaced)); n != 1 {
		t.Fatalf("%d results were replaced", n)
	}
	if r, _ := one(t, s, "Alter", edit{Path: "b.txt", New: "1\n", Whole: true}.input()); r.IsError {
		t.Error(r.Text())
	}
}

// TestWrittenWhateverComes knows what a call wrote, though its result never came: the
// disk has the model's own words.
func TestWrittenWhateverComes(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\ntwo\n"})
	s := session(t, editing(t, host.Options{}), host.SessionOptions{Cwd: dir, Asker: &questions{}})
	shows(t, s, "a.txt")
	for i, then := range []string{"fail", "break", ""} {
		r, _ := one(t, s, "Alter", edit{Path: "a.txt", New: fmt.Sprintf("the %d\n", i), Whole: true, Then: then}.input())
		if r.IsError != (then != "") || strings.Contains(r.Text(), "changed since") {
			t.Errorf("%q: %s", then, r.Text())
		}
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != "the 2\n" {
		t.Errorf("it says %q", text)
	}
}
