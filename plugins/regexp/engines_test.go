package regexp

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/pattern"
)

// TestLinesAlone: what a line holds does not depend on the lines around it, wherever the
// guest goes from one of its engines to another: at bytes that are not ASCII, and where
// words end.
func TestLinesAlone(t *testing.T) {
	t.Parallel()
	parts := []string{"foo", "é", "бар", " ", "中文", "\xff", "x", "zz", "_", "9", "e\u0301", "\r"}
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, with := range []string{
		`\bfoo\b`, `foo\b`, `\bé`, `\B.x`, `\b`, `^\b`, `\b$`, `\b{start}бар`, `\w\b{end}\s`, `x\b|\b9`, `(?-u:\b)foo(?-u:\b)`,
		`\Afoo\b`, `\bбар\z`, `[^a-z].{18}[^a-z]z`, `\b\w{3}\b.*\b\pL{2}\b`, `\bf\w+\b {2}`,
	} {
		compiled, err := Shared.Compile(t.Context(), with, pattern.Options{})
		if err != nil {
			t.Fatal(with, err)
		}
		x, _ := compiled.(*expression)
		for range 20 {
			text := randomLines(rnd, []string{"foo", " ", "x", "9"}, parts, 2000)
			var want []pattern.Span
			var at uint32
			for line := range strings.Lines(text) {
				for _, s := range lines(t, x.inGuest, line) {
					want = append(want, pattern.Span{Start: at + s.Start, End: at + s.End})
				}
				at += uint32(len(line))
			}
			if got := lines(t, x.inGuest, text); !slices.Equal(got, want) {
				t.Errorf("%q in %q: missing %v, too many %v", with, text, difference(want, got), difference(got, want))
			}
		}
		x.Close()
	}
}
