package search

import (
	"context"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/internal/testenv"
)

// FuzzFind searches a text as a file is searched: for plain text, by literals, by a table
// and in the guest, whatever the pattern asks for. The same lines have to come as where
// each is searched by itself and, for patterns that mean the same in Go, as Go finds. It
// comes soon, or it is the pattern's fault, and takes little of Go's heap; the guest's
// memory is bounded by itself.
func FuzzFind(f *testing.F) {
	for _, with := range []string{
		`a+b`, `needle`, `foo|bar`, `(?i)\w{30}\b`, `^$`, `[^a]\pL`, `(?-u:\xff)`, `\Ab\z`, `((a*)*)*`, `(`, `xyz\w+`, `k|s`, `\bé`, `$`, ``,
	} {
		f.Add(with, "ab\nÉé \xff\n\nbbb needle\nfoo\r\nxyzzy", false, false)
		f.Add(with, "\na b\r\nK\u212aſ", true, true)
	}
	g := &generator{Rand: rand.New(rand.NewPCG(9, 10))}
	for i := range testenv.Sample(60) {
		f.Add(g.pattern(), g.text()+g.text(), i%3 == 0, i%4 == 0)
	}
	if _, err := lines(f.Context(), "", "a+", pattern.Options{}); err != nil {
		f.Fatal(err) // the first pattern loads the guest, for longer than an input may take
	}
	f.Fuzz(func(t *testing.T, with, text string, fold, multiline bool) {
		if len(with) > maxPattern || len(text) > 1<<16 || strings.Contains(text, "\x00") || strings.HasPrefix(text, "\xef\xbb\xbf") || byMark([]byte(text)) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		o := pattern.Options{IgnoreCase: fold, Multiline: multiline}
		before := allocated()
		got, err := lines(ctx, text, with, o)
		if took := allocated() - before; took > 16<<20 {
			t.Errorf("%q in %d bytes: %d MiB on Go's heap", with, len(text), took>>20)
		}
		if err != nil {
			if abi.CodeOf(err) != abi.CodeInvalidInput {
				t.Fatalf("%q: %v", with, err)
			}
			return
		}
		if own := ofGo(text, with, o); own != nil && strings.Join(got, "") != strings.Join(own, "") {
			t.Errorf("%q in %q: %q, Go finds %q", with, text, got, own)
		}
		if !multiline {
			compareAlone(ctx, t, got, text, with, o)
		}
	})
}

// allocated is how much was ever allocated, in bytes.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// compareAlone searches line by line.
func compareAlone(ctx context.Context, t *testing.T, got []string, text, with string, o pattern.Options) {
	t.Helper()
	var want []string
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > 50 {
			return
		}
		found, err := lines(ctx, line, with, o)
		if err != nil {
			t.Fatalf("%q in a line: %v", with, err)
		}
		want = append(want, found...)
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("%q in %q: %q, line by line %q", with, text, got, want)
	}
}

// lines returns the lines that a search of a text prints as matching.
func lines(ctx context.Context, text, with string, o pattern.Options) ([]string, error) {
	m, err := compile(ctx, engine, with, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	p := &contentsPlan{matcher: m, across: m.across(), mode: abi.ModeContent, need: 1 << 20}
	out := &found{path: "f"}
	if err := scanFile(ctx, p, strings.NewReader(text), int64(len(text)), out); err != nil {
		return nil, err
	}
	var all []string
	for i := range out.entries {
		all = append(all, string(out.bytes(i)))
	}
	return all, nil
}

// ofGo returns what Go's own engine finds, nil where the pattern or the text may mean
// another thing to it.
func ofGo(text, with string, o pattern.Options) []string {
	const both = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .*+?()|^$_-"
	if o.Multiline || !isASCII(text) || strings.Trim(with, both) != "" || strings.Contains(with, "(?") || strings.ContainsAny(text, "\r") {
		return nil
	}
	flags := "(?m:"
	if o.IgnoreCase {
		flags = "(?im:"
	}
	x, err := regexp.Compile(flags + with + ")")
	if err != nil {
		return nil
	}
	all := []string{}
	for line := range strings.Lines(text) {
		if bare := strings.TrimSuffix(line, "\n"); x.MatchString(bare) {
			all = append(all, "f:"+bare+"\n")
		}
	}
	return all
}
