package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message/stream"
	"github.com/toolquay/toolquay/permissions"
)

// TestAnswersAfterTheEnd: once a turn is told to be done, no answer to one of its
// questions counts, though its call may not have noticed yet.
func TestAnswersAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := newStreamAsker(nil)
	s.expect(host.Question{ID: "one", Approval: &host.Approval{}})
	s.expect(host.Question{ID: "two", Approval: &host.Approval{}})
	s.end("one")
	for id, want := range map[string]abi.Code{"one": abi.CodeNotFound, "two": "", "three": abi.CodeNotFound} {
		err := s.answer(stream.Answer{Question: id, Answer: host.AnswerAllow})
		if (err != nil) != (want != "") || err != nil && abi.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
}

// TestLaterBeforeTheEnd: an answer that came just before the input ended is taken as any other.
func TestLaterBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for range 50 { // which of the two is seen first is open
		s := newStreamAsker(func() host.Asker { return nil })
		q := host.Question{ID: "one", Kind: host.QuestionURL, Ask: host.Ask{URL: &host.URLQuestion{}}}
		s.expect(q)
		if err := s.answer(stream.Answer{Question: "one", Answer: host.AnswerLater}); err != nil {
			t.Fatal(err)
		}
		s.close()
		if reply, err := s.Ask(t.Context(), q); err == nil || !strings.Contains(err.Error(), "no place") {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
}

// asksAll is a tool that asks one question of each kind.
func asksAll(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
	form, err := c.Ask(ctx, host.Ask{Form: &host.Form{
		Message: "How many?", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
	}})
	if err != nil {
		return abi.ToolResult{}, err
	}
	url, err := c.Ask(ctx, host.Ask{URL: &host.URLQuestion{Message: "Sign in", URL: "https://example.com/"}})
	if err != nil {
		return abi.ToolResult{}, err
	}
	choice, err := c.Ask(ctx, host.Ask{Choice: &host.Choice{Questions: []abi.ChoiceQuestion{{Question: "Which?", Options: []abi.ChoiceOption{{Label: "a"}, {Label: "b"}}}}}})
	if err != nil {
		return abi.ToolResult{}, err
	}
	plan, err := c.Ask(ctx, host.Ask{Plan: &host.PlanQuestion{Plan: "Mend it.", Modes: []permissions.Mode{permissions.ModeDefault}}})
	if err != nil {
		return abi.ToolResult{}, err
	}
	text := fmt.Sprintf("%s %s %s %s %s", form.Content, url.Answer, url.Message, choice.Content, plan.Content)
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(text)}}, nil
}

