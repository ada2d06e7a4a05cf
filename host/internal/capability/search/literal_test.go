package search

import (
	"bytes"
	"strings"
	"testing"
)

func TestParsePlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"needle": "needle", `a\.b\\`: `a.b\`, "foo|bar": "foo bar", "a-b#c": "a-b#c", "]": "", "a.b": "", "a|": "", "": "",
		`\<a`: "", `\d`: "", "a\nb": "", "é": "é", "a\tb": "a\tb", `a\`: "",
	} {
		var got []string
		for _, n := range parsePlain(text, false) {
			got = append(got, string(n.text))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"é", "sk", "KS"} {
		if parsePlain(text, true) != nil {
			t.Errorf("%q is plain, though its case is not", text)
		}
	}
}

// FuzzNeedles holds the search for texts against package bytes, one line at a time.
func FuzzNeedles(f *testing.F) {
	for _, s := range [][2]string{
		{"ab|b", "xab\nb\n\nba"}, {"task", "TASK\nta\u017f\u212a\ntas\n"}, {"aa|aaa", "aaaa\na"}, {"ee", strings.Repeat("e ", 200) + "ee"},
		{`\|`, "|"}, {"xs", "x\u017f\nX\xc5\n"}, {"q|z|qz", "\nz\nq"},
	} {
		f.Add(s[0], s[1], true)
		f.Add(s[0], s[1], false)
	}
	f.Fuzz(func(t *testing.T, with, text string, fold bool) {
		set := parsePlain(with, fold)
		if set == nil || len(text) > 10_000 {
			return
		}
		s, err := plain{set: set.finder()}.search(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		window, err := s.Window(len(text))
		if err != nil {
			t.Fatal(err)
		}
		copy(window, text)
		var got []string
		for from := 0; from < len(text); {
			found, err := s.Find(from, len(text), 2)
			if err != nil || len(found) == 0 {
				break
			}
			for _, m := range found {
				got = append(got, text[m.Start:m.End])
				from = int(m.End)
			}
		}
		var want []string
		for line := range strings.Lines(text) {
			for _, n := range set {
				if folded(line, fold, n.text) {
					want = append(want, line)
					break
				}
			}
		}
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%q in %q: %q, want %q", with, text, got, want)
		}
	})
}

// folded reports whether a line holds a text.
func folded(line string, fold bool, text []byte) bool {
	if fold {
		line = strings.NewReplacer(longS, "s", kelvin, "k").Replace(line)
		line = string(bytes.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, []byte(line)))
	}
	return strings.Contains(line, string(text))
}
