package ui

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

func planQuestion(plan string) host.Question {
	return host.Question{
		Kind: host.QuestionPlan, Tool: "ExitPlanMode", Cwd: "/ws/proj",
		Ask: host.Ask{Plan: &host.PlanQuestion{
			Plan: plan, Path: "/s/plan.md", Proposals: []abi.PlanProposal{{Tool: "Bash", Prompt: "run\x1b the tests"}, {Tool: "Edit", Prompt: "anything"}},
			Modes: []permissions.Mode{permissions.ModeDefault, permissions.ModeAcceptEdits},
		}},
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in, content string
		answer      host.Answer
		message     string
		err         error
	}{
		"accepted":          {"y\n", `{"mode":"default"}`, host.AnswerAllow, "", nil},
		"into acceptEdits":  {"a\n", `{"mode":"acceptEdits"}`, host.AnswerAllow, "", nil},
		"with rules":        {"r\nBash(go test:*)\nr\nBash(\nr\n\nr\nEdit(docs/**)\ny\n", `{"mode":"default","rules":["Bash(go test:*)","Edit(docs/**)"]}`, host.AnswerAllow, "", nil},
		"refused":           {"n\n", "", host.AnswerDeny, "", nil},
		"with words":        {"t\nTest it first.\n", "", host.AnswerDeny, "Test it first.", nil},
		"no editor there":   {"e\nvi\ny\n", `{"mode":"default"}`, host.AnswerAllow, "", nil},
		"nothing of a plan": {"default\n", "", "", "", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, out := printer(0, false)
			reply, err := NewAsker(p, typed(t, test.in)).Ask(t.Context(), planQuestion("Mend\x1b[2J it."))
			if reply.Answer != test.answer || string(reply.Content) != test.content || reply.Message != test.message || !errors.Is(err, test.err) {
				t.Errorf("got %s %s %q, %v\n%s", reply.Answer, reply.Content, reply.Message, err, out)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("an escape sequence reached the terminal: %q", out)
			}
		})
	}
}

func TestPlanIsShown(t *testing.T) {
	t.Parallel()
	const want = `? ExitPlanMode asks you to accept a plan.
  | # Mend it
  |
  | 1. Test\x1b[2J first.
  file     /s/plan.md
  wishes   Bash: run\x1b the tests
           Edit: anything
  These are the model's words. They allow nothing.
  tool     ExitPlanMode
  in       /ws/proj
  [y and Enter] yes, go on in the mode default
  [a and Enter] yes, and accept edits inside the working directories (acceptEdits)
  [r and Enter] add a rule that allows something in this session
  [n and Enter] no; the mode stays plan
  [t and Enter] no, and tell the model what to change
  add a rule that allows something in this session
  allow, such as Bash(go test:*):   [y and Enter] yes, go on in the mode default; allowing Bash(make)
  [a and Enter] yes, and accept edits inside the working directories (acceptEdits); allowing Bash(make)
  [r and Enter] add a rule that allows something in this session
  [n and Enter] no; the mode stays plan
  [t and Enter] no, and tell the model what to change
  yes, go on in the mode default; allowing Bash(make)
`
	p, out := printer(0, false)
	if _, err := NewAsker(p, typed(t, "r\nBash(make)\ny\n")).Ask(t.Context(), planQuestion("# Mend it\n\n1. Test\x1b[2J first.\n")); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	q := planQuestion("Mend it.")
	q.Plan.Modes = q.Plan.Modes[:1]
	p, out = printer(0, false)
	if _, err := NewAsker(p, typed(t, "a\ny\n")).Ask(t.Context(), q); err != nil || strings.Contains(out.String(), "acceptEdits") {
		t.Errorf("a mode is offered that is not to be had: %v\n%s", err, out)
	}
	q.Plan.NoRules = true
	p, out = printer(0, false)
	if _, err := NewAsker(p, typed(t, "r\ny\n")).Ask(t.Context(), q); err != nil || strings.Contains(out.String(), "rule") {
		t.Errorf("a rule is asked for that would not count: %v\n%s", err, out)
	}
}

// TestLongPlan: there is no yes before all of the plan was shown, whatever its size.
func TestLongPlan(t *testing.T) {
	t.Parallel()
	plan := strings.Repeat("- a step of many\n", 50_000) + "the end\n"
	p, out := printer(0, false)
	reply, err := NewAsker(p, typed(t, "y\na\nv\ny\n")).Ask(t.Context(), planQuestion(plan))
	if err != nil || reply.Answer != host.AnswerAllow || string(reply.Content) != `{"mode":"default"}` {
		t.Fatalf("%+v, %v", reply, err)
	}
	before, after, _ := strings.Cut(out.String(), "[v and Enter]")
	if strings.Contains(before, "the end") || strings.Contains(before, "[y and Enter]") || !strings.Contains(after, "the end") {
		t.Errorf("before: %.2000s", before)
	}
	p, out = printer(0, false)
	if err := ShowRequest(p, planQuestion(plan)); err != nil || !strings.Contains(out.String(), "the end") {
		t.Errorf("%v: not all of it is shown", err)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	look := markdown()
	for _, test := range []struct {
		line string
		want Style
	}{
		{"# Head", Bold}, {"text", Plain}, {"  > quoted", Dim}, {"- item", Plain}, {"```go", Dim}, {"# no head", Cyan}, {"```", Dim}, {"## Head", Bold},
	} {
		if got := look(test.line); got != test.want {
			t.Errorf("%q looks like %q, want %q", test.line, got, test.want)
		}
	}
}
