package forms

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/visible"
)

// Type is what a field takes.
type Type string

// The types.
const (
	Text    Type = "string"
	Number  Type = "number"
	Integer Type = "integer"
	Boolean Type = "boolean"
	// Choice is one of the options of a field, and Choices are any of them.
	Choice  Type = "choice"
	Choices Type = "choices"
)

// Field is one value that a person gives.
type Field struct {
	Name, Title, Description string
	Type                     Type
	Required                 bool
	// Default is a value that fits; nil is none.
	Default json.RawMessage
	// Format of a text is email, uri, date, date-time or empty. MinLength and MaxLength count
	// its code points; -1 is no bound.
	Format               string
	MinLength, MaxLength int
	// Minimum and Maximum bound numbers; nil is no bound.
	Minimum, Maximum *float64
	// Options are what there is to choose from, and MinItems and MaxItems how many of them
	// for Choices; -1 is no bound.
	Options            []Option
	MinItems, MaxItems int
}

// Option is one of the values that a field may have, and what it is called.
type Option struct{ Value, Title string }

// plain reports whether all that people are shown of a field shows as it is.
func (f *Field) plain() bool {
	texts := []string{f.Name, f.Title, f.Description}
	for _, o := range f.Options {
		texts = append(texts, o.Value, o.Title)
	}
	return !slices.ContainsFunc(texts, func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return !visible.Rune(r) && r != '\n' && r != '\t' })
	})
}

