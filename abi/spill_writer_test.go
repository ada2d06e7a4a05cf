package abi_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// spilledOf is what a writer tells of a text that came in pieces.
func spilledOf(t *testing.T, text []byte, next func() int) *abi.Spilled {
	t.Helper()
	var file bytes.Buffer
	w := abi.NewSpillWriter(&file)
	for rest := text; len(rest) > 0; {
		n := min(next(), len(rest))
		if got, err := w.Write(rest[:n]); got != n || err != nil {
			t.Fatalf("wrote %d of %d, %v", got, n, err)
		}
		rest = rest[n:]
	}
	if !bytes.Equal(file.Bytes(), text) {
		t.Fatal("the text was changed on its way")
	}
	return w.Spilled("/s")
}

// checkSpilled holds what is told of a text to the text.
func checkSpilled(t *testing.T, text []byte, got *abi.Spilled) {
	t.Helper()
	want := abi.Spilled{
		Path: "/s", Bytes: int64(len(text)), Chars: int64(utf8.RuneCount(text)), Lines: int64(bytes.Count(text, []byte("\n"))),
		Head: got.Head, Tail: got.Tail,
	}
	if *got != want {
		t.Errorf("got %d bytes, %d chars, %d lines; want %d, %d, %d", got.Bytes, got.Chars, got.Lines, want.Bytes, want.Chars, want.Lines)
	}
	valid := string([]rune(string(text))) // each byte that is no UTF-8 as U+FFFD
	const short = 3 * utf8.UTFMax         // what may be left out where a code point is cut
	for name, part := range map[string]struct {
		text string
		fits bool
	}{"head": {got.Head, strings.HasPrefix(valid, got.Head)}, "tail": {got.Tail, strings.HasSuffix(valid, got.Tail)}} {
		if !part.fits || len(part.text) > abi.SpillKeep {
			t.Errorf("the %s has %d bytes and is not the text's", name, len(part.text))
		}
		if least := min(len(text), abi.SpillKeep) - short; len(part.text) < least {
			t.Errorf("the %s has %d bytes, less than %d", name, len(part.text), least)
		}
	}
	if len(valid) <= abi.SpillKeep && (got.Head != valid || got.Tail != valid) {
		t.Errorf("a text of %d bytes has a head of %d and a tail of %d", len(valid), len(got.Head), len(got.Tail))
	}
}

func TestSpillWriter(t *testing.T) {
	t.Parallel()
	const keep = abi.SpillKeep
	for name, text := range map[string]string{
		"empty":                   "",
		"short":                   "one\ntwo\n",
		"as much as is kept":      strings.Repeat("a", keep),
		"one more":                strings.Repeat("a", keep) + "b",
		"twice and some":          strings.Repeat("0123456789abcde\n", keep/8) + "the end",
		"head cuts a code point":  strings.Repeat("a", keep-2) + "🦀" + strings.Repeat("b", 10),
		"tail cuts a code point":  "aa🦀" + strings.Repeat("b", keep-2),
		"both":                    strings.Repeat("日本🦀\n", keep/8) + "ä",
		"no UTF-8":                strings.Repeat("\xff", keep+10),
		"continuations":           strings.Repeat("\x80", 2*keep),
		"half a code point":       strings.Repeat("\xf0\x9f\xa6", keep),
		"a code point at the end": strings.Repeat("a", keep) + "\xf0\x9f\xa6",
		"half of one, short":      "a\xf0\x9f\xa6",
	} {
		for _, piece := range []int{1, 3, 4096, 1 << 20} {
			if piece == 1 && len(text) > 2*keep {
				continue
			}
			got := spilledOf(t, []byte(text), func() int { return piece })
			checkSpilled(t, []byte(text), got)
			if t.Failed() {
				t.Fatalf("%s, in pieces of %d", name, piece)
			}
		}
	}
}

func FuzzSpillWriter(f *testing.F) {
	f.Add([]byte("a\xf0\x9f\xa6\n\xe2\x82A\xffä"), 1, uint64(1))
	f.Add([]byte("日本🦀\n"), abi.SpillKeep/8, uint64(2))
	f.Fuzz(func(t *testing.T, b []byte, times int, seed uint64) {
		text := bytes.Repeat(b, max(1, min(times, 3*abi.SpillKeep/max(len(b), 1))))
		random := rand.New(rand.NewPCG(seed, 0))
		most := 1 + random.IntN(len(text)+8)
		checkSpilled(t, text, spilledOf(t, text, func() int { return 1 + random.IntN(most) }))
	})
}

// shortWriter takes a number of bytes and then fails.
type shortWriter struct{ left int }

func (w *shortWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

// TestSpillWriterFails: what was written counts, and no more.
func TestSpillWriterFails(t *testing.T) {
	t.Parallel()
	w := abi.NewSpillWriter(&shortWriter{left: 5})
	n, err := w.Write([]byte("one\ntwo\n"))
	if n != 5 || err == nil {
		t.Errorf("got %d, %v", n, err)
	}
	if got := *w.Spilled("/s"); got != (abi.Spilled{Path: "/s", Bytes: 5, Chars: 5, Lines: 1, Head: "one\nt", Tail: "one\nt"}) {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkSpillWriter(b *testing.B) {
	for name, line := range map[string]string{"ASCII": "0123456789abcdef0123456789abcde\n", "text": "Prüfung: größer als 日本\n"} {
		b.Run(name, func(b *testing.B) {
			piece := bytes.Repeat([]byte(line), 64<<10/len(line))
			w := abi.NewSpillWriter(&shortWriter{left: 1 << 62})
			b.SetBytes(int64(len(piece)))
			for b.Loop() {
				if _, err := w.Write(piece); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
