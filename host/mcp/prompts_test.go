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
	t.Helper()
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
			text := says("TaskList", `{}`)
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
	c := scheduling(t, clock, t.TempDir()).pipe(nil, revisions[0])
	gives(t, c, "CronCreate", `{"cron":"* * * * *","prompt":"look at it"}`, `"humanSchedule":"Every minute"`)
	clock.Advance(4 * time.Minute)
	text := textOf(result(t, c, "TaskList", `{}`))
	if n := strings.Count(text, "look at it"); n != 1 || !strings.Contains(text, " came due at 2026-06-01T12:01:00") {
		t.Errorf("it comes %d times: %q", n, text)
	}
}

// A durable prompt that is due goes to the client that makes the next call, whichever scheduled it.
func TestDuePromptOfAnother(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), noonClock()
	first, second := scheduling(t, clock, dir).pipe(nil, revisions[0]), scheduling(t, clock, dir).pipe(nil, revisions[0])
	gives(t, first, "CronCreate", `{"cron":"* * * * *","prompt":"look at it","durable":true}`, `"durable":true`)
	clock.Advance(time.Minute)
	if text := textOf(result(t, second, "TaskList", `{}`)); !strings.Contains(text, " came due at 2026-06-01T12:01:00") {
		t.Errorf("the result is %q", text)
	}
	if text := textOf(result(t, first, "TaskList", `{}`)); strings.Contains(text, "look at it") {
		t.Errorf("it comes to both: %q", text)
	}
}

// TestManyDuePrompts: what has no place behind a result stands behind the next one.
func TestManyDuePrompts(t *testing.T) {
	t.Parallel()
	clock := noonClock()
	c := scheduling(t, clock, t.TempDir()).pipe(nil, revisions[0])
	const jobs = 5
	for range jobs {
		gives(t, c, "CronCreate", `{"cron":"* * * * *","recurring":false,"prompt":"`+strings.Repeat("x", 20_000)+`"}`, `"recurring":false`)
	}
	clock.Advance(time.Minute)
	for _, want := range []int{2, 2, 1, 0} {
		if text := textOf(result(t, c, "TaskList", `{}`)); strings.Count(text, " came due at ") != want {
			t.Errorf("%d stand behind a result, want %d", strings.Count(text, " came due at "), want)
		}
	}
}
