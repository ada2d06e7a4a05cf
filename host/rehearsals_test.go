package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// TestRehearsalIsLimited asks about a call without its preview where the guest does not
// come to its end in the time that a person may be kept waiting.
func TestRehearsalIsLimited(t *testing.T) {
	testenv.SkipUnlessThorough(t) // it keeps a processor busy for the two seconds of a rehearsal
	t.Parallel()
	o := host.Options{Plugins: host.PluginOptions{Sources: []plugins.Source{plugin(t, "spin", fixtureTool+`
[[tools.fields]]
name = "path"
kind = "path"
effect = "write"
[[capabilities]]
name = "fs.write"
reason = "to be tested"
`)}}}
	o.Plugins.Sources[0].Origin = plugins.OriginBuiltin // others are not rehearsed
	person := &questions{reply: host.AnswerDeny}
	h := open(t, o)
	s := session(t, h, host.SessionOptions{Cwd: t.TempDir(), Asker: person})
	testenv.InTime(t, host.MaxRehearsal+time.Second, func() time.Duration {
		began := time.Now()
		person.asked = nil
		result, _ := one(t, s, "Fixture", `{"path":"a"}`)
		wantError(t, result, abi.CodeDenied)
		took := time.Since(began)
		if took < host.MaxRehearsal || len(person.asked) == 0 || person.asked[0].Preview != "" {
			t.Errorf("asked %+v after %v", person.asked, took)
		}
		return took
	})
	if n := host.Rehearsing(h); n != 0 {
		t.Errorf("%d rehearsals go on", n)
	}
}

// TestRehearsalsAreFew has calls wait for those that are rehearsed before them, and be
// asked about without a preview where that takes too long.
func TestRehearsalsAreFew(t *testing.T) {
	t.Parallel()
	start := func(tb testing.TB, ctx context.Context) (*host.Host, chan host.Approval, chan abi.ToolResult) {
		tb.Helper()
		h, asked := editing(tb, host.Options{}), make(chan host.Approval, 1)
		s := session(tb, h, host.SessionOptions{Cwd: tb.TempDir(), Asker: asking(func(_ context.Context, a host.Approval) (host.Reply, error) {
			asked <- a
			return host.Reply{Answer: host.AnswerDeny}, nil
		})})
		end, came := host.Rehearse(h, host.MaxRehearsals), make(chan abi.ToolResult, 1)
		tb.Cleanup(end)
		go func() {
			came <- s.Results(ctx, []abi.ToolUse{use("c1", "Alter", edit{Path: "new", New: "text\n", Whole: true}.input())})[0]
		}()
		return h, asked, came
	}
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		_, asked, came := start(t, t.Context())
		if a := <-asked; a.Preview != "" || time.Since(began) < host.MaxRehearsal {
			t.Errorf("after %v it shows %q", time.Since(began), a.Preview)
		}
		<-came
	})
	t.Run("cancelled meanwhile", func(t *testing.T) {
		t.Parallel()
		testenv.InTime(t, host.MaxRehearsal/2, func() time.Duration {
			ctx, cancel := context.WithCancel(t.Context())
			_, asked, came := start(t, ctx)
			time.Sleep(10 * time.Millisecond)
			return testenv.Took(func() {
				cancel()
				wantError(t, <-came, abi.CodeCancelled)
				if len(asked) > 0 {
					t.Error("a person is asked all the same")
				}
			})
		})
	})
}

// TestRehearsalWaits rehearses a call as soon as others have made room.
func TestRehearsalWaits(t *testing.T) {
	t.Parallel()
	h, person := editing(t, host.Options{}), &questions{reply: host.AnswerDeny}
	s := session(t, h, host.SessionOptions{Cwd: t.TempDir(), Asker: person})
	end := host.Rehearse(h, host.MaxRehearsals)
	time.AfterFunc(20*time.Millisecond, end)
	one(t, s, "Alter", edit{Path: "new", New: "text\n", Whole: true}.input())
	if len(person.asked) != 1 || !strings.Contains(person.asked[0].Preview, "+text\n") || host.Rehearsing(h) != 0 {
		t.Errorf("asked %+v, %d rehearsals go on", person.asked, host.Rehearsing(h))
	}
}

