package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

const (
	everyMinute = `{"cron":"* * * * *","prompt":"look"}`
	onceSoon    = `{"cron":"* * * * *","prompt":"once","recurring":false}`
)

// scheduling is a host with a clock, whose durable prompts lie in a directory.
func scheduling(t *testing.T, clock *setClock, dir string, more ...func(*host.Options)) *host.Host {
	t.Helper()
	o := host.Options{
		Builtins: true, Plugins: host.PluginOptions{Clock: clock.Now}, Paths: host.PathOptions{Project: "/project"},
		Storage: host.StorageOptions{Cron: filepath.Join(dir, "cron")},
	}
	for _, change := range more {
		change(&o)
	}
	return open(t, o)
}

// setClock is a clock that stands until it is set.
type setClock struct{ seconds atomic.Int64 }

func noonClock() *setClock {
	c := new(setClock)
	c.seconds.Store(time.Date(2026, 6, 1, 12, 0, 0, 0, time.Local).Unix())
	return c
}

func (c *setClock) Now() time.Time          { return time.Unix(c.seconds.Load(), 0) }
func (c *setClock) Advance(d time.Duration) { c.seconds.Add(int64(d / time.Second)) }

// What each mode says to changing the schedule; looking at it is free in all.
func TestCronInEveryMode(t *testing.T) {
	t.Parallel()
	h := scheduling(t, noonClock(), t.TempDir())
	for mode, want := range map[permissions.Mode]string{
		permissions.ModeDefault: "asked", permissions.ModeAcceptEdits: "asked", permissions.ModeAuto: "asked",
		permissions.ModePlan: "denied", permissions.ModeDontAsk: "needs_approval", permissions.ModeBypass: "done",
	} {
		asked := &asker{reply: host.Reply{Answer: host.AnswerAllow}}
		s := session(t, h, host.SessionOptions{Mode: mode, Asker: asked, Prompts: true})
		worked(t, s, [2]string{"CronList", "{}"})
		if asked.asked.Load() > 0 {
			t.Errorf("%s: a list asks", mode)
		}
		did := func(tool, input string) string {
			before := asked.asked.Load()
			r, _ := one(t, s, tool, input)
			switch {
			case r.IsError:
				return string(r.Error.Code)
			case asked.asked.Load() > before:
				return "asked"
			}
			return "done"
		}
		if got := did("CronCreate", everyMinute); got != want {
			t.Errorf("%s: CronCreate is %s, want %s", mode, got, want)
		}
		if err := s.SetMode(permissions.ModeBypass); err != nil {
			t.Fatal(err)
		}
		made, _ := one(t, s, "CronCreate", everyMinute)
		if err := s.SetMode(mode); err != nil {
			t.Fatal(err)
		}
		var ok struct{ ID string }
		if err := json.Unmarshal(made.Structured, &ok); err != nil {
			t.Fatal(err)
		}
		if got := did("CronDelete", fmt.Sprintf(`{"id":%q}`, ok.ID)); got != want {
			t.Errorf("%s: CronDelete is %s, want %s", mode, got, want)
		}
	}
}

