package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/forms"
)

// fill asks for the fields of a form one by one, and then whether to send them.
func (a *Asker) fill(ctx context.Context, form *forms.Form) (host.Reply, error) {
	f := &filled{form: form, values: make(map[string]json.RawMessage)}
	for i := range form.Fields {
		field := &form.Fields[i]
		value, err := a.field(ctx, numbered(i, field), field)
		if err != nil {
			return host.Reply{}, err
		}
		if value != nil {
			f.values[field.Name] = value
		}
	}
	f.show(a.out)
	return a.answer(ctx, f)
}

// field asks for one value until there is one that fits. It is nil where the person leaves
// the field out.
func (a *Asker) field(ctx context.Context, head string, f *forms.Field) (json.RawMessage, error) {
	showField(a.out, head, f)
	for {
		a.out.Printf("  > ")
		line, err := a.keys.line(ctx)
		if err != nil {
			return nil, err
		}
		if line == "" && (f.Default != nil || !f.Required) {
			return f.Default, nil
		}
		value, err := f.Typed(line)
		switch {
		case line == "":
			a.out.Wrapped(4, Span{Red, "  It is required."})
		case err != nil:
			a.out.Wrapped(4, Span{Red, "  " + sentence(err.Error())})
		default:
			return value, nil
		}
	}
}

// sentence begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// maxShownOptions is how many options of a field are listed.
const maxShownOptions = 30

// numbered is the label of a field behind its number: a label alone, which is the tool's word,
// could look like a line of Toolquay's.
func numbered(i int, f *forms.Field) string { return fmt.Sprintf("%d. %s", i+1, f.Label()) }

// showField prints what a field asks for, and what may be typed.
func showField(out *Printer, head string, f *forms.Field) {
	out.Wrapped(4, Span{Bold, "  " + head}, Span{Dim, "  " + hint(f)})
	if f.Description != "" {
		out.Quoted(excerpt(f.Description), plain)
	}
	for i, o := range f.Options[:min(len(f.Options), maxShownOptions)] {
		out.Wrapped(6, Span{Bold, fmt.Sprintf("  %2d  ", i+1)}, Span{Plain, o.Title})
	}
	if more := len(f.Options) - maxShownOptions; more > 0 {
		out.Wrapped(6, Span{Dim, fmt.Sprintf("      and %d more", more)})
	}
}

// hint says what a field takes, and what an empty line does.
func hint(f *forms.Field) string {
	takes := map[forms.Type]string{
		forms.Text: "text", forms.Number: "a number", forms.Integer: "a whole number", forms.Boolean: "y or n",
		forms.Choice: "one number or value", forms.Choices: "numbers or values, with commas",
	}[f.Type]
	if f.Format != "" {
		takes = map[string]string{
			"email": "an email address", "uri": "an address such as https://example.com/",
			"date": "a date such as 2026-01-31", "date-time": "a time such as 2026-01-31T12:00:00Z",
		}[f.Format]
	}
	switch {
	case f.Default != nil:
		return takes + "; Enter takes " + excerpt(valueText(f, f.Default))
	case !f.Required:
		return takes + "; Enter leaves it out"
	}
	return takes
}

// Content makes the content of a form of fields that were given as NAME=VALUE, the values as
// they are typed at the terminal.
func Content(schema json.RawMessage, fields []string) (json.RawMessage, error) {
	form, err := forms.Parse(schema)
	if err != nil {
		return nil, err
	}
	values := make(map[string]json.RawMessage, len(fields))
	for _, given := range fields {
		name, text, ok := strings.Cut(given, "=")
		at := slices.IndexFunc(form.Fields, func(f forms.Field) bool { return f.Name == name })
		switch {
		case !ok:
			return nil, fmt.Errorf("%.80q is no NAME=VALUE", given)
		case at < 0:
			return nil, fmt.Errorf("the form has no field %.80q", name)
		}
		if values[name], err = form.Fields[at].Typed(text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	content, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return form.Accept(content)
}