// TestQuestionsOverTheStream has a question of each kind asked and answered by lines. An answer that does
// not fit leaves its question open.
func TestQuestionsOverTheStream(t *testing.T) {
	t.Parallel()
	contract := abi.Tool{Name: "All", InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue}
	h, err := host.Open(t.Context(), host.Options{Tools: []host.NativeTool{{Contract: contract, Run: asksAll}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.WithoutCancel(t.Context()))
	asker := newStreamAsker(func() host.Asker { return nil })
	s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Asker: asker})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[host.QuestionKind][]string{
		host.QuestionForm: {
			`{"type":"answer","question":"ID","answer":"allow"}`, "lacks \"n\"",
			`{"type":"answer","question":"ID","answer":"allow","content":{"n":"many"}}`, "it must be a number",
			`{"type":"answer","question":"ID","answer":"deny","end_turn":true}`, "is no permission",
			`{"type":"permission","approval":"ID","answer":"allow","remember":"session"}`, "is no permission",
			`{"type":"answer","question":"ID","answer":"allow","content":{"n":3}}`, "",
		},
		host.QuestionURL: {
			`{"type":"answer","question":"ID","answer":"allow","content":{}}`, "has no content",
			`{"type":"answer","question":"ID","answer":"deny","message":"not now"}`, "",
			`{"type":"answer","question":"ID","answer":"allow"}`, "is over",
		},
		host.QuestionChoice: {
			`{"type":"answer","question":"ID","answer":"allow"}`, "the answer must be",
			`{"type":"answer","question":"ID","answer":"allow","content":{"answers":{"Which?":["a","b"]}}}`, "takes one",
			`{"type":"answer","question":"ID","answer":"deny","content":{"answers":{"Which?":"a"}}}`, "come with the answer allow alone",
			`{"type":"answer","question":"ID","answer":"allow","content":{"answers":{"Which?":"neither"}}}`, "",
		},
		host.QuestionPlan: {
			`{"type":"answer","question":"ID","answer":"allow","content":{"mode":"plan"}}`, "cannot be accepted into",
			`{"type":"answer","question":"ID","answer":"allow","content":{"plan":"Leave it."}}`, "",
		},
	}
	reporter := stream.NewReporter(1)
	reporter.Answerable = true
	var lines []string
	for e := range s.Run(t.Context(), []abi.ToolUse{{ID: "t1", Name: "All"}}) {
		line, err := json.Marshal(reporter.Line(e))
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case host.EventQuestion:
			asker.expect(*e.Question)
			lines = append(lines, strings.ReplaceAll(timeless(string(line)), e.Question.ID, "ID"))
			say(t, asker, e.Question, answers[e.Question.Kind])
		case host.EventAnswered:
			lines = append(lines, strings.ReplaceAll(timeless(string(line)), e.Question.ID, "ID"))
		case host.EventResult:
			lines = append(lines, e.Result.Text())
		}
	}
	want := []string{
		`{"type":"question","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","kind":"form","answerable":true,"message":"How many?","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`,
		`{"type":"answered","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","answer":"allow"}`,
		`{"type":"question","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","kind":"url","answerable":true,"message":"Sign in","url":"https://example.com/"}`,
		`{"type":"answered","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","answer":"deny"}`,
		`{"type":"question","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","kind":"choice","answerable":true,"choice":{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}}`,
		`{"type":"answered","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","answer":"allow"}`,
		`{"type":"question","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","kind":"plan","answerable":true,"plan":{"plan":"Mend it.","modes":["default"]}}`,
		`{"type":"answered","turn":1,"tool_use_id":"t1","tool":"All","question":"ID","answer":"allow"}`,
		`{"n":3} deny not now {"answers":{"Which?":"neither"}} {"plan":"Leave it.","mode":"default"}`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// say answers a question by lines, each with what its fault says.
func say(t *testing.T, asker *streamAsker, q *host.Question, lines []string) {
	t.Helper()
	for i := 0; i < len(lines); i += 2 {
		items, err := stream.Decode(strings.NewReader(strings.ReplaceAll(lines[i], "ID", q.ID)), stream.JSONL)
		if err != nil {
			t.Fatal(err)
		}
		for item := range items {
			err := item.Err
			if item.Kind == stream.KindAnswer {
				err = asker.answer(item.Answer)
			}
			if (err != nil) != (lines[i+1] != "") || err != nil && !strings.Contains(err.Error(), lines[i+1]) {
				t.Errorf("%s: %v; want %q", lines[i], err, lines[i+1])
			}
		}
	}
}

// TestStreamCarries no question of a kind that it has no line for.
func TestStreamCarries(t *testing.T) {
	t.Parallel()
	asker := newStreamAsker(func() host.Asker { return nil })
	if _, err := asker.Ask(t.Context(), host.Question{ID: "one", Kind: "else"}); asker.Carries("else") || !errors.Is(err, host.ErrNobody) {
		t.Error(err)
	}
	q := host.Question{ID: "two", Kind: host.QuestionURL, Ask: host.Ask{URL: &host.URLQuestion{}}}
	asker.expect(q)
	if err := asker.answer(stream.Answer{Question: "two", Answer: host.AnswerLater}); err != nil {
		t.Fatal(err)
	}
	if _, err := asker.Ask(t.Context(), q); err == nil || !strings.Contains(err.Error(), "no place") {
		t.Error(err)
	}
}
