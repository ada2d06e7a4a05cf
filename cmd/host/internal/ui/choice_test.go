package ui

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// choiceQuestion asks two questions, of which the second takes several answers.
func choiceQuestion() host.Question {
	return host.Question{
		Kind: host.QuestionChoice, Tool: "AskUserQuestion", Worker: "reviewer", Cwd: "/ws/proj",
		Ask: host.Ask{Choice: &host.Choice{Questions: []abi.ChoiceQuestion{
			{Question: "Which\x1b[2J one?", Header: "Kind", Options: []abi.ChoiceOption{{Label: "a\u202e", Description: "the\nfirst"}, {Label: "b"}}},
			{Question: "What else?", Options: []abi.ChoiceOption{{Label: "c"}, {Label: "d"}}, MultiSelect: true},
		}}},
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in, content string
		answer      host.Answer
		message     string
		err         error
	}{
		"both":                 {"2\n1\n2\nd\n", `{"answers":{"What else?":["c","d"],"Which\u001b[2J one?":["b"]}}`, host.AnswerAllow, "", nil},
		"own words":            {"o\nneither \n1\no\nmine\nd\n", `{"answers":{"What else?":["c","mine"],"Which\u001b[2J one?":["neither"]}}`, host.AnswerAllow, "", nil},
		"other own words":      {"1\no\nmine\no\nbetter\nd\n", "{\"answers\":{\"What else?\":[\"better\"],\"Which\\u001b[2J one?\":[\"a\u202e\"]}}", host.AnswerAllow, "", nil},
		"no own words then":    {"1\n1\no\nmine\no\n\nd\n", "{\"answers\":{\"What else?\":[\"c\"],\"Which\\u001b[2J one?\":[\"a\u202e\"]}}", host.AnswerAllow, "", nil},
		"a label as words":     {"2\n1\no\nc\nd\n", `{"answers":{"What else?":["c"],"Which\u001b[2J one?":["b"]}}`, host.AnswerAllow, "", nil},
		"taken back":           {"2\n1\n2\n1\nd\n", `{"answers":{"What else?":["d"],"Which\u001b[2J one?":["b"]}}`, host.AnswerAllow, "", nil},
		"no words, then one":   {"o\n\n2\n1\nd\n", `{"answers":{"What else?":["c"],"Which\u001b[2J one?":["b"]}}`, host.AnswerAllow, "", nil},
		"not done":             {"2\nd\n3\n9\n1\nd\n", `{"answers":{"What else?":["c"],"Which\u001b[2J one?":["b"]}}`, host.AnswerAllow, "", nil},
		"declined":             {"n\n", "", host.AnswerDeny, "", nil},
		"declined at the end":  {"2\n1\nn\n", "", host.AnswerDeny, "", nil},
		"declined, with words": {"2\nt\nask Bob\n", "", host.AnswerDeny, "ask Bob", nil},
		"broken off":           {"2\n1\n", "", "", "", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, out := printer(0, false)
			reply, err := NewAsker(p, typed(t, test.in)).Ask(t.Context(), choiceQuestion())
			if reply.Answer != test.answer || string(reply.Content) != test.content || reply.Message != test.message || !errors.Is(err, test.err) {
				t.Errorf("got %s %s %q, %v\n%s", reply.Answer, reply.Content, reply.Message, err, out)
			}
			if reply.Content != nil {
				q := choiceQuestion()
				if _, err := q.Accept(reply.Content); err != nil {
					t.Errorf("the answer is not taken: %v", err)
				}
			}
			if strings.ContainsAny(out.String(), "\x1b\u202e") {
				t.Errorf("an escape sequence reached the terminal: %q", out)
			}
		})
	}
}

func TestChoiceIsShown(t *testing.T) {
	t.Parallel()
	const want = `? AskUserQuestion asks you 2 questions.
  tool     AskUserQuestion
  from     reviewer
  in       /ws/proj
  1 of 2
  | Kind
  | Which\x1b[2J one?
  [1 and Enter] a\u202e (the\nfirst)
  [2 and Enter] b
  [o and Enter] your own words
  [n and Enter] answer nothing
  [t and Enter] answer nothing, and tell the model why
  b
  2 of 2
  | What else?
  [1 and Enter] c
  [2 and Enter] d
  [o and Enter] your own words
  [n and Enter] answer nothing
  [t and Enter] answer nothing, and tell the model why
  d
  [1 and Enter] c
  [2 and Enter] d
  [o and Enter] your own words
  [d and Enter] done: d
  [n and Enter] answer nothing
  [t and Enter] answer nothing, and tell the model why
  done: d
`
	p, out := printer(0, false)
	if _, err := NewAsker(p, typed(t, "2\n2\nd\n")).Ask(t.Context(), choiceQuestion()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	p, out = printer(0, false)
	if err := ShowRequest(p, choiceQuestion()); err != nil || !strings.Contains(out.String(), "   2  d\n") || strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLongChoice: there is no answer before all of a question was shown.
func TestLongChoice(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*abi.ChoiceQuestion){
		"question": func(q *abi.ChoiceQuestion) { q.Question = strings.Repeat("line\n", 100) + "the end" },
		"option":   func(q *abi.ChoiceQuestion) { q.Options[1].Description = strings.Repeat("long ", 200) + "the end" },
	} {
		q := choiceQuestion()
		q.Choice.Questions = q.Choice.Questions[:1]
		change(&q.Choice.Questions[0])
		p, out := printer(0, false)
		reply, err := NewAsker(p, typed(t, "1\nv\n2\n")).Ask(t.Context(), q)
		if err != nil || reply.Answer != host.AnswerAllow || !strings.Contains(string(reply.Content), `"b"`) {
			t.Errorf("%s: %+v, %v\n%s", name, reply, err, out)
		}
		before, after, _ := strings.Cut(out.String(), "[v and Enter]")
		if strings.Contains(before, "the end") || strings.Contains(before, "[1 and Enter]") || !strings.Contains(after, "the end") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