// The person reads when it comes and what it says; what cannot be is refused before they are asked,
// and so is what nobody could be asked about.
func TestCronQuestion(t *testing.T) {
	t.Parallel()
	h := scheduling(t, noonClock(), t.TempDir())
	asked := &asker{reply: host.Reply{Answer: host.AnswerDeny}}
	s := session(t, h, host.SessionOptions{Asker: asked, Prompts: true})
	for _, bad := range []string{
		`{"cron":"61 * * * *","prompt":"x"}`, `{"cron":"0 0 30 2 *","prompt":"x"}`, `{"cron":"* * * * *","prompt":"\u001b[2J"}`, `{"cron":"@daily","prompt":"x"}`,
		`{"cron":"* * * * *","prompt":" "}`,
	} {
		if r, _ := one(t, s, "CronCreate", bad); !r.IsError || r.Error.Code != abi.CodeInvalidInput || asked.asked.Load() > 0 {
			t.Errorf("%s: %s, after %d questions", bad, r.Text(), asked.asked.Load())
		}
	}
	if r, _ := one(t, s, "CronDelete", `{"id":"cnothing1"}`); !r.IsError || r.Error.Code != abi.CodeNotFound || asked.asked.Load() > 0 {
		t.Errorf("an unknown job: %s", r.Text())
	}
	if r, _ := one(t, s, "CronCreate", `{"cron":"7 9 * * 1-5","prompt":"is it done?"}`); !r.IsError || r.Error.Code != abi.CodeDenied {
		t.Errorf("a no: %s", r.Text())
	}
	q := asked.last.Load()
	if q == nil || q.Capability != abi.CapSessionCron || !strings.HasPrefix(q.Preview, "At 09:07 on weekdays (7 9 * * 1-5), for 7 days, while this session runs\nnext: Tue 2026-06-02 09:07 ") || !strings.HasSuffix(q.Preview, "\n\nis it done?\n") {
		t.Errorf("asked was %+v", q)
	}
	headless := session(t, h, host.SessionOptions{Prompts: true})
	if r, _ := one(t, headless, "CronCreate", everyMinute); !r.IsError || r.Error.Code != abi.CodeNeedsApproval {
		t.Errorf("without a person: %s", r.Text())
	}
}

// bypassing is a session in which nobody is asked.
func bypassing(t *testing.T, h *host.Host, more ...func(*host.SessionOptions)) *host.Session {
	t.Helper()
	o := host.SessionOptions{Mode: permissions.ModeBypass, Prompts: true}
	for _, change := range more {
		change(&o)
	}
	return session(t, h, o)
}

// cronOffered reports whether a session offers a tool, and why not.
func cronOffered(t *testing.T, s *host.Session, name string) (bool, string) {
	t.Helper()
	tools, err := s.Tools(host.FormatAnthropic)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Name == name {
			if tool.NotOffered != nil {
				return false, tool.NotOffered.Error()
			}
			return true, ""
		}
	}
	return false, "there is none"
}

