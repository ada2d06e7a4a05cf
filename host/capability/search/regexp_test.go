package search

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// FuzzLines holds the search of whole blocks against asking package regexp
// about each line by itself.
func FuzzLines(f *testing.F) {
	for _, s := range [][2]string{
		{`^a.b$`, "a-b\nab\n"}, {`[^a]+`, "a\n\nb"}, {`a*`, "\n\n"}, {`\Aa\z`, "a\nab\n"}, {`(?i)foo|b\b`, "FOO\nb c\n"},
		{`(?s:.)+x`, "a\nx"}, {`\s`, " \n\n"}, {`x(yz)+`, "xyz\nxy"}, {`(?m)^$`, "\n"}, {`\pL{2}`, "éé\na"}, {`[\n-b]x`, "\nx\nax"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 10_000 {
			return
		}
		m, err := newRegexp(query{pattern: pattern})
		if err != nil {
			return
		}
		one, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatalf("%q is refused only by regexp: %v", pattern, err)
		}
		pos, found := 0, map[int]bool{}
		for pos < len(text) {
			start, _ := m.find(t.Context(), []byte(text), pos)
			if start < 0 {
				break
			}
			found[lineStart([]byte(text), start)] = true
			pos = lineEnd([]byte(text), start)
		}
		at := 0
		for line := range strings.Lines(text) {
			if want := one.MatchString(strings.TrimSuffix(line, "\n")); want != found[at] {
				t.Fatalf("%q in line %q of %q: %v, want %v", pattern, line, text, found[at], want)
			}
			at += len(line)
		}
	})
}

func TestRequired(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"needle": "needle", "a.*needle": "needle", "(needle)+x": "needle", "(?i)needle": "", "a|b": "",
		"(needle)?x": "x", "(foo){2,}": "foo", "x*": "", "func \\w+\\(ctx": "func ",
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := required(tree); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}
