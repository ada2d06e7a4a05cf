package capability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// Choice asks a person to choose, or to answer in their own words.
type Choice struct {
	Questions []abi.ChoiceQuestion `json:"questions"`
}

// Chosen is the content of an answer to a [Choice].
type Chosen struct {
	// Answers are by question: the label of an option, or the person's own words; a list of
	// them where more than one may be chosen. An answer may have a list of one instead of a
	// text, and [Ask.Accept] writes lists where more than one may be chosen alone.
	Answers map[string]Picked `json:"answers"`
	// Notes are what they noted beside an answer, by question.
	Notes map[string]string `json:"notes,omitempty"`
}

// Picked is what was chosen of one question. In JSON it is a text, or a list of texts.
type Picked []string

// UnmarshalJSON reads a text or a list of texts.
func (p *Picked) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*p = make(Picked, 1)
		return json.Unmarshal(text, &(*p)[0])
	}
	return json.Unmarshal(text, (*[]string)(p))
}

// The bounds of a choice: how many there are, and how long in code points.
const (
	maxQuestions  = 4
	minOptions    = 2
	maxOptions    = 4
	maxHeader     = 12
	maxChoiceText = 2000
	maxOwnWords   = 10_000
)

func (c *Choice) kind() QuestionKind { return QuestionChoice }

func (c *Choice) clone() *Choice {
	questions := slices.Clone(c.Questions)
	for i := range questions {
		questions[i].Options = slices.Clone(questions[i].Options)
	}
	return &Choice{questions}
}

func (c *Choice) check() error {
	if n := len(c.Questions); n < 1 || n > maxQuestions {
		return abi.Errorf(abi.CodeInvalidInput, "%d questions were given; ask 1 to %d at once", n, maxQuestions)
	}
	seen := make(map[string]bool)
	for i := range c.Questions {
		q := &c.Questions[i]
		if err := checkQuestion(q); err != nil {
			return abi.Errorf(abi.CodeInvalidInput, "question %d: %w", i+1, err)
		}
		alike := inBlanks(q.Question)
		if seen[alike] {
			return abi.Errorf(abi.CodeInvalidInput, "question %d is asked before: answers are told apart by the question", i+1)
		}
		seen[alike] = true
	}
	return nil
}

func checkQuestion(q *abi.ChoiceQuestion) error {
	if err := checkText("the question", q.Question, 1, maxChoiceText); err != nil {
		return err
	}
	if err := checkText("the header", q.Header, 0, maxHeader); err != nil {
		return err
	}
	if n := len(q.Options); n < minOptions || n > maxOptions {
		return fmt.Errorf("%d options were given; give %d to %d", n, minOptions, maxOptions)
	}
	seen := make(map[string]bool)
	for i, o := range q.Options {
		if err := checkText(fmt.Sprintf("the label of option %d", i+1), o.Label, 1, maxChoiceText); err != nil {
			return err
		}
		if err := checkText(fmt.Sprintf("the description of option %d", i+1), o.Description, 0, maxChoiceText); err != nil {
			return err
		}
		alike := inBlanks(o.Label)
		if seen[alike] {
			return fmt.Errorf("two options have the label %.100q", alike)
		}
		seen[alike] = true
	}
	return nil
}

// inBlanks is a text with one blank for many, so that two are alike that a person sees as one.
func inBlanks(text string) string { return strings.Join(strings.Fields(text), " ") }

// checkText bounds a text. Blanks alone count as nothing.
func checkText(what, text string, least, most int) error {
	n := utf8.RuneCountInString(text)
	switch {
	case least > 0 && strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is empty", what)
	case n > most:
		return fmt.Errorf("%s has %d characters; at most %d", what, n, most)
	}
	return nil
}

// accept reads a [Chosen].
func (c *Choice) accept(content json.RawMessage) (json.RawMessage, error) {
	said, err := c.Chosen(content)
	if err != nil {
		return nil, err
	}
	answers := make(map[string]any, len(c.Questions))
	for i := range c.Questions {
		q := &c.Questions[i]
		if answers[q.Question] = said.Answers[q.Question]; !q.MultiSelect {
			answers[q.Question] = said.Answers[q.Question][0]
		}
	}
	out := map[string]any{"answers": answers}
	if len(said.Notes) > 0 {
		out["notes"] = said.Notes
	}
	return json.Marshal(out)
}

// Chosen reads the content of an answer, which has one to each question.
func (c *Choice) Chosen(content json.RawMessage) (*Chosen, error) {
	var said Chosen
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, `the answer must be {"answers": {QUESTION: LABEL or [LABELS] or own words}, "notes": {QUESTION: TEXT}}: %w`, err)
	}
	for i := range c.Questions {
		if err := checkPicked(&c.Questions[i], said.Answers[c.Questions[i].Question]); err != nil {
			return nil, abi.Errorf(abi.CodeInvalidInput, "the answer to question %d: %w", i+1, err)
		}
	}
	for question := range said.Answers {
		if !c.asks(question) {
			return nil, abi.Errorf(abi.CodeInvalidInput, "there is an answer to %.100q, which is not asked", question)
		}
	}
	for question, note := range said.Notes {
		if !c.asks(question) {
			return nil, abi.Errorf(abi.CodeInvalidInput, "there is a note on %.100q, which is not asked", question)
		}
		if err := checkText("the note", note, 0, maxOwnWords); err != nil {
			return nil, abi.Errorf(abi.CodeInvalidInput, "on %.100q: %w", question, err)
		}
	}
	return &said, nil
}

func (c *Choice) asks(question string) bool {
	return slices.ContainsFunc(c.Questions, func(q abi.ChoiceQuestion) bool { return q.Question == question })
}

func checkPicked(q *abi.ChoiceQuestion, picked Picked) error {
	switch n := len(picked); {
	case n == 0:
		return fmt.Errorf("%.100q has none", q.Question)
	case n > 1 && !q.MultiSelect:
		return fmt.Errorf("%.100q takes one, and there are %d", q.Question, n)
	case n > maxOptions+1:
		return fmt.Errorf("%.100q takes its %d options and the person's own words, and there are %d", q.Question, len(q.Options), n)
	}
	for i, text := range picked {
		if err := checkText("it", text, 1, maxOwnWords); err != nil {
			return err
		}
		if slices.Contains(picked[:i], text) {
			return fmt.Errorf("%.100q is chosen twice", text)
		}
	}
	return nil
}