// An embedder works on what comes due, with turns of the session, and observers are told before.
func TestPrompts(t *testing.T) {
	t.Parallel()
	clock := noonClock()
	var told atomic.Int32
	h := scheduling(t, clock, t.TempDir(), func(o *host.Options) {
		o.Observe.Events = func(e host.Event) {
			if e.Kind == host.EventCron && e.Turn == "" && e.Session != "" && e.Agent == host.MainAgent && e.Cron.Prompt != "" {
				told.Add(1)
			}
		}
	})
	s := bypassing(t, h)
	worked(t, s, [2]string{"CronCreate", everyMinute}, [2]string{"CronCreate", onceSoon})
	clock.Advance(90 * time.Second)
	var got []string
	for p := range s.Prompts(t.Context()) {
		got = append(got, p.Prompt)
		if told.Load() != int32(len(got)) {
			t.Errorf("%d were told of %d", told.Load(), len(got))
		}
		if len(got) == 2 {
			break
		}
		worked(t, s, [2]string{"CronList", "{}"}) // a turn in the body
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "look once" {
		t.Errorf("got %q", got)
	}
	for p := range s.Prompts(t.Context()) { // the loop ended in that one's body
		if !p.Again {
			t.Errorf("%s does not come again", p.Prompt)
		}
		break
	}
}

// No prompt comes while a turn runs, and Prompts ends with its session.
func TestPromptsWait(t *testing.T) {
	t.Parallel()
	clock := noonClock()
	h := scheduling(t, clock, t.TempDir())
	s := bypassing(t, h)
	worked(t, s, [2]string{"CronCreate", everyMinute})
	clock.Advance(time.Hour)
	turn := s.Stream(t.Context())
	came := make(chan capability.DuePrompt)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p := range s.Prompts(context.Background()) {
			came <- p
		}
	}()
	if err := turn.Add(use("c1", "CronList", "{}")); err != nil {
		t.Fatal(err)
	}
	for e := range turn.Events() {
		if e.Kind == host.EventResult {
			select {
			case p := <-came:
				t.Errorf("%+v came during a turn", p)
			case <-time.After(20 * time.Millisecond): // a wrong one would come at once
			}
			turn.Close()
		}
	}
	if p := <-came; !p.Missed || !p.Due.Equal(time.Date(2026, 6, 1, 12, 1, 0, 0, time.Local)) {
		t.Errorf("it is %+v", p)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-ended
}

// Where nobody takes prompts, none can be scheduled; durable ones need a place, and the main agent.
func TestCronOffered(t *testing.T) {
	t.Parallel()
	h := scheduling(t, noonClock(), t.TempDir())
	none := bypassing(t, h, func(o *host.SessionOptions) { o.Prompts = false })
	for _, tool := range []string{"CronCreate", "CronDelete", "CronList"} {
		if is, why := cronOffered(t, none, tool); is || !strings.Contains(why, "nothing stays here") {
			t.Errorf("%s is offered: %t, %s", tool, is, why)
		}
		if is, why := cronOffered(t, bypassing(t, h), tool); !is {
			t.Errorf("%s is not offered: %s", tool, why)
		}
	}
	if r, _ := one(t, none, "CronCreate", everyMinute); !r.IsError || r.Error.Code != abi.CodeDisabled {
		t.Errorf("got %s", r.Text())
	}
	for range none.Prompts(t.Context()) {
		t.Error("a prompt came")
	}
	const durable = `{"cron":"* * * * *","prompt":"x","durable":true}`
	helper := bypassing(t, h, func(o *host.SessionOptions) { o.Caller.Agent = "helper" })
	if r, _ := one(t, helper, "CronCreate", durable); !r.IsError || !strings.Contains(r.Text(), "without durable") {
		t.Errorf("a helper's durable job: %s", r.Text())
	}
	nowhere := scheduling(t, noonClock(), t.TempDir(), func(o *host.Options) { o.Paths.Project = "" })
	if r, _ := one(t, bypassing(t, nowhere), "CronCreate", durable); !r.IsError || r.Error.Code != abi.CodeUnsupported {
		t.Errorf("a durable job of no project: %s", r.Text())
	}
	denied := scheduling(t, noonClock(), t.TempDir(), func(o *host.Options) {
		o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Deny: []permissions.RuleText{{Text: "CronCreate"}}}}
	})
	if r, _ := one(t, bypassing(t, denied), "CronCreate", everyMinute); !r.IsError || r.Error.Code != abi.CodeDenied {
		t.Errorf("a deny rule: %s", r.Text())
	}
}

// Prompts change no files, so that a session whose writes are staged has them.
func TestCronStaged(t *testing.T) {
	t.Parallel()
	h := scheduling(t, noonClock(), t.TempDir(), func(o *host.Options) { o.Storage.Sessions = t.TempDir() })
	s := bypassing(t, h, func(o *host.SessionOptions) { o.Stage = true })
	if said := worked(t, s, [2]string{"CronCreate", everyMinute}, [2]string{"CronList", "{}"}); !strings.Contains(said[1], "Every minute") {
		t.Errorf("listed is %q", said)
	}
}

// A durable prompt goes to the next host of the project, and a job of a session ends with it.
func TestCronSurvives(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), noonClock()
	h := scheduling(t, clock, dir)
	worked(t, bypassing(t, h), [2]string{"CronCreate", everyMinute}, [2]string{"CronCreate", `{"cron":"30 12 * * *","prompt":"durable","durable":true,"recurring":false}`})
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(24 * time.Hour)
	found, err := host.ReadScheduled(filepath.Join(dir, "cron"), "/project")
	if err != nil || len(found.Jobs) != 1 || found.Jobs[0].Prompt != "durable" {
		t.Errorf("%+v, %v", found, err)
	}
	for p := range bypassing(t, scheduling(t, clock, dir)).Prompts(t.Context()) {
		if p.Prompt != "durable" || !p.Missed || !p.Last || p.Due.Local().Format("15:04") != "12:30" {
			t.Errorf("it is %+v", p)
		}
		break
	}
	if _, err := host.DeleteScheduled(t.Context(), filepath.Join(dir, "cron"), "/project", "cnothing1"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("got %v", err)
	}
}
