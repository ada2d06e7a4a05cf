package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/forms"
)

// request is what a tool asks for: to fill in a form, or to open a URL. Its words are the
// tool's, so they are quoted, and what is said about it is not.
type request struct {
	host.Question
	message string
	// cut says that not all of the message was shown yet. Until it was there is no yes.
	cut bool
	// form is nil for a URL.
	form *forms.Form
}

// newRequest is the request of a question, or nil where it is of another kind.
func newRequest(q host.Question) (*request, error) {
	v := &request{Question: q}
	switch {
	case q.Form != nil:
		v.message = q.Form.Message
		var err error
		if v.form, err = forms.Parse(q.Form.Schema); err != nil {
			return nil, err
		}
	case q.URL != nil:
		v.message = q.URL.Message
	default:
		return nil, host.ErrNobody
	}
	v.cut = len(excerpt(v.message)) < len(v.message)
	return v, nil
}

// ShowRequest prints all of a question that is no approval, with the names that the fields of
// a form have.
func ShowRequest(out *Printer, q host.Question) error {
	switch {
	case q.Choice != nil:
		showChoice(out, &q)
		return nil
	case q.Plan != nil:
		v := newPlanView(nil, q)
		v.show(out)
		if v.cut {
			v.showAll(out)
		}
		return nil
	}
	v, err := newRequest(q)
	if err != nil {
		return err
	}
	v.show(out)
	if v.cut {
		v.showAll(out)
	}
	if v.form == nil {
		return nil
	}
	for i := range v.form.Fields {
		f := &v.form.Fields[i]
		showField(out, "--field "+f.Name+"=", f)
	}
	return nil
}

func plain(string) Style { return Plain }

// show prints who asks for what.
func (v *request) show(out *Printer) {
	what := "open a URL"
	if v.form != nil {
		what = "fill in a form"
	}
	out.Wrapped(2, Span{Yellow, "? "}, Span{Bold, v.Tool + " asks you to " + what + "."})
	shown := excerpt(v.message)
	out.Quoted(shown, plain)
	showCut(out, shown, v.message)
	if v.form != nil {
		v.showForm(out)
	} else {
		v.showURL(out)
	}
	showAsker(out, &v.Question)
}

// showAsker prints who asks.
func showAsker(out *Printer, q *host.Question) {
	who := q.Tool + ownerOf(q.Plugin, q.Server)
	if title := excerpt(cmp.Or(q.Line, q.Title)); title != "" {
		who += ": " + title
	}
	fact(out, "tool", who)
	fact(out, "from", q.Worker)
	fact(out, "in", q.Cwd)
}

// showCut says how much of a text is not shown.
func showCut(out *Printer, shown, text string) {
	if len(shown) < len(text) {
		out.Wrapped(2, Span{Red, fmt.Sprintf("  ... %d of %d characters are shown", utf8.RuneCountInString(shown), utf8.RuneCountInString(text))})
	}
}

func (v *request) showForm(out *Printer) {
	labels := make([]string, len(v.form.Fields))
	for i := range v.form.Fields {
		labels[i] = v.form.Fields[i].Label()
	}
	fact(out, "fields", strings.Join(labels, ", "))
	out.Wrapped(2, Span{Dim, "  What you fill in goes to this tool, which is not Toolquay. Give it no password."})
}

// showURL prints the URL as one line, so that it can be copied, and where it leads.
func (v *request) showURL(out *Printer) {
	at := v.URL.URL
	if u, err := url.Parse(at); err == nil {
		at = u.Host
		if u.Scheme == "http" {
			at += ", unencrypted"
		}
	}
	fact(out, "host", at)
	out.Whole(Span{Plain, "  " + v.URL.URL})
	out.Wrapped(2, Span{Dim, "  Toolquay does not open it. Copy it into a browser if you trust the tool and the host."})
}

// showAll prints the whole message.
func (v *request) showAll(out *Printer) {
	out.Quoted(v.message, plain)
	v.cut = false
}

func (v *request) choices() []choice {
	deny := []choice{
		{key: 'n', says: "no", reply: host.Reply{Answer: host.AnswerDeny}},
		{key: 't', says: "no, and tell the tool why", reply: host.Reply{Answer: host.AnswerDeny}, tells: "to the tool"},
	}
	if v.cut {
		return append(deny, choice{key: 'v', says: "view all of it; there is no yes before", shows: true})
	}
	yes := choice{key: 'y', says: "yes, I open it", reply: host.Reply{Answer: host.AnswerAllow}}
	if v.form != nil {
		yes = choice{key: 'y', says: "fill it in", fills: v.form}
	}
	return append([]choice{yes}, deny...)
}

// filled is a form with the values that a person gave, before they are sent.
type filled struct {
	form   *forms.Form
	values map[string]json.RawMessage
}

// show prints the values.
func (f *filled) show(out *Printer) {
	for i := range f.form.Fields {
		field := &f.form.Fields[i]
		value := "nothing"
		if raw, ok := f.values[field.Name]; ok {
			value = valueText(field, raw)
		}
		out.Wrapped(4, Span{Dim, "  " + numbered(i, field) + ": "}, Span{Plain, value})
	}
}

// showAll does nothing: the values are short.
func (f *filled) showAll(*Printer) {}

func (f *filled) choices() []choice {
	content, _ := json.Marshal(f.values) // values that were checked: it cannot fail
	return []choice{
		{key: 'y', says: "send this", reply: host.Reply{Answer: host.AnswerAllow, Content: content}},
		{key: 'a', says: "fill it in again", fills: f.form},
		{key: 'n', says: "no, send nothing", reply: host.Reply{Answer: host.AnswerDeny}},
	}
}

// valueText is a value as people read it: options by their titles.
func valueText(f *forms.Field, raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	title := func(value string) string {
		for _, o := range f.Options {
			if o.Value == value {
				return o.Title
			}
		}
		return value
	}
	switch value := value.(type) {
	case string:
		return title(value)
	case bool:
		if value {
			return "yes"
		}
		return "no"
	case []any:
		var titles []string
		for _, v := range value {
			titles = append(titles, title(fmt.Sprint(v)))
		}
		return strings.Join(titles, ", ")
	}
	return string(raw)
}