// Label is what people are told that the field is.
func (f *Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// parseField reads the schema of one property.
func parseField(name string, schema json.RawMessage) (Field, error) {
	f := Field{Name: name, MinLength: -1, MaxLength: -1, MinItems: -1, MaxItems: -1}
	k, err := object(schema)
	if err != nil {
		return f, err
	}
	var kind string
	if err := k.read("type", &kind, "title", &f.Title, "description", &f.Description); err != nil {
		return f, err
	}
	f.Type = Type(kind)
	switch _, choice := k["enum"]; {
	case f.Type == Text && (choice || k["oneOf"] != nil):
		f.Type = Choice
		err = f.choice(k, "oneOf", "default")
	case f.Type == Text:
		err = f.text(k)
	case f.Type == Number || f.Type == Integer:
		err = f.number(k)
	case f.Type == Boolean:
		err = k.only(own()...)
	case kind == "array":
		f.Type = Choices
		err = f.choices(k)
	default:
		err = fmt.Errorf("its type cannot be %.40q; there are string, number, integer, boolean and array", kind)
	}
	if err != nil {
		return f, err
	}
	return f, f.takeDefault(k)
}

// own are the keys that a property may have, with those of its type.
func own(more ...string) []string {
	return append([]string{"type", "title", "description", "default"}, more...)
}

func (f *Field) takeDefault(k keys) error {
	value, ok := k["default"]
	if !ok {
		return nil
	}
	if err := f.Check(value); err != nil {
		return fmt.Errorf("its default does not fit it: %w", err)
	}
	f.Default = value
	return nil
}

func (f *Field) text(k keys) error {
	if err := k.only(own("format", "minLength", "maxLength")...); err != nil {
		return err
	}
	if err := k.read("format", &f.Format, "minLength", &f.MinLength, "maxLength", &f.MaxLength); err != nil {
		return err
	}
	if f.Format != "" && formats[f.Format] == nil {
		return fmt.Errorf("its format cannot be %.40q; there are date, date-time, email and uri", f.Format)
	}
	return between("minLength", f.MinLength, "maxLength", f.MaxLength)
}

func between(low string, a int, high string, b int) error {
	if a < -1 || b < -1 || b >= 0 && a > b {
		return fmt.Errorf("%s and %s leave nothing that fits", low, high)
	}
	return nil
}

func (f *Field) number(k keys) error {
	if err := k.only(own("minimum", "maximum")...); err != nil {
		return err
	}
	if err := k.read("minimum", &f.Minimum, "maximum", &f.Maximum); err != nil {
		return err
	}
	if f.Minimum != nil && f.Maximum != nil && *f.Minimum > *f.Maximum {
		return errors.New("minimum and maximum leave nothing that fits")
	}
	return nil
}

// choice reads options: an enum, with enumNames perhaps, or a list of consts with titles.
func (f *Field) choice(k keys, list string, more ...string) error {
	if err := k.only(append([]string{"type", "title", "description", "enum", "enumNames", list}, more...)...); err != nil {
		return err
	}
	var values, names []string
	var titled []keys
	if err := k.read("enum", &values, "enumNames", &names, list, &titled); err != nil {
		return err
	}
	switch {
	case len(titled) > 0 && (values != nil || names != nil):
		return fmt.Errorf("it has both enum and %s", list)
	case names != nil && len(names) != len(values):
		return fmt.Errorf("enumNames has %d names for the %d values of enum", len(names), len(values))
	case len(titled)+len(values) == 0 || len(titled)+len(values) > MaxOptions:
		return fmt.Errorf("it has %d values to choose from; there must be 1 to %d", len(titled)+len(values), MaxOptions)
	}
	for i, value := range values {
		o := Option{value, value}
		if names != nil {
			o.Title = names[i]
		}
		f.Options = append(f.Options, o)
	}
	for _, t := range titled {
		var o Option
		if err := t.only("const", "title"); err != nil {
			return err
		}
		if err := t.read("const", &o.Value, "title", &o.Title); err != nil {
			return err
		}
		if t["const"] == nil || o.Title == "" {
			return fmt.Errorf("each of %s must have a const and a title", list)
		}
		f.Options = append(f.Options, o)
	}
	for i, o := range f.Options {
		if slices.ContainsFunc(f.Options[:i], func(p Option) bool { return p.Value == o.Value }) {
			return fmt.Errorf("the value %.80q is there twice", o.Value)
		}
	}
	return nil
}

func (f *Field) choices(k keys) error {
	if err := k.only(own("items", "minItems", "maxItems")...); err != nil {
		return err
	}
	items, err := object(k["items"])
	if err != nil {
		return fmt.Errorf("items: %w", err)
	}
	var kind string
	if err := items.read("type", &kind); err != nil {
		return fmt.Errorf("items: %w", err)
	}
	if kind != "string" && (kind != "" || items["anyOf"] == nil) {
		return errors.New(`items: the type must be "string": a list is one of choices`)
	}
	if err := f.choice(items, "anyOf"); err != nil {
		return fmt.Errorf("items: %w", err)
	}
	if err := k.read("minItems", &f.MinItems, "maxItems", &f.MaxItems); err != nil {
		return err
	}
	if f.MinItems > len(f.Options) {
		return fmt.Errorf("minItems is %d, of %d values to choose from", f.MinItems, len(f.Options))
	}
	return between("minItems", f.MinItems, "maxItems", f.MaxItems)
}

// Check returns why a value, as JSON, does not fit the field, or nil.
func (f *Field) Check(value json.RawMessage) error {
	switch f.Type {
	case Boolean:
		return as(value, new(bool), "true or false")
	case Number, Integer:
		return f.checkNumber(value)
	case Choices:
		return f.checkChoices(value)
	case Text, Choice:
	}
	var text string
	if err := as(value, &text, "a string"); err != nil {
		return err
	}
	if f.Type == Choice {
		return f.among(text)
	}
	return f.checkText(text)
}

// as decodes a value, which may not be null.
func as(value json.RawMessage, into any, what string) error {
	if string(value) == "null" || json.Unmarshal(value, into) != nil {
		return fmt.Errorf("it must be %s", what)
	}
	return nil
}

func (f *Field) checkNumber(value json.RawMessage) error {
	var n float64
	if err := as(value, &n, "a number"); err != nil {
		return err
	}
	switch {
	case f.Type == Integer && n != math.Trunc(n):
		return errors.New("it must be a whole number")
	case f.Minimum != nil && n < *f.Minimum:
		return fmt.Errorf("it must be at least %v", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return fmt.Errorf("it must be at most %v", *f.Maximum)
	}
	return nil
}

// formats check texts, and say what they must be.
var formats = map[string]func(string) bool{
	"email": func(s string) bool {
		a, err := mail.ParseAddress(s)
		return err == nil && a.Address == s
	},
	"uri": func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.IsAbs()
	},
	"date":      func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
	"date-time": func(s string) bool { _, err := time.Parse(time.RFC3339, s); return err == nil },
}

// looks say what texts of a format look like.
var looks = map[string]string{
	"email": "an email address, such as ann@example.com", "uri": "a whole address, such as https://example.com/",
	"date": "a date, such as 2026-01-31", "date-time": "a time with its zone, such as 2026-01-31T12:00:00Z",
}

func (f *Field) checkText(text string) error {
	n := utf8.RuneCountInString(text)
	switch {
	case f.MinLength >= 0 && n < f.MinLength:
		return fmt.Errorf("it must have at least %d characters, not %d", f.MinLength, n)
	case f.MaxLength >= 0 && n > f.MaxLength:
		return fmt.Errorf("it must have at most %d characters, not %d", f.MaxLength, n)
	case f.Format != "" && !formats[f.Format](text):
		return fmt.Errorf("it must be %s", looks[f.Format])
	}
	return nil
}

func (f *Field) among(value string) error {
	if slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value }) {
		return nil
	}
	var values []string
	for _, o := range f.Options[:min(len(f.Options), 20)] {
		values = append(values, o.Value)
	}
	if more := len(f.Options) - len(values); more > 0 {
		values = append(values, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%.80q is not among the values: %s", value, strings.Join(values, ", "))
}

func (f *Field) checkChoices(value json.RawMessage) error {
	var list []string
	if err := as(value, &list, "a list of strings"); err != nil {
		return err
	}
	for i, v := range list {
		if err := f.among(v); err != nil {
			return err
		}
		if slices.Contains(list[:i], v) {
			return fmt.Errorf("%.80q is there twice", v)
		}
	}
	switch {
	case f.MinItems >= 0 && len(list) < f.MinItems:
		return fmt.Errorf("it must have at least %d values, not %d", f.MinItems, len(list))
	case f.MaxItems >= 0 && len(list) > f.MaxItems:
		return fmt.Errorf("it must have at most %d values, not %d", f.MaxItems, len(list))
	}
	return nil
}

// Typed makes a value of what a person typed, and checks it. Options are named by their
// number, from 1, by value or by title, several of them with commas.
func (f *Field) Typed(text string) (json.RawMessage, error) {
	var value any = text
	switch f.Type {
	case Boolean:
		yes, ok := booleans[strings.ToLower(text)]
		if !ok {
			return nil, errors.New("it must be yes or no")
		}
		value = yes
	case Number, Integer:
		if !json.Valid([]byte(text)) { // else it is looked at as a number below
			return nil, errors.New("it must be a number")
		}
		value = json.RawMessage(text)
	case Choice:
		value = f.option(text)
	case Choices:
		list := []string{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, f.option(part))
			}
		}
		value = list
	case Text:
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return raw, f.Check(raw)
}

var booleans = map[string]bool{"y": true, "yes": true, "true": true, "n": false, "no": false, "false": false}

// option is the value of the option that a person named, or what they typed.
func (f *Field) option(text string) string {
	for _, o := range f.Options {
		if o.Value == text {
			return text
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.Options) {
		return f.Options[n-1].Value
	}
	for _, o := range f.Options {
		if strings.EqualFold(o.Title, text) {
			return o.Value
		}
	}
	return text
}
