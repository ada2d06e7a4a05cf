package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

// choiceForm is a question of the kind choice as a form. Its questions are in the message, and
// its options go by their numbers, so that nothing of a model's is shown unescaped.
type choiceForm struct{ *host.Question }

// The names of the fields of the question that is number i, from 1.
func fieldPicked(i int) string { return "choice_" + strconv.Itoa(i) }
func fieldOwn(i int) string    { return "own_words_" + strconv.Itoa(i) }

// fieldOption is that of one option, where a client knows no lists.
func fieldOption(i, option int) string { return fieldPicked(i) + "_" + strconv.Itoa(option) }

// params are the form, for a client of a revision; nil where it is too much to be shown.
func (f choiceForm) params(revision string) *mcp.ElicitParams {
	var text strings.Builder
	fields := make(map[string]any)
	for i := range f.Choice.Questions {
		q := &f.Choice.Questions[i]
		fmt.Fprintf(&text, "\n%d. ", i+1)
		if q.Header != "" {
			fmt.Fprintf(&text, "[%s] ", visible.Line(q.Header))
		}
		fmt.Fprintf(&text, "%s\n", strings.ReplaceAll(visible.Text(q.Question), "\n", "\n   "))
		for n, o := range options(q) {
			fmt.Fprintf(&text, "   - %s\n", o.title)
			if q.MultiSelect && revision < titled {
				fields[fieldOption(i+1, n+1)] = map[string]any{"type": "boolean", "title": fmt.Sprintf("%d. %s", i+1, o.title)}
			}
		}
		title := fmt.Sprintf("Answer %d", i+1)
		switch {
		case !q.MultiSelect:
			fields[fieldPicked(i+1)] = oneOf(revision, title, options(q))
		case revision >= titled:
			fields[fieldPicked(i+1)] = map[string]any{"type": "array", "title": title, "items": map[string]any{"anyOf": consts(options(q))}}
		}
		fields[fieldOwn(i+1)] = words(title + ", in your own words")
	}
	if text.Len() > maxWhole {
		return nil
	}
	return formOf(asks(f.Question, "choose, or answer in your own words.")+"\n"+text.String(), fields)
}

// options are those of a question, by their numbers.
func options(q *abi.ChoiceQuestion) []choice {
	var out []choice
	for i, o := range q.Options {
		title := o.Label
		if o.Description != "" {
			title += " (" + o.Description + ")"
		}
		out = append(out, choice{value: strconv.Itoa(i + 1), title: visible.Line(title)})
	}
	return out
}

// reply is what the person answered.
func (f choiceForm) reply(r *mcp.ElicitResult) (host.Reply, error) {
	if r.Action != "accept" {
		return replyOf(r)
	}
	said := host.Chosen{Answers: make(map[string]host.Picked)}
	for i := range f.Choice.Questions {
		q := &f.Choice.Questions[i]
		picked, err := f.picked(i, r.Content)
		if err != nil {
			return host.Reply{}, fmt.Errorf("the answer to question %d: %w", i+1, err)
		}
		said.Answers[q.Question] = picked
	}
	content, err := json.Marshal(said)
	return host.Reply{Answer: host.AnswerAllow, Content: content}, err
}

// picked is what was chosen of a question. Own words take the place of an option where one may be
// chosen, and go beside them where several may.
func (f choiceForm) picked(i int, content map[string]any) (host.Picked, error) {
	q := &f.Choice.Questions[i]
	var values []any
	switch v := content[fieldPicked(i+1)].(type) {
	case []any:
		values = v
	case string:
		values = []any{v}
	}
	for n := range q.Options {
		if content[fieldOption(i+1, n+1)] == true {
			values = append(values, strconv.Itoa(n+1))
		}
	}
	own, _ := content[fieldOwn(i+1)].(string)
	if own = strings.TrimSpace(own); own != "" && !q.MultiSelect {
		return host.Picked{own}, nil
	}
	var picked host.Picked
	for _, v := range values {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil || n < 1 || n > len(q.Options) {
			return nil, fmt.Errorf("there is no option %.20q", fmt.Sprint(v))
		}
		picked = append(picked, q.Options[n-1].Label)
	}
	if own != "" {
		picked = append(picked, own)
	}
	return picked, nil
}
