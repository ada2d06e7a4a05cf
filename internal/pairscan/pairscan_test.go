package pairscan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// plainly is [Set.Index] as its documentation has it.
func plainly(text []byte, pairs []Pair) int {
	same := func(i int, c byte, fold bool) bool {
		if i >= len(text) {
			return false
		}
		return text[i] == c || fold && isLetter(c) && text[i]^caseBit == c
	}
	for i := range text {
		for _, p := range pairs {
			if same(i+p.FirstAt, p.First, p.Fold) && same(i+p.SecondAt, p.Second, p.Fold) {
				return i
			}
		}
	}
	return -1
}

func isLetter(c byte) bool { return 'a' <= c|caseBit && c|caseBit <= 'z' }

// TestIndex sets it against the plain way, on texts of all lengths in which what is
// looked for is rare or common.
func TestIndex(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const alphabet = "aAbB@`[{\x00\xff\n01"
	for range 20_000 {
		pairs := make([]Pair, 1+random.IntN(MaxPairs))
		for i := range pairs {
			pairs[i] = Pair{
				First: alphabet[random.IntN(len(alphabet))], Second: alphabet[random.IntN(len(alphabet))],
				FirstAt: random.IntN(40), SecondAt: random.IntN(40), Fold: random.IntN(2) == 0,
			}
		}
		text := bytes.Repeat([]byte{'-'}, random.IntN(400))
		for range random.IntN(12) {
			if len(text) > 0 {
				text[random.IntN(len(text))] = alphabet[random.IntN(len(alphabet))]
			}
		}
		set, want := New(pairs...), plainly(text, pairs)
		if got, other := set.Index(text), set.index(text, 0); got != want || other != want {
			t.Fatalf("%+v in %q: %d and %d, want %d", pairs, text, got, other, want)
		}
	}
}

// FuzzIndex looks for two pairs.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("some text that is long enough for a whole block of it"), "et", "xX", 1, 7, true)
	f.Fuzz(func(t *testing.T, text []byte, one, two string, near, far int, fold bool) {
		if len(one) < 2 || len(two) < 2 || min(near, far) < 0 || max(near, far) > MaxOffset {
			return
		}
		pairs := []Pair{
			{First: one[0], Second: one[1], FirstAt: near, SecondAt: far, Fold: fold},
			{First: two[0], Second: two[1], FirstAt: far, SecondAt: near},
		}
		if got, want := New(pairs...).Index(text), plainly(text, pairs); got != want {
			t.Errorf("%+v in %q: %d, want %d", pairs, text, got, want)
		}
	})
}

// BenchmarkIndex is what a pass over text costs that holds nothing, beside one of
// package bytes for one byte.
func BenchmarkIndex(b *testing.B) {
	text := bytes.Repeat([]byte("no such thing is in here, however long one looks for it.\n"), 300)
	for _, n := range []int{1, 4} {
		pairs := make([]Pair, n)
		for i := range pairs {
			pairs[i] = Pair{First: 'q', Second: byte('A' + i), SecondAt: 5, Fold: true}
		}
		set := New(pairs...)
		b.Run(fmt.Sprintf("pairs=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				set.Index(text)
			}
		})
	}
	b.Run("bytes.IndexByte", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			bytes.IndexByte(text, 'q')
		}
	})
}
