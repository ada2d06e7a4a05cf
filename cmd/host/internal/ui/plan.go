package ui

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// planView is a plan that a person accepts, changes or refuses.
type planView struct {
	host.Question

	by *Asker
	// text is the plan as the person has it by now, and rules are what they allow.
	text  string
	rules []string
	// cut says that not all of the plan was shown yet. Until it was there is no yes.
	cut bool
}

func newPlanView(by *Asker, q host.Question) *planView {
	v := &planView{Question: q, by: by, text: q.Plan.Plan}
	v.cut = len(excerpt(v.text)) < len(v.text)
	return v
}

// markdown returns how the lines of a text look: headings, quotes and code stand out. The text
// itself stays as it is, so that nothing of it is hidden.
func markdown() func(line string) Style {
	code := false
	return func(line string) Style {
		line = strings.TrimLeft(line, " ")
		switch fence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"); {
		case fence:
			code = !code
			return Dim
		case code:
			return Cyan
		case strings.HasPrefix(line, "#"):
			return Bold
		case strings.HasPrefix(line, ">"):
			return Dim
		}
		return Plain
	}
}

// show prints the plan, and what it asks for.
func (v *planView) show(out *Printer) {
	out.Wrapped(2, Span{Yellow, "? "}, Span{Bold, v.Tool + " asks you to accept a plan."})
	shown := excerpt(v.text)
	out.Quoted(shown, markdown())
	showCut(out, shown, v.text)
	fact(out, "file", v.Plan.Path)
	v.showProposals(out)
	showAsker(out, &v.Question)
}

// showProposals prints what the model would like to be allowed.
func (v *planView) showProposals(out *Printer) {
	for i, p := range v.Plan.Proposals {
		name := ""
		if i == 0 {
			name = "wishes"
		}
		out.Wrapped(factMargin, Span{Dim, "  " + name + strings.Repeat(" ", factMargin-2-len(name))}, Span{Plain, p.Tool + ": " + p.Prompt})
	}
	if len(v.Plan.Proposals) > 0 {
		out.Wrapped(2, Span{Dim, "  These are the model's words. They allow nothing."})
	}
}

// showAll prints the whole plan.
func (v *planView) showAll(out *Printer) {
	out.Quoted(v.text, markdown())
	v.cut = false
}

func (v *planView) choices() []choice {
	deny := []choice{
		{key: 'n', says: "no; the mode stays plan", reply: host.Reply{Answer: host.AnswerDeny}},
		{key: 't', says: "no, and tell the model what to change", reply: host.Reply{Answer: host.AnswerDeny}, tells: "to the model"},
	}
	if v.cut {
		return append(deny, choice{key: 'v', says: "view all of it; there is no yes before", shows: true})
	}
	var out []choice
	for i, mode := range v.Plan.Modes {
		if i == 0 {
			out = append(out, v.accept('y', "yes, go on in the mode "+string(mode), mode))
		} else if mode == permissions.ModeAcceptEdits {
			out = append(out, v.accept('a', "yes, and accept edits inside the working directories (acceptEdits)", mode))
		}
	}
	if !v.Plan.NoRules {
		out = append(out, choice{key: 'r', says: "add a rule that allows something in this session", does: v.rule})
	}
	if v.by != nil && v.by.edits() {
		out = append(out, choice{key: 'e', says: "edit the plan in " + editorName(), does: v.edit})
	}
	return append(out, deny...)
}

// accept is a key that accepts the plan into a mode.
func (v *planView) accept(key rune, says string, mode permissions.Mode) choice {
	said := host.Accepted{Mode: mode, Rules: v.rules}
	if v.text != v.Plan.Plan {
		said.Plan = &v.text
		says += ", with the plan as you changed it"
	}
	if len(v.rules) > 0 {
		says += "; allowing " + strings.Join(v.rules, ", ")
	}
	content, _ := json.Marshal(said) // texts: it cannot fail
	return choice{key: key, says: says, reply: host.Reply{Answer: host.AnswerAllow, Content: content}}
}

// rule reads a rule, which counts once the plan is accepted.
func (v *planView) rule(ctx context.Context) (bool, error) {
	v.by.out.Printf("  allow, such as Bash(go test:*): ")
	line, err := v.by.keys.line(ctx)
	if err != nil || line == "" {
		return false, err
	}
	rules := append(slices.Clone(v.rules), line)
	content, err := json.Marshal(host.Accepted{Rules: rules})
	if err == nil {
		_, err = v.Accept(content)
	}
	if err != nil {
		v.by.out.Wrapped(4, Span{Red, "  " + sentence(err.Error())})
		return false, nil
	}
	v.rules = rules
	return false, nil
}

// edit has the person change the plan in their editor. Where that fails the plan stays as it is.
func (v *planView) edit(ctx context.Context) (bool, error) {
	text, err := v.by.edit(ctx, v.text)
	if err == nil {
		var content []byte
		if content, err = json.Marshal(host.Accepted{Plan: &text}); err == nil {
			_, err = v.Accept(content)
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		v.by.out.Wrapped(4, Span{Red, "  " + sentence(err.Error())}, Span{Plain, " The plan is as it was."})
		return false, nil
	}
	v.text = text
	v.by.out.Quoted(text, markdown())
	return false, nil
}
