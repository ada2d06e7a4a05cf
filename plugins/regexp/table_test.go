package regexp

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/pattern"
)

// Shared is the engine of all tests.
var Shared *Engine

// TestReadTable: a table that no guest of ours writes is refused, and one that is
// taken does not lead out of itself.
func TestReadTable(t *testing.T) {
	t.Parallel()
	whole := make([]byte, 3*256)
	for name, b := range map[string][]byte{
		"nothing":      nil,
		"no rows":      make([]byte, 256),
		"half a row":   make([]byte, 256+128),
		"a row beyond": append(bytes.Repeat([]byte{2}, 256), whole[256:]...),
	} {
		if readTable(b) != nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range whole {
		whole[i] = byte(rnd.Uint32())
		if i < 256 {
			whole[i] %= 2
		}
	}
	table := readTable(whole)
	if table == nil {
		t.Fatal("it was refused")
	}
	text := bytes.Repeat([]byte("some text\n\xff"), 10_000)
	if at, _ := table.find(text, minLane); at > len(text) {
		t.Errorf("found at %d of %d", at, len(text))
	}
}

// TestTableAgainstGuest: both ways find the same lines, wherever in a text they lie.
func TestTableAgainstGuest(t *testing.T) {
	t.Parallel()
	e := Shared
	parts := []string{"a", "bc", "x1", "23", "456", " ", "_", ".", "word", "K", "S", "\t", "\r", strings.Repeat("long ", 60)}
	ends := []string{"", "\nx12", "\nword", "\n ", "\n\n", "\nAb456", strings.Repeat("é1 x\n", 2000), strings.Repeat(strings.Repeat("-", 63)+"\n", 63) + "x12"}
	rare := []string{"é", "\u212a", "\xff", "\x00", "ſ"}
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, with := range []string{
		`[A-Z]\w+\d{3}`, `x\d+$`, `^\s`, `^$`, `$`, ``, `\bword\b`, `\Bo`, `k+|[^a-z \n]{3}`, `(?i)k\b`, `\d{2}\W\w`, `.`, `é`, `\x{212a}`, `[^\s\S]`,
	} {
		for _, fold := range []bool{false, true} {
			x, err := e.Compile(t.Context(), with, pattern.Options{IgnoreCase: fold})
			if err != nil {
				t.Fatal(with, err)
			}
			table, ok := x.(*expression)
			if !ok || table.table == nil {
				t.Fatalf("%q has no table", with)
			}
			for range 30 {
				text := randomLines(rnd, parts, rare, rnd.IntN(40_000)) + ends[rnd.IntN(len(ends))]
				got, want := lines(t, x.Search, text), lines(t, table.inGuest, text)
				if !slices.Equal(got, want) {
					t.Fatalf("%q, fold %v: %d lines, want %d: %v %v", with, fold, len(got), len(want), difference(got, want), difference(want, got))
				}
			}
			x.Close()
		}
	}
}

// randomLines makes a text that has rare pieces in some of its lines.
func randomLines(rnd *rand.Rand, parts, rare []string, size int) string {
	var b strings.Builder
	often, lines := rnd.IntN(300), 1+rnd.IntN(60)
	for b.Len() < size {
		switch {
		case rnd.IntN(lines) == 0:
			b.WriteByte('\n')
		case rnd.IntN(20) < often%20 && rnd.IntN(1+often) == 0:
			b.WriteString(rare[rnd.IntN(len(rare))])
		default:
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
	}
	return b.String()
}

// lines returns all that a search finds.
func lines(t *testing.T, search func(context.Context, int) (pattern.Search, error), text string) []pattern.Span {
	t.Helper()
	s, err := search(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	window, err := s.Window(len(text))
	if err != nil {
		t.Fatal(err)
	}
	copy(window, text)
	var all []pattern.Span
	for from := 0; from < len(text); {
		found, err := s.Find(from, len(text), 50)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			break
		}
		all = append(all, found...)
		from = int(found[len(found)-1].End)
	}
	return all
}

// difference is the first of a that b has not.
func difference(a, b []pattern.Span) []pattern.Span {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return []pattern.Span{s}
		}
	}
	return nil
}

// TestEndInLanes: a match at the very end of a text is found, whatever lane reads it.
func TestEndInLanes(t *testing.T) {
	t.Parallel()
	x, err := Shared.Compile(t.Context(), `x\d$`, pattern.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for short := range 70 {
		text := strings.Repeat(strings.Repeat("-", 63)+"\n", 64)
		text = text[:len(text)-short] + "\nx1"
		if got := lines(t, x.Search, text); len(got) != 1 || int(got[0].End) != len(text) {
			t.Errorf("in %d bytes: %v", len(text), got)
		}
	}
}
