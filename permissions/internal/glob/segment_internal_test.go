package glob

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// plain is the meaning of wildcards spelled out as a table: whether the first i
// tokens match the first j items. many says that a token takes any number of
// items, one that it takes an item.
func plain(tokens, items int, many func(i int) bool, one func(i, j int) bool) bool {
	row := make([]bool, items+1)
	row[0] = true
	for i := range tokens {
		next := make([]bool, items+1)
		for j := range next {
			if many(i) {
				next[j] = row[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && row[j-1] && one(i, j-1)
			}
		}
		row = next
	}
	return row[items]
}

func plainName(s *Segment, name string, fold bool) bool {
	if s.Literal() {
		return name == s.Text || fold && strings.EqualFold(name, s.Text)
	}
	var runes []rune
	for rest := name; rest != ""; {
		r, n := decodeRune(rest)
		runes, rest = append(runes, r), rest[n:]
	}
	return plain(len(s.ops), len(runes),
		func(i int) bool { return s.ops[i].kind == opStar },
		func(i, j int) bool { return s.ops[i].match(runes[j], fold) })
}

func FuzzSegment(f *testing.F) {
	for _, seed := range [][2]string{
		{"*a*b?[!c-d]", "aXbXx"}, {`\*[]]`, "*]"}, {"é?", "é\xff"}, {"K", "k"}, {"*.pem", "A.PEM"}, {"[a-", "-"}, {"a**b", "ab"},
	} {
		f.Add(seed[0], seed[1], false)
		f.Add(seed[0], seed[1], true)
	}
	f.Fuzz(func(t *testing.T, text, name string, fold bool) {
		s, err := Parse(text)
		if err != nil || s.Deep || !paths.IsName(name) {
			return
		}
		if matched := s.Match(name, fold); matched != plainName(&s, name, fold) {
			t.Fatalf("%+v on %q: %t", s, name, matched)
		}
	})
}
