package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestReadLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		args abi.LineArgs
		want string
		ok   abi.LinesOK
	}{
		"all":                          {"a\nb\n", abi.LineArgs{}, "a\nb", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"no newline at the end":        {"a\nb", abi.LineArgs{}, "a\nb", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"empty":                        {"", abi.LineArgs{}, "", abi.LinesOK{First: 1}},
		"empty lines":                  {"\n\n", abi.LineArgs{}, "\n", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"numbered":                     {"a\nb\n", abi.LineArgs{Number: true}, "     1\ta\n     2\tb", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"CRLF":                         {"a\r\nb\r\n\r\n", abi.LineArgs{}, "a\nb\n", abi.LinesOK{First: 1, Count: 3, Total: 3}},
		"CR within":                    {"a\rb\nc\r", abi.LineArgs{}, "a\rb\nc\r", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"BOM":                          {"\xef\xbb\xbfa\nb", abi.LineArgs{}, "a\nb", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"only a BOM":                   {"\xef\xbb\xbf", abi.LineArgs{}, "", abi.LinesOK{First: 1}},
		"offset":                       {"a\nb\nc\n", abi.LineArgs{Offset: 2, Number: true}, "     2\tb\n     3\tc", abi.LinesOK{First: 2, Count: 2, Total: 3}},
		"offset 0":                     {"a\n", abi.LineArgs{Offset: 0}, "a", abi.LinesOK{First: 1, Count: 1, Total: 1}},
		"limit":                        {"a\nb\nc\n", abi.LineArgs{Limit: 2}, "a\nb", abi.LinesOK{First: 1, Count: 2, More: true}},
		"limit at the end":             {"a\nb\n", abi.LineArgs{Limit: 2}, "a\nb", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"offset and limit":             {"a\nb\nc\nd", abi.LineArgs{Offset: 2, Limit: 2}, "b\nc", abi.LinesOK{First: 2, Count: 2, More: true}},
		"offset behind the end":        {"a\nb\n", abi.LineArgs{Offset: 9}, "", abi.LinesOK{First: 9, Total: 2}},
		"offset behind an open end":    {"a\nb", abi.LineArgs{Offset: 3}, "", abi.LinesOK{First: 3, Total: 2}},
		"cut":                          {"abcdef\nab\n", abi.LineArgs{MaxLine: 3}, "abc\nab", abi.LinesOK{First: 1, Count: 2, Total: 2, CutLines: 1}},
		"cut at code points":           {"äöüß\n", abi.LineArgs{MaxLine: 2}, "äö", abi.LinesOK{First: 1, Count: 1, Total: 1, CutLines: 1}},
		"as long as allowed":           {"äöü\n", abi.LineArgs{MaxLine: 3}, "äöü", abi.LinesOK{First: 1, Count: 1, Total: 1}},
		"characters":                   {"abc\ndef\nghi\n", abi.LineArgs{MaxChars: 8}, "abc\ndef", abi.LinesOK{First: 1, Count: 2, More: true, Stopped: true}},
		"characters, numbers included": {"abc\ndef\n", abi.LineArgs{MaxChars: 12, Number: true}, "     1\tabc", abi.LinesOK{First: 1, Count: 1, More: true, Stopped: true}},
		"characters, not bytes":        {"äö\nü\n", abi.LineArgs{MaxChars: 4}, "äö\nü", abi.LinesOK{First: 1, Count: 2, Total: 2}},
		"the first line is too long":   {"abcdef\n", abi.LineArgs{MaxChars: 3}, "", abi.LinesOK{First: 1, More: true, Stopped: true}},
		"invalid UTF-8":                {"\xef\xbb\xbfa\xff\xfeb\nc\n", abi.LineArgs{}, "a\uFFFDb\nc", abi.LinesOK{First: 1, Count: 2, Total: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "f", c.text)
			ok, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Lines: &c.args}, all)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := ok.(abi.ReadOK)
			if body != c.want || *got.Lines != c.ok || got.Size != int64(len(c.text)) {
				t.Errorf("got %q %+v, want %q %+v", body, *got.Lines, c.want, c.ok)
			}
		})
	}
}

// naive is the same by the plainest means, for long texts.
func naive(text string, a abi.LineArgs) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	for i, l := range lines {
		l = strings.TrimSuffix(l, "\r")
		if r := []rune(l); a.MaxLine > 0 && int64(len(r)) > a.MaxLine {
			l = string(r[:a.MaxLine])
		}
		if n := int64(i + 1); n >= a.Offset && (a.Limit == 0 || n < max(a.Offset, 1)+a.Limit) {
			if a.Number {
				l = fmt.Sprintf("%6d\t%s", n, l)
			}
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// Texts of several chunks, with lines longer than one and numbers past six
// digits' neighbours.
func TestReadLinesOfLongFiles(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 110_000 {
		fmt.Fprintf(&b, "line %d ", i)
		switch i % 1000 {
		case 17:
			b.WriteString(strings.Repeat("ä", 300))
		case 18:
			b.WriteString("\r")
		case 500:
			if i%50_000 == 500 {
				b.WriteString(strings.Repeat("x", 3*chunkSize))
			}
		}
		b.WriteByte('\n')
	}
	text := b.String()
	dir := t.TempDir()
	write(t, dir, "f", text)
	for _, a := range []abi.LineArgs{
		{}, {Number: true}, {Offset: 99_990, Limit: 30, Number: true}, {MaxLine: 100, Number: true},
		{Offset: 17, MaxLine: 20, Limit: 100_000}, {Offset: 501, Limit: 1}, {Offset: 110_000},
	} {
		_, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Lines: &a}, all)
		if err != nil {
			t.Fatal(err)
		}
		if want := naive(text, a); body != want {
			t.Errorf("%+v: %d bytes differ from the %d expected", a, len(body), len(want))
		}
	}
}

func TestSparseFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "f", strings.Repeat("line\n", 5000))
	if err := os.Truncate(path, 100<<30); err != nil {
		testenv.Missing(t, "a file system with sparse files: "+err.Error())
	}
	args := abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{Offset: 4000, Limit: 10}}
	work := testenv.Work(func() {
		ok, _, err := call(t, dir, abi.CapFSRead, args, all)
		if got, _ := ok.(abi.ReadOK); err != nil || got.Lines.Count != 10 || !got.Lines.More {
			t.Errorf("%+v, %v", ok, err)
		}
	})
	if work > time.Second {
		t.Errorf("took %v", work)
	}
	args.Lines = &abi.LineArgs{MaxLine: 100}
	testenv.InTime(t, time.Second, func() time.Duration {
		p, err := plan(t, dir, abi.CapFSRead, args)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return testenv.Took(func() {
			if _, err := p.Do(ctx, all); abi.CodeOf(err) != abi.CodeTimeout {
				t.Errorf("a line of 100 GB: %v", err)
			}
		})
	})
}

