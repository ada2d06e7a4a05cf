package abi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestParseTemplate(t *testing.T) {
	t.Parallel()
	deep := strings.TrimSuffix(strings.Repeat("a.", 9), ".")
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"{a}", "{a}"},
		{"{a.b.0} c", "{a.b.0} c"},
		{"[ in {path}]", "[ in {path}]"},
		{"{{x}} [[y]]", "{{x}} [[y]]"},
		{"[[{a}]]", "[[{a}]]"},
		{"[a [[ {b} ]] c]", "[a [[ {b} ]] c]"},
		{"{n|file}", "{n|file|files}"},
		{"{n|entry|entries}", "{n|entry|entries}"},
		{"{all?in every file}", "{all?in every file}"},
		{"{a b}", "{a b}"},

		{"{", "'{' at byte 0 has no '}'"},
		{"ab {x", "'{' at byte 3 has no '}'"},
		{"x}", "'}' at byte 1 closes nothing; write it twice for the character itself"},
		{"x]", "']' at byte 1 closes nothing; write it twice for the character itself"},
		{"{}", `the placeholder {} at byte 0 names no field; write {field}, or "{{" for the character itself`},
		{"{a..b}", `the placeholder {a..b} at byte 0 names no field; write {field}, or "{{" for the character itself`},
		{"{a{b}}", `the placeholder {a{b} at byte 0 has a '{' in it`},
		{"{" + deep + "}", "the placeholder {" + deep + "} at byte 0 leads 9 fields deep; at most 8 are"},
		{"{a|}", "the placeholder {a|} at byte 0 has an empty noun; write {field|file} or {field|entry|entries}"},
		{"{a|b|c|d}", "the placeholder {a|b|c|d} at byte 0 has 3 nouns; write one, and its plural if that does not end in s"},
		{"{a?}", "the placeholder {a?} at byte 0 has no words behind its '?'"},
		{"[x]", `the brackets at byte 0 have no placeholder, so nothing decides whether they are left out; write "[[" for the character itself`},
		{"a [{x}", "'[' at byte 2 has no ']'"},
		{"[a {x} [b {y}]]", "'[' at byte 7 is inside other brackets, which may not be; write it twice for the character itself"},
		{strings.Repeat("x", abi.MaxTemplate+1), "1025 bytes are over the limit of 1024 for a template"},
	} {
		template, err := abi.ParseTemplate(tt.text)
		got := written(template.Pieces)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%.40q\n got: %s\nwant: %s", tt.text, got, tt.want)
		}
	}
}

// written is a template as it may be written.
func written(pieces []abi.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case p.Place != nil:
			text := strings.TrimSuffix(p.Place.String(), "}")
			if p.Place.One != "" {
				text += "|" + p.Place.One + "|" + p.Place.Many
			}
			if p.Place.When != "" {
				text += "?" + p.Place.When
			}
			b.WriteString(text + "}")
		case p.Group != nil:
			b.WriteString("[" + written(p.Group) + "]")
		default:
			b.WriteString(abi.EscapeTemplate(p.Text))
		}
	}
	return b.String()
}

func FuzzParseTemplate(f *testing.F) {
	for _, seed := range []string{"", "{a}", "[ in {path}]", "{{x}} [[y]]", "{n|entry|entries} {a?b}", "[[[{a}]]]", "{a.b.0|x}", "\x1b[{\u202e}]", "[a {b}]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if literal, err := abi.ParseTemplate(abi.EscapeTemplate(text)); err == nil && written(literal.Pieces) != abi.EscapeTemplate(text) {
			t.Errorf("%q does not stand for itself: %q", text, literal.Pieces)
		}
		template, err := abi.ParseTemplate(text)
		if err != nil {
			return
		}
		again := written(template.Pieces)
		if len(again) > abi.MaxTemplate { // a plural was added
			return
		}
		reread, err := abi.ParseTemplate(again)
		if err != nil {
			t.Fatalf("%q was parsed and written as %q, which does not parse: %v", text, again, err)
		}
		if written(reread.Pieces) != again {
			t.Errorf("%q becomes %q, and then %q", text, again, written(reread.Pieces))
		}
	})
}

// TestTemplatesOfLargeSchemas: hundreds of placeholders that lead through references of a large
// schema are checked in little time, and what is wrong with them is said in few words.
func TestTemplatesOfLargeSchemas(t *testing.T) {
	var properties strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&properties, `"p%04d":{"description":"%060d"},`, i, i)
	}
	schema := `{"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"properties":{"b":{"$ref":"#/$defs/y"}}}},"properties":{` + properties.String() + `"a":{"$ref":"#/$defs/x"}}}`
	for template, want := range map[string]string{
		"{a.b.b.b.b.b}": "",
		"{a.b.b.c}":     `the placeholder {a.b.b.c} at byte 0: the input schema has no property "c"; it has b`,
		"{q}":           `the input schema has no property "q"; it has a, p0000, p0001, p0002, p0003, p0004, p0005, p0006, p0007, p0008, p0009, p0010, p0011, p0012, p0013, p0014, p0015, p0016, p0017, p0018 and 2981 more`,
	} {
		text := strings.Repeat(template, abi.MaxTemplate/len(template))
		m := abi.Manifest{Tools: []abi.Tool{{InputSchema: schema, ClassifierText: text, Lines: abi.Lines{Queued: text, Use: text, Progress: text, Result: text, Rejection: text, Error: text}}}}
		var faults []abi.Fault
		if work := testenv.Work(func() { faults = m.Validate() }); work > 2*time.Second && !testenv.Race {
			t.Errorf("%s takes %v", template, work)
		}
		var of []string
		for _, f := range faults {
			if strings.Contains(f.Path, "lines.") || strings.Contains(f.Path, "classifier_text") {
				of = append(of, f.Message)
			}
		}
		if want == "" && len(of) > 0 || want != "" && (len(of) == 0 || !strings.HasSuffix(of[0], want)) {
			t.Errorf("%s has %d faults, such as %.400q", template, len(of), of[:min(len(of), 1)])
		}
	}
}
