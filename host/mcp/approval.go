package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// approval is a question of the kind approval as a form. The host writes all of its text; what
// comes from a model or a plugin is shown with its control characters escaped.
type approval struct {
	question *host.Approval
	choices  []choice
}

// choice is one answer to an approval.
type choice struct {
	value, title string
	reply        host.Reply
}

func approvalForm(q *host.Approval) *approval {
	a := &approval{question: q}
	a.add("allow", "Allow this once", host.Reply{Answer: host.AnswerAllow})
	for i := range q.Remember {
		r := &q.Remember[i]
		a.add("always-"+strconv.Itoa(i+1), always(r), host.Reply{Answer: host.AnswerAllow, Remember: r})
	}
	a.add("deny", "Deny", host.Reply{Answer: host.AnswerDeny, EndTurn: q.DenyEndsTurn})
	return a
}

func (a *approval) add(value, title string, r host.Reply) {
	a.choices = append(a.choices, choice{value: value, title: title, reply: r})
}

// always says what is allowed from then on, and where that is kept.
func always(r *host.RememberOption) string {
	if r.Target == host.TargetEdits {
		return "Allow every edit in the working directories, in this session"
	}
	what := strings.Join(append(append([]string{}, r.Rules...), r.Outside...), ", ")
	if r.File == "" {
		return visible.Line("Allow " + what + " in this session")
	}
	return visible.Line("Always allow " + what + " (written to " + r.File + ")")
}

// The names of the form's fields.
const (
	fieldAnswer = "answer"
	fieldWords  = "message"
)

// titled is the first revision in which each value of a choice has its title beside it.
const titled = "2025-11-25"

// oneOf is the schema of a choice in a revision.
func oneOf(revision, title string, choices []choice) map[string]any {
	var names, titles []string
	for _, c := range choices {
		names, titles = append(names, c.value), append(titles, c.title)
	}
	if revision < titled {
		return map[string]any{"type": "string", "title": title, "enum": names, "enumNames": titles}
	}
	return map[string]any{"type": "string", "title": title, "oneOf": consts(choices)}
}

// consts are the values of a choice, each with its title.
func consts(choices []choice) []map[string]string {
	var values []map[string]string
	for _, c := range choices {
		values = append(values, map[string]string{"const": c.value, "title": c.title})
	}
	return values
}

// formOf asks for the fields of an object.
func formOf(message string, properties map[string]any, required ...string) *mcp.ElicitParams {
	object := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		object["required"] = required
	}
	schema, err := json.Marshal(object)
	if err != nil {
		panic(err) // it has no values that JSON has not
	}
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

// words is the schema of a text that the person writes.
func words(title string) map[string]any {
	return map[string]any{"type": "string", "title": title, "maxLength": maxWords}
}

// params are the form, for a client of a revision.
func (a *approval) params(revision string) *mcp.ElicitParams {
	return formOf(a.text(), map[string]any{
		fieldAnswer: oneOf(revision, "Answer", a.choices),
		fieldWords:  words("Words for the model, with a denial"),
	}, fieldAnswer)
}

// maxWords is how many characters a person may say to the model.
const maxWords = 2000

// text is the question. Clients show it as it is, some in a small window.
func (a *approval) text() string {
	q := a.question
	var b strings.Builder
	title := q.Title
	if title == "" {
		title = string(q.Input)
	}
	fmt.Fprintf(&b, "Allow %s: %s?\n", visible.Name(q.Tool), visible.Short(title, maxTitle))
	if q.Plugin != "" {
		fmt.Fprintf(&b, "Plugin: %s\n", visible.Name(q.Plugin))
	}
	if q.Server != "" {
		fmt.Fprintf(&b, "MCP server: %s\n", visible.Name(q.Server))
	}
	if q.Line != "" && q.Line != visible.Line(title) {
		fmt.Fprintf(&b, "In its words: %s\n", visible.Short(q.Line, maxTitle))
	}
	if q.Worker != "" {
		fmt.Fprintf(&b, "Asked by: %s\n", visible.Name(q.Worker))
	}
	if q.Capability != "" {
		fmt.Fprintf(&b, "It runs already, and now wants: %s\n", visible.Name(q.Capability))
	}
	for _, reason := range q.Reasons {
		fmt.Fprintf(&b, "%s\n", visible.Short(reason, maxTitle))
	}
	fmt.Fprintf(&b, "Directory: %s\n", visible.Line(q.Cwd))
	for i, access := range q.Accesses {
		if i == maxAccesses {
			fmt.Fprintf(&b, "and %d more\n", len(q.Accesses)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", visible.Short(access.String(), maxTitle))
	}
	if q.Preview != "" {
		fmt.Fprintf(&b, "\n%s\n", shorten(visible.Text(q.Preview), maxPreview))
	} else if text := whole(q); text != "" {
		fmt.Fprintf(&b, "\n| %s\n", strings.ReplaceAll(visible.Text(text), "\n", "\n| "))
	}
	return b.String()
}

// whole is what is to be done, word for word, where the title and the accesses may not show all
// of it: the command, or the input.
func whole(q *host.Approval) string {
	for _, access := range q.Accesses {
		if access.Kind == permissions.AccessExec {
			return access.Target
		}
	}
	if q.Title == "" || len(q.Accesses) == 0 || len(q.Accesses) > maxAccesses {
		return string(q.Input)
	}
	return ""
}

// shown reports whether a person can be shown all that they would approve. A change has its
// own end, which says how much is missing.
func (a *approval) shown() bool {
	return a.question.Preview != "" || len(whole(a.question)) <= maxWhole
}

const (
	maxTitle    = 500
	maxAccesses = 20
	maxPreview  = 4000
	maxWhole    = 16 << 10 // in bytes; what is longer is not asked
)

// shorten cuts a text after a whole line, and says so.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := text[:most]
	if at := strings.LastIndexByte(cut, '\n'); at > 0 {
		cut = cut[:at]
	}
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s\n[%d more characters are not shown here]", cut, utf8.RuneCountInString(text[len(cut):]))
}

// reply is what the person answered. Only a known choice that was accepted allows.
func (a *approval) reply(r *mcp.ElicitResult) host.Reply {
	words, _ := r.Content[fieldWords].(string)
	value, _ := r.Content[fieldAnswer].(string)
	if r.Action == "accept" {
		for _, c := range a.choices {
			if c.value != value {
				continue
			}
			if c.reply.Answer == host.AnswerDeny && words != "" {
				return host.Reply{Answer: host.AnswerDeny, Message: shorten(words, maxWords)}
			}
			return c.reply
		}
	}
	return host.Reply{Answer: host.AnswerDeny, EndTurn: a.question.DenyEndsTurn}
}