// TestPreviewsAreBounded bounds what all open questions show together, and what one
// rehearsal keeps of what it writes.
func TestPreviewsAreBounded(t *testing.T) {
	t.Parallel()
	h, shown := editing(t, host.Options{}), 0
	person := &questions{reply: host.AnswerDeny, look: func() { shown = host.Previewed(h) }}
	s := session(t, h, host.SessionOptions{Cwd: t.TempDir(), Asker: person})
	ask := func() string {
		one(t, s, "Alter", edit{Path: "new", New: "text\n", Whole: true}.input())
		return person.asked[len(person.asked)-1].Preview
	}
	first := ask()
	if first == "" || shown != len(first) || host.Previewed(h) != 0 {
		t.Errorf("%q of %d bytes is shown, and %d bytes still are", first, shown, host.Previewed(h))
	}
	if !host.Preview(h, host.MaxPreviews-len(first)) || ask() != first {
		t.Error("there is room for it")
	}
	if !host.Preview(h, 1) || ask() != "" || host.Previewed(h) != host.MaxPreviews-len(first)+1 {
		t.Error("there is no room for it")
	}
}

// TestQuestionsHaveAnEnd has the log say of each question how it ended, also where
// nobody answered it.
func TestQuestionsHaveAnEnd(t *testing.T) {
	t.Parallel()
	const nobody = "deny approval nobody"
	for name, c := range map[string]struct {
		in   edit
		ask  func(ctx context.Context, s *host.Session, cancel func()) (host.Reply, error)
		ends string
		why  string
	}{
		"it is allowed": {ask: func(context.Context, *host.Session, func()) (host.Reply, error) {
			return host.Reply{Answer: host.AnswerAllow}, nil
		}, ends: "allow approval person"},
		"the call is cancelled": {ask: func(ctx context.Context, _ *host.Session, cancel func()) (host.Reply, error) {
			cancel()
			<-ctx.Done()
			return host.Reply{}, ctx.Err()
		}, ends: nobody, why: "cancelled"},
		"the session is closed": {ask: func(ctx context.Context, s *host.Session, _ func()) (host.Reply, error) {
			go func() { _ = s.Close(context.WithoutCancel(ctx)) }()
			<-ctx.Done()
			return host.Reply{}, ctx.Err()
		}, ends: nobody, why: "closed"},
		"it is left for later": {ask: func(context.Context, *host.Session, func()) (host.Reply, error) {
			return host.Reply{Answer: host.AnswerLater}, nil
		}, ends: nobody, why: "must approve this first"},
		"the input is written anew": {ask: func(context.Context, *host.Session, func()) (host.Reply, error) {
			return host.Reply{Answer: host.AnswerAllow, Input: []byte(`{"path":"other","whole":true,"new":"x"}`)}, nil
		}, ends: "deny approval person", why: "another input"},
		"it fails in its rehearsal": {in: edit{Path: "new", Old: "a", New: "b"}, ends: nobody, why: "rehearsal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			list := &logged{}
			var s *host.Session
			asker := asking(func(ctx context.Context, _ host.Approval) (host.Reply, error) {
				if c.ask == nil {
					return host.Reply{}, errors.New("it is asked")
				}
				return c.ask(ctx, s, cancel)
			})
			s = session(t, editing(t, host.Options{Observe: host.ObserveOptions{Decisions: list}}), host.SessionOptions{Cwd: t.TempDir(), Asker: asker})
			if c.in.Path == "" {
				c.in = edit{Path: "new", New: "text\n", Whole: true}
			}
			s.Results(ctx, []abi.ToolUse{use("c1", "Alter", c.in.input())})
			got := list.all()
			if len(got) < 2 || got[0] != "ask mode" || got[1] != c.ends {
				t.Fatalf("logged %q", got)
			}
			list.mu.Lock()
			defer list.mu.Unlock()
			end := list.entries[1]
			if !strings.Contains(end.Reason, c.why) || end.Call != "c1" || end.Verdict == permissions.Ask {
				t.Errorf("it ends with %+v", end)
			}
		})
	}
}
