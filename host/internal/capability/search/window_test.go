package search

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
)

// counting counts how often a file is read.
type counting struct {
	src   io.Reader
	reads int
}

func (c *counting) Read(p []byte) (int, error) {
	c.reads++
	return c.src.Read(p)
}

// scanned searches a text as a file is searched, for the lines of an answer.
func scanned(t *testing.T, src io.Reader, size int, with string, o pattern.Options, mode string) (string, error) {
	t.Helper()
	m, err := compile(t.Context(), engine, with, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	p := &contentsPlan{matcher: m, across: m.across(), mode: mode, need: 1000, style: style{numbers: true, maxColumns: 20}}
	out := &found{path: "f"}
	err = scanFile(t.Context(), p, src, int64(size), out)
	return string(out.text), err
}

// TestOneRead: a file that is no larger than the first window is read once; there is no
// second read to see that it has ended.
func TestOneRead(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, sniffSize - 1, sniffSize, sniffSize + 1, windowSize - 1, windowSize} {
		for _, with := range []string{"needle", "needle+", `needle\n`} {
			c := &counting{src: strings.NewReader(strings.Repeat("a", size))}
			_, err := scanned(t, c, size, with, pattern.Options{Multiline: true}, abi.ModeFiles)
			if err != nil || c.reads != min(size, 1) {
				t.Errorf("%q in %d bytes: %d reads, %v", with, size, c.reads, err)
			}
		}
	}
}

// TestPassOver: of a long line the beginning is searched, and the line behind it is
// whole, wherever the reads end.
func TestPassOver(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxLong-10)
	for name, c := range map[string]struct{ text, want string }{
		"fits":                {long + "needle\nneedle\n", "f:1:" + long[:20] + " [... 16777192 more bytes]\nf:2:needle\n"},
		"beyond":              {long + strings.Repeat("a", maxWindow-maxLong+10) + "needle\nneedle\n", "f:2:needle\n"},
		"ends there":          {long + "aaaaaaaaa\nneedle\n", "f:2:needle\n"},
		"ends behind":         {long + "aaaaaaaaaa\nneedle", "f:2:needle\n"},
		"the last one":        {long + strings.Repeat("a", maxWindow-maxLong+10) + "needle", ""},
		"ends with the room":  {long + strings.Repeat("a", maxWindow-maxLong+10) + "\nx\nneedle", "f:3:needle\n"},
		"longer than windows": {long + strings.Repeat("a", maxWindow-maxLong+2*windowSize) + "needle\nxneedle\n", "f:2:xneedle\n"},
	} {
		for _, src := range []io.Reader{strings.NewReader(c.text), iotest.DataErrReader(strings.NewReader(c.text))} {
			for _, with := range []string{"needle", "need[l]+e"} {
				got, err := scanned(t, src, len(c.text), with, pattern.Options{}, abi.ModeContent)
				if s, ok := src.(*strings.Reader); ok {
					s.Reset(c.text)
				} else {
					src = iotest.DataErrReader(strings.NewReader(c.text))
				}
				if err != nil || got != c.want {
					t.Errorf("%s, %s: %.200q, want %.200q: %v", name, with, got, c.want, err)
				}
			}
		}
	}
}

// TestTextInSteps: a text is found wherever it lies, also where a step ends in it.
func TestTextInSteps(t *testing.T) {
	t.Parallel()
	for with, fold := range map[string]bool{"needle": false, "SeekLess": true, strings.Repeat("ab", 2000): false, strings.Repeat("xa", 2000): true} {
		set := parsePlain(with, fold)
		step := max(min(maxStep, stepWork/len(with)), minStep)
		written := with
		if fold {
			written = strings.NewReplacer("S", "ſ", "k", "\u212a").Replace(with)
		}
		for _, before := range []int{0, step - len(written), step - len(written)/2, step - 1, step, 2*step - 1} {
			text := []byte(strings.Repeat("-", before) + written + strings.Repeat("-", 3*step))
			at, err := set.finder().next(t.Context(), text, 0)
			if err != nil || at < before || at >= before+len(written) {
				t.Errorf("%.10q behind %d bytes is at %d, %v", with, before, at, err)
			}
		}
	}
}

// TestTextIsCancelled: looking for a text ends with the context, wherever in the text
// that is.
func TestTextIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := []byte(strings.Repeat("a", 8<<20))
	for _, with := range []string{"b", "needle", "b|c|d|e|f|g|h|j"} {
		for _, fold := range []bool{false, true} {
			if at, err := parsePlain(with, fold).finder().next(ctx, text, 0); abi.CodeOf(err) != abi.CodeCancelled {
				t.Errorf("%q: %d, %v", with, at, err)
			}
		}
	}
}

// TestLongTextWithoutCase is left to the engine, which compares no byte twice.
func TestLongTextWithoutCase(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]bool{maxFolded: true, maxFolded + 1: false} {
		m, err := compile(t.Context(), engine, strings.Repeat("q", length), pattern.Options{IgnoreCase: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, isPlain := m.(plain); isPlain != want {
			t.Errorf("%d bytes are plain text: %v", length, isPlain)
		}
		m.close()
		if _, err := compile(t.Context(), nil, strings.Repeat("q", length), pattern.Options{IgnoreCase: true}); err != nil {
			t.Errorf("without an engine: %v", err)
		}
	}
}

// TestManyMatchesOfOneLine takes a time that grows with the line, and not with its square.
func TestManyMatchesOfOneLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ab", 1<<18)
	got, err := scanned(t, strings.NewReader(text), len(text), `b\s?a`, pattern.Options{Multiline: true, Count: true}, abi.ModeCount)
	if err != nil || got != "f:262143\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLongLineWithContext: what is kept of the lines before is no part of how much of a
// long line is searched.
func TestLongLineWithContext(t *testing.T) {
	t.Parallel()
	before := strings.Repeat(strings.Repeat("c", 999)+"\n", 900)
	root := tree(t, "f", before+strings.Repeat("a", maxLong-20)+"needle"+strings.Repeat("b", 2<<20)+"\n")
	for _, with := range []string{"needle", `need[l]e\w`} {
		for _, lines := range []int{0, 1000} {
			args := abi.ContentsArgs{Pattern: with, Mode: abi.ModeContent, Before: lines, MaxColumns: 100, LineNumbers: true}
			_, got, err := call(t, root, abi.CapSearchContents, args, all)
			if err != nil || !strings.Contains(got, "f:901:") {
				t.Errorf("%s with %d lines before it is not found: %.80q, %v", with, lines, got, err)
			}
		}
	}
}
