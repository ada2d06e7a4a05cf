package glob

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// inner writes braces out from the inside, another way than [expand]: the first that
// close hold no others. What is left of an opening brace was not closed.
func inner(text string) []string {
	for end := range len(text) {
		start := strings.LastIndexByte(text[:end], '{')
		if text[end] != '}' || start < 0 {
			continue
		}
		var out []string
		for alt := range strings.SplitSeq(text[start+1:end], ",") {
			out = append(out, inner(text[:start]+alt+text[end+1:])...)
		}
		return out
	}
	return []string{text}
}

// checkBraces compares what a short pattern without escapes and brackets stands for.
func checkBraces(t *testing.T, text string) {
	t.Helper()
	got, err := expand(text)
	want := inner(text)
	open := strings.Contains(want[0], "{")
	if deep := strings.Count(text, "{") > maxNesting; open != (err != nil) && !deep {
		t.Errorf("%q: %v, and %q is left", text, err, want[0])
	}
	if err != nil {
		return
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("%q stands for %q, want %q", text, got, want)
	}
}

func TestBraces(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 9))
	for range 20_000 {
		var text strings.Builder
		for range rnd.IntN(24) {
			text.WriteByte("{{{}}},,,a*/"[rnd.IntN(12)])
		}
		checkBraces(t, text.String())
	}
}

func FuzzBraces(f *testing.F) {
	for _, s := range []string{"{a,b}", "{a,{b,c}}d", "{,a}}", "{{}", "a{b}c,d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 32 && !strings.ContainsAny(text, `\[`) {
			checkBraces(t, text)
		}
	})
}