func FuzzReadLines(f *testing.F) {
	f.Add("a\nb\r\nc", int64(2), int64(1), int64(3), true)
	f.Add("äöü\xff\n\n", int64(0), int64(0), int64(1), false)
	f.Fuzz(func(t *testing.T, text string, offset, limit, maxLine int64, number bool) {
		if offset < 0 || limit < 0 || maxLine < 0 || strings.ContainsAny(text, "\x00\uFFFD") || strings.HasPrefix(text, "\xef\xbb\xbf") {
			return
		}
		a := abi.LineArgs{Offset: max(offset, 1), Limit: limit, MaxLine: maxLine, Number: number, MaxChars: 1 << 20}
		r, err := readLines(t.Context(), strings.NewReader(text), int64(len(text)), a, nil)
		if errors.Is(err, errBinary) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, ok := r.out, r.ok
		if ok.Total > 0 && ok.More || ok.Count > ok.Total && !ok.More {
			t.Errorf("%+v", ok)
		}
		if !strings.HasSuffix(text, "\r") && text != "" && limit < 1<<40 && strings.ToValidUTF8(text, "") == text {
			if want := naive(text, a); string(got) != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

// BenchmarkNumber10MB sets the numbering of 10 MB, and skipping them, against
// copying them: the same file through the same capability by bytes, and plainly.
func BenchmarkNumber10MB(b *testing.B) {
	dir := b.TempDir()
	line := "the quick brown fox jumps over the dog\n"
	text := strings.Repeat(line, 10<<20/len(line))
	path := write(b, dir, "f", text)
	b.Run("os.ReadFile", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, args := range map[string]abi.ReadArgs{
		"bytes":  {Path: "f"},
		"number": {Path: "f", Lines: &abi.LineArgs{Number: true}},
		"skip":   {Path: "f", Lines: &abi.LineArgs{Offset: 1 << 40}},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			buf := make([]byte, 64<<10)
			for b.Loop() {
				drain(b, dir, args, buf)
			}
		})
	}
}

func drain(b *testing.B, dir string, args abi.ReadArgs, buf []byte) {
	b.Helper()
	p, err := plan(b, dir, abi.CapFSRead, args)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	a, err := p.Do(b.Context(), all)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	for err == nil {
		_, err = a.Body.Read(buf)
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}
