package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// planForm is a question of the kind plan as a form, with the plan in its message.
type planForm struct{ *host.Question }

// The names of the form's fields, beside those of approvals, and what refuses the plan.
const (
	fieldPlan   = "plan"
	fieldRule   = "rule"
	valueRefuse = "refuse"
)

// params are the form, for a client of a revision; nil where the plan is too long to be shown
// whole.
func (f planForm) params(revision string) *mcp.ElicitParams {
	plan := visible.Text(f.Plan.Plan)
	if len(plan) > maxWhole {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n| %s\n", asks(f.Question, "accept this plan?"), strings.ReplaceAll(strings.TrimRight(plan, "\n"), "\n", "\n| "))
	if f.Plan.Path != "" {
		fmt.Fprintf(&text, "\nPlan file: %s\n", visible.Line(f.Plan.Path))
	}
	for i, p := range f.Plan.Proposals {
		if i == 0 {
			text.WriteString("\nThe model would like to be allowed the following. It is allowed nothing by that.\n")
		}
		fmt.Fprintf(&text, "- %s\n", visible.Short(p.Tool+": "+p.Prompt, maxTitle))
	}
	var choices []choice
	for _, mode := range f.Plan.Modes {
		choices = append(choices, choice{value: string(mode), title: "Accept, and go on in the mode " + string(mode)})
	}
	choices = append(choices, choice{value: valueRefuse, title: "Refuse; the mode stays plan"})
	fields := map[string]any{
		fieldAnswer: oneOf(revision, "Answer", choices),
		fieldWords:  words("Words for the model, where you refuse"),
		fieldPlan:   map[string]any{"type": "string", "title": "The plan as you change it; empty leaves it"},
	}
	if !f.Plan.NoRules {
		fields[fieldRule] = words("A rule that allows something in this session, such as Bash(go test:*)")
	}
	return formOf(text.String(), fields, fieldAnswer)
}

// reply is what the person answered. Only a mode that was offered accepts the plan.
func (f planForm) reply(r *mcp.ElicitResult) (host.Reply, error) {
	if r.Action != "accept" {
		return replyOf(r)
	}
	text := func(field string) string {
		text, _ := r.Content[field].(string)
		return text
	}
	answer := text(fieldAnswer)
	if answer == valueRefuse {
		return host.Reply{Answer: host.AnswerDeny, Message: shorten(text(fieldWords), maxWords)}, nil
	}
	said := host.Accepted{Mode: permissions.Mode(answer)}
	if plan := text(fieldPlan); strings.TrimSpace(plan) != "" {
		said.Plan = &plan
	}
	if rule := strings.TrimSpace(text(fieldRule)); rule != "" {
		said.Rules = []string{rule}
	}
	if answer == "" {
		return host.Reply{}, fmt.Errorf("the form has no answer; there are %v and %s", f.Plan.Modes, valueRefuse)
	}
	content, err := json.Marshal(said)
	return host.Reply{Answer: host.AnswerAllow, Content: content}, err
}
