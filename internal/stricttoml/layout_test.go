package stricttoml_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/stricttoml"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	const src = "b.c = 1 # c\r\nd = [ 'x', # no\n  \"y\"\n]\ne = { f = true }\n" +
		"[g] # a table\nh = 07:32:00 \n\n# i\n[[j]]\n[[j]]\nk = ''\n[l.m]\n"
	var into struct {
		B, D, E, G, J, L any
	}
	doc, _ := stricttoml.Decode([]byte(src), &into) // the index is made whatever the keys
	tests := map[string]struct {
		form  stricttoml.Form
		text  string
		elems int
		keys  string
	}{
		"b":      {keys: "c"},
		"b.c":    {form: stricttoml.FormValue, text: "1"},
		"d":      {form: stricttoml.FormValue, text: "[ 'x', # no\n  \"y\"\n]", elems: 2},
		"d[0]":   {form: stricttoml.FormValue, text: "'x'"},
		"d[1]":   {form: stricttoml.FormValue, text: `"y"`},
		"d[2]":   {},
		"e":      {form: stricttoml.FormValue, text: "{ f = true }", keys: "f"},
		"e.f":    {form: stricttoml.FormValue, text: "true"},
		"g":      {form: stricttoml.FormTable, text: "[g] # a table\nh = 07:32:00", keys: "h"},
		"j":      {form: stricttoml.FormTables, elems: 2},
		"j[0]":   {form: stricttoml.FormTable, text: "[[j]]"},
		"j[1]":   {form: stricttoml.FormTable, text: "[[j]]\nk = ''", keys: "k"},
		"l":      {keys: "m"},
		"l.m":    {form: stricttoml.FormTable, text: "[l.m]"},
		"absent": {},
	}
	for path, want := range tests {
		got := doc.Layout(path)
		if got.Form != want.form || src[got.Start:got.End] != want.text || got.Elems != want.elems ||
			strings.Join(got.Keys, " ") != want.keys {
			t.Errorf("%s: %+v is %q", path, got, src[got.Start:got.End])
		}
	}
}

// words may be written as a string of words.
type words []string

func (w *words) UnmarshalString(s string) error {
	*w = strings.Fields(s)
	if len(*w) == 0 {
		return errors.New("no words")
	}
	return nil
}

// entry may be written as its name alone.
type entry struct {
	Name string `toml:"name"`
}

func (e *entry) UnmarshalString(s string) error {
	e.Name = s
	return nil
}

func TestStringsForOtherTypes(t *testing.T) {
	t.Parallel()
	var into struct {
		Words   words   `toml:"words"`
		More    words   `toml:"more"`
		Entries []entry `toml:"entries"`
	}
	_, faults := stricttoml.Decode([]byte("words = 'a b'\nmore = ['a b']\nentries = ['a', {name = 'b'}]\n"), &into)
	if len(faults) > 0 || !slices.Equal(into.Words, words{"a", "b"}) || !slices.Equal(into.More, words{"a b"}) ||
		!slices.Equal(into.Entries, []entry{{"a"}, {"b"}}) {
		t.Errorf("%+v, %v", into, faults)
	}
	_, faults = stricttoml.Decode([]byte("words = ''\nmore = 1\nentries = [1, {nam = 'b'}]\n"), &into)
	var got strings.Builder
	for _, f := range faults {
		got.WriteString(f.String() + "\n")
	}
	const want = "line 1: words: no words\n" +
		"line 2: more: found the integer 1, expected a string or an array, each element a string\n" +
		"line 3: entries[0]: found the integer 1, expected a string or a table\n" +
		"line 3: entries[1].nam: unknown key; did you mean \"name\"?\n"
	if got.String() != want {
		t.Errorf("got:\n%s", got.String())
	}
}
