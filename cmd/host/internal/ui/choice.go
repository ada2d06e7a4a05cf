package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// choose asks the questions of a choice one by one. Declining one declines all.
func (a *Asker) choose(ctx context.Context, q host.Question) (host.Reply, error) {
	questions := q.Choice.Questions
	said := host.Chosen{Answers: make(map[string]host.Picked, len(questions))}
	showChoiceHead(a.out, &q)
	for i := range questions {
		c := newChooser(a, &questions[i], i, len(questions))
		c.show(a.out)
		if reply, err := a.answer(ctx, c); err != nil || reply.Answer != host.AnswerAllow {
			return reply, err
		}
		said.Answers[questions[i].Question] = c.picked
	}
	content, err := json.Marshal(said)
	return host.Reply{Answer: host.AnswerAllow, Content: content}, err
}

// showChoiceHead prints who asks how much.
func showChoiceHead(out *Printer, q *host.Question) {
	what := "a question"
	if n := len(q.Choice.Questions); n > 1 {
		what = fmt.Sprintf("%d questions", n)
	}
	out.Wrapped(2, Span{Yellow, "? "}, Span{Bold, q.Tool + " asks you " + what + "."})
	showAsker(out, q)
}

// showChoice prints all of a choice.
func showChoice(out *Printer, q *host.Question) {
	showChoiceHead(out, q)
	for i := range q.Choice.Questions {
		c := newChooser(nil, &q.Choice.Questions[i], i, len(q.Choice.Questions))
		c.show(out)
		if c.cut {
			c.showAll(out)
		}
		for i := range c.Options {
			out.Wrapped(6, Span{Bold, fmt.Sprintf("  %2d  ", i+1)}, Span{Plain, c.option(i)})
		}
	}
}

// chooser is one question of a choice. Its words are a model's, so they are quoted or stand
// behind a key.
type chooser struct {
	*abi.ChoiceQuestion

	by       *Asker
	place    string
	cut, all bool // not all of it was shown yet; all of it is to be shown
	picked   host.Picked
}

func newChooser(by *Asker, q *abi.ChoiceQuestion, at, of int) *chooser {
	c := &chooser{ChoiceQuestion: q, by: by}
	if of > 1 {
		c.place = fmt.Sprintf("%d of %d", at+1, of)
	}
	c.cut = len(excerpt(q.Question)) < len(q.Question)
	for i := range q.Options {
		c.cut = c.cut || len(c.option(i)) > maxOption
	}
	return c
}

// maxOption is how much of an option is shown behind its key at first, in bytes.
const maxOption = 300

// option is what stands behind the key of an option.
func (c *chooser) option(i int) string {
	o := &c.Options[i]
	if o.Description == "" {
		return o.Label
	}
	return o.Label + " (" + o.Description + ")"
}

func (c *chooser) show(out *Printer) {
	if c.place != "" {
		out.Wrapped(2, Span{Bold, "  " + c.place})
	}
	if c.Header != "" {
		out.Quoted(c.Header, func(string) Style { return Bold })
	}
	shown := excerpt(c.Question)
	out.Quoted(shown, plain)
	showCut(out, shown, c.Question)
}

// showAll prints the whole question, and has the whole options shown behind their keys.
func (c *chooser) showAll(out *Printer) {
	out.Quoted(c.Question, plain)
	c.cut, c.all = false, true
}

func (c *chooser) choices() []choice {
	deny := []choice{
		{key: 'n', says: "answer nothing", reply: host.Reply{Answer: host.AnswerDeny}},
		{key: 't', says: "answer nothing, and tell the model why", reply: host.Reply{Answer: host.AnswerDeny}, tells: "to the model"},
	}
	if c.cut {
		return append(deny, choice{key: 'v', says: "view all of it; there is no answer before", shows: true})
	}
	var out []choice
	for i := range c.Options {
		says := c.option(i)
		if !c.all && len(says) > maxOption {
			says = strings.ToValidUTF8(says[:maxOption], "") + " ..."
		}
		out = append(out, c.pick(rune('1'+i), says, func(context.Context) (string, error) { return c.Options[i].Label, nil }))
	}
	out = append(out, c.pick('o', "your own words", c.words))
	if c.MultiSelect && len(c.picked) > 0 {
		out = append(out, choice{
			key: 'd', says: "done: " + strings.Join(c.picked, ", "), reply: host.Reply{Answer: host.AnswerAllow},
			does: func(context.Context) (bool, error) { return true, nil },
		})
	}
	return append(out, deny...)
}

// pick is a key that chooses a text, or where several may be chosen, takes it back.
func (c *chooser) pick(key rune, says string, text func(context.Context) (string, error)) choice {
	return choice{key: key, says: says, reply: host.Reply{Answer: host.AnswerAllow}, does: func(ctx context.Context) (bool, error) {
		chosen, err := text(ctx)
		own := key == 'o'
		if err == nil && own { // own words take the place of earlier ones
			c.picked = slices.DeleteFunc(c.picked, func(p string) bool {
				return !slices.ContainsFunc(c.Options, func(o abi.ChoiceOption) bool { return o.Label == p })
			})
		}
		if err != nil || chosen == "" {
			return false, err
		}
		if !c.MultiSelect {
			c.picked = host.Picked{chosen}
			return true, nil
		}
		switch at := slices.Index(c.picked, chosen); {
		case at < 0:
			c.picked = append(c.picked, chosen)
		case !own:
			c.picked = slices.Delete(c.picked, at, at+1)
		}
		return false, nil
	}}
}

// words reads the person's own words; an empty line takes them back.
func (c *chooser) words(ctx context.Context) (string, error) {
	c.by.out.Printf("  > ")
	return c.by.keys.line(ctx)
}
