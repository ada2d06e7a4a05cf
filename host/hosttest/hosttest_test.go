package hosttest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
)

// play has a session work for a model until a message has no calls.
func play(ctx context.Context, s *host.Session, m *hosttest.Model) (string, error) {
	var results []abi.ToolResult
	for {
		var calls []abi.ToolUse
		text, err := m.Reply(ctx, results, func(use abi.ToolUse) error { calls = append(calls, use); return nil })
		if err != nil || len(calls) == 0 {
			return text, err
		}
		results = s.Results(ctx, calls)
	}
}

// tool is a native tool that writes, and so is asked about.
var tool = host.NewTool(abi.Tool{
	Name: "Shout", Summary: "Shouts", InputSchema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
}, func(_ context.Context, in struct {
	Text string `json:"text"`
}) (string, error) {
	return strings.ToUpper(in.Text), nil
})

func session(t *testing.T, asker host.Asker) *host.Session {
	t.Helper()
	h, err := host.Open(t.Context(), host.Options{Tools: []host.NativeTool{tool}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Asker: asker})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shout(text string) hosttest.Call { return hosttest.Use("Shout", map[string]string{"text": text}) }

// TestConversation has answers by order, and wants of each kind.
func TestConversation(t *testing.T) {
	t.Parallel()
	asker := hosttest.NewAsker(hosttest.Allow(), hosttest.Deny("too loud"))
	model := hosttest.NewModel(
		hosttest.Say("", shout("hello").Succeeds("HELLO"), hosttest.Use("Nothing", struct{}{}).Fails(abi.CodeUnknownTool)),
		hosttest.Say("", shout("again").Fails(abi.CodeDenied, "too loud")),
		hosttest.Say("done"),
	)
	text, err := play(t.Context(), session(t, asker), model)
	if err := errors.Join(err, model.Err(), asker.Err()); err != nil || text != "done" {
		t.Errorf("%q, %v", text, err)
	}
	questions := asker.Questions()
	if len(questions) != 2 || questions[0].Tool != "Shout" || questions[1].Call != "call-3" {
		t.Errorf("asked: %+v", questions)
	}
}

// TestWhatGoesWrong has scripts that what happens does not follow.
func TestWhatGoesWrong(t *testing.T) {
	t.Parallel()
	end := hosttest.Say("")
	for name, test := range map[string]struct {
		model *hosttest.Model
		want  string
	}{
		"it failed":        {hosttest.NewModel(hosttest.Say("", hosttest.Use("Nothing", 1).Succeeds()), end), "turn 1, call 1, Nothing 1: it failed"},
		"it did not fail":  {hosttest.NewModel(hosttest.Say("", shout("x").Fails(abi.CodeDenied)), end), "did not fail with denied: X"},
		"another code":     {hosttest.NewModel(hosttest.Say("", hosttest.Use("Nothing", 1).Fails(abi.CodeDenied)), end), "failed with unknown_tool, want denied"},
		"another text":     {hosttest.NewModel(hosttest.Say("", shout("x").Succeeds("Y")), end), `"Y" is not in the result: X`},
		"too few turns":    {hosttest.NewModel(hosttest.Say("", shout("x"))), "asked for turn 2, and its script has 1"},
		"too many turns":   {hosttest.NewModel(end, end), "1 of 2 turns were played"},
		"a check of one's": {hosttest.NewModel(hosttest.Say("", hosttest.Call{Use: shout("x").Use, Want: func(*abi.ToolResult) error { return os.ErrInvalid }}), end), "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asker := hosttest.NewAskerFunc(func(context.Context, host.Question) (host.Reply, error) { return hosttest.Allow(), nil })
			_, played := play(t.Context(), session(t, asker), test.model)
			if err := test.model.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says %v after %v; want %s", err, played, test.want)
			}
			if err := asker.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestResults gives a model other results than those of its calls.
func TestResults(t *testing.T) {
	t.Parallel()
	for name, results := range map[string][]abi.ToolResult{"none": nil, "another's": {{ToolUseID: "call-2"}}} {
		m := hosttest.NewModel(hosttest.Say("", shout("x")), hosttest.Say(""))
		none := func(abi.ToolUse) error { return nil }
		if _, err := m.Reply(t.Context(), nil, none); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Reply(t.Context(), results, none); err == nil || m.Err() == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
}

// TestAnswers has more questions than answers, and more answers than questions.
func TestAnswers(t *testing.T) {
	t.Parallel()
	a := hosttest.NewAsker(hosttest.Allow())
	if err := a.Err(); err == nil || !strings.Contains(err.Error(), "1 answers were not needed") {
		t.Error(err)
	}
	if r, err := a.Ask(t.Context(), host.Question{}); err != nil || r.Answer != host.AnswerAllow || a.Err() != nil {
		t.Errorf("%v, %v, %v", r, err, a.Err())
	}
	fills := hosttest.NewAsker(hosttest.Fill(map[string]int{"n": 1}))
	if r, err := fills.Ask(t.Context(), host.Question{Kind: host.QuestionForm}); err != nil || string(r.Content) != `{"n":1}` || !fills.Carries(host.QuestionURL) {
		t.Errorf("%s, %v", r.Content, err)
	}
	if r := hosttest.Choose(map[string]any{"Which?": []string{"a", "b"}}); r.Answer != host.AnswerAllow || string(r.Content) != `{"answers":{"Which?":["a","b"]}}` {
		t.Errorf("%+v", r)
	}
	if r := hosttest.Accept(host.Accepted{Mode: "acceptEdits", Rules: []string{"Bash(make)"}}); r.Answer != host.AnswerAllow || string(r.Content) != `{"mode":"acceptEdits","rules":["Bash(make)"]}` {
		t.Errorf("%+v", r)
	}
	if _, err := a.Ask(t.Context(), host.Question{Tool: "Shout"}); err == nil || a.Err() == nil || !strings.Contains(a.Err().Error(), "question 2 has no answer: Shout") {
		t.Errorf("%v, %v", err, a.Err())
	}
}

// TestAfter has a call wait for its result before the next one is written, and a context
// end the wait.
func TestAfter(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	second := shout("two")
	second.After = ready
	m := hosttest.NewModel(hosttest.Say("", shout("one"), second), hosttest.Say("", second))
	var ids []string
	add := func(use abi.ToolUse) error {
		if ids = append(ids, use.ID); len(ids) == 1 {
			close(ready)
		}
		return nil
	}
	if _, err := m.Reply(t.Context(), nil, add); err != nil || len(ids) != 2 {
		t.Errorf("%v, %v", ids, err)
	}
	// A message that breaks off is written again.
	never := shout("never")
	never.After = make(chan struct{})
	broken := hosttest.NewModel(hosttest.Say("", shout("one"), never))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for range 2 {
		_, err := broken.Reply(ctx, nil, func(use abi.ToolUse) error {
			if use.ID != "call-1" {
				t.Errorf("the call is %s", use.ID)
			}
			cancel(os.ErrClosed)
			return nil
		})
		if !errors.Is(err, os.ErrClosed) || broken.Err() == nil {
			t.Errorf("%v, %v", err, broken.Err())
		}
	}
	if _, err := broken.Reply(t.Context(), nil, func(abi.ToolUse) error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// TestClock: it stands still, and goes on when it is told to.
func TestClock(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	clock := hosttest.NewClock(start)
	clock.Advance(time.Minute)
	if got := clock.Now(); got.Sub(start) != time.Minute || clock.Now() != got {
		t.Errorf("%v", got)
	}
}
