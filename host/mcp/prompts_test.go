package mcp_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// setClock is a clock that stands until it is set.
type setClock struct{ seconds atomic.Int64 }

func noonClock() *setClock {
	c := new(setClock)
	c.seconds.Store(time.Date(2026, 6, 1, 12, 0, 0, 0, time.Local).Unix())
	return c
}

func (c *setClock) Now() time.Time          { return time.Unix(c.seconds.Load(), 0) }
func (c *setClock) Advance(d time.Duration) { c.seconds.Add(int64(d / time.Second)) }

// scheduling serves a host with a clock, in whose sessions nobody is asked.
func scheduling(t *testing.T, clock *setClock, dir string, more ...func(*mcp.Options, *host.Options)) *served {
	var s *served
	s = serve(t, func(m *mcp.Options, o *host.Options) {
		o.Plugins.Clock, o.Storage.Cron, o.Paths.Project = clock.Now, filepath.Join(dir, "cron"), "/project"
		m.Open = func(_ context.Context, c mcp.Client) (*host.Session, error) {
			return s.host.NewSession(host.SessionOptions{Cwd: s.dir, Asker: c.Asker, Mode: permissions.ModeBypass, Prompts: true})
		}
		for _, change := range more {
			change(m, o)
		}
	})
	return s
}

// TestDuePrompts: what came due stands behind the next result of the session, once; the last of a
// recurring one says so.
func TestDuePrompts(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			clock := noonClock()
			c := w.connect(scheduling(t, clock, t.TempDir()), nil)
			gives(t, c, "CronCreate", `{"cron":"* * * * *","prompt":"look at it"}`, `"humanSchedule":"Every minute"`)
			clock.Advance(8 * 24 * time.Hour)
			says := func(tool, input string) string {
				r := result(t, c, tool, input)
				structured, _ := r.StructuredContent.(map[string]any)
				if text, _ := structured["text"].(string); strings.Contains(textOf(r), "look at it") != strings.Contains(text, "look at it") {
					t.Errorf("structured is %v", structured)
				}
				return textOf(r)
			}
			text := says("CronCreate", `{"cron":"0 0 * * *","prompt":"other"}`) // which has the clock looked at, too
			for end := time.Now().Add(testenv.Patience); !strings.Contains(text, "look at it") && time.Now().Before(end); {
				text = says("TaskList", `{}`)
			}
			if !strings.Contains(text, "[The prompt that you scheduled as c") || !strings.Contains(text, " came due at 2026-06-01T12:01:00") || !strings.Contains(text, ", for the last time:]\nlook at it") {
				t.Errorf("the result is %q", text)
			}
			if text = says("TaskList", `{}`); strings.Contains(text, "look at it") {
				t.Errorf("it comes twice: %q", text)
			}
		})
	}
}

// What comes due several times while a client makes no call stands behind its next result once.
func TestDuePromptsOfIdleClient(t *testing.T) {
	t.Parallel()
	clock := noonClock()
	var due atomic.Int32
	s := scheduling(t, clock, t.TempDir(), func(_ *mcp.Options, o *host.Options) {
		o.Observe.Events = func(e host.Event) {
			if e.Kind == host.EventCron {
				due.Add(1)
			}
		}
	})
	c, other := s.pipe(nil, revisions[0]), s.pipe(nil, revisions[0])
	gives(t, c, "CronCreate", `{"cron":"* * * * *","prompt":"look at it"}`, `"humanSchedule":"Every minute"`)
	const times = 4
	for n := range int32(times) {
		clock.Advance(time.Minute)
		result(t, other, "CronCreate", `{"cron":"0 0 * * *","prompt":"other"}`) // which has the clock looked at
		for end := time.Now().Add(testenv.Patience); due.Load() <= n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it did not come due")
			}
		}
	}
	text := ""
	for end := time.Now().Add(testenv.Patience); !strings.Contains(text, "look at it") && time.Now().Before(end); {
		text = textOf(result(t, c, "TaskList", `{}`))
	}
	if n := strings.Count(text, "look at it"); n != 1 || !strings.Contains(text, " came due at 2026-06-01T12:01:00") {
		t.Errorf("it comes %d times: %q", n, text)
	}
}

// A durable prompt that a client never got is told by the next server.
func TestDuePromptOfNobody(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), noonClock()
	first := scheduling(t, clock, dir)
	c := first.pipe(nil, revisions[0])
	gives(t, c, "CronCreate", `{"cron":"* * * * *","prompt":"look at it","durable":true}`, `"durable":true`)
	waits := func() bool { // for a result
		found, err := host.ReadScheduled(filepath.Join(dir, "cron"), "/project")
		if err != nil || len(found.Jobs) != 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		return found.Jobs[0].Next == ""
	}
	for got := true; got; { // it may leave with the result of this very call
		clock.Advance(time.Minute)
		got = strings.Contains(textOf(result(t, c, "CronCreate", `{"cron":"0 0 * * *","prompt":"other"}`)), "look at it")
	}
	for end := time.Now().Add(testenv.Patience); !waits(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come due")
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	second := scheduling(t, clock, dir).pipe(nil, revisions[0])
	text := ""
	for end := time.Now().Add(testenv.Patience); !strings.Contains(text, "look at it") && time.Now().Before(end); {
		text = textOf(result(t, second, "TaskList", `{}`))
	}
	if !strings.Contains(text, "came due at 2026-06-01T12:") {
		t.Errorf("the result is %q", text)
	}
}
