package abi_test

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
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
