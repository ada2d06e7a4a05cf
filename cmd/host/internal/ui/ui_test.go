package ui

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/internal/visible"
)

func TestMain(m *testing.M) {
	runewidth.DefaultCondition.EastAsianWidth = false // whatever this machine's locale is
	if os.Getenv(playsVariable) != "" {
		playForever()
	}
	testenv.Waiting()
	m.Run()
}

// playsVariable has the test binary play a turn that does not end, on standard
// error.
const playsVariable = "TOOLQUAY_TEST_PLAYS"

func playForever() {
	s := script{tell: NewTimeline(NewPrinter(os.Stderr), false).Event}
	s.queue("Bash", "make all").starts()
	for {
		s.queue("Bash", "make one").starts().answers(time.Second, 1)
		time.Sleep(time.Millisecond)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, line, text string }{
		"plain":            {"näh, 日本 a\u00a0b", "näh, 日本 a\u00a0b", "näh, 日本 a\u00a0b"},
		"lines":            {"a\tb\nc", `a\tb\nc`, "a\tb\nc"},
		"carriage return":  {"a\rb", `a\rb`, `a\rb`},
		"C0":               {"\x1b[2J\x00\x07\x7f", `\x1b[2J\x00\x07\x7f`, `\x1b[2J\x00\x07\x7f`},
		"C1":               {"\u009b31m", `\u009b31m`, `\u009b31m`},
		"separators":       {"a\u2028b\u2029", `a\u2028b\u2029`, `a\u2028b\u2029`},
		"bidi":             {"\u202e\u2066\u200f", `\u202e\u2066\u200f`, `\u202e\u2066\u200f`},
		"zero width":       {"\u200b\u200d\ufeff\u034f", `\u200b\u200d\ufeff\u034f`, `\u200b\u200d\ufeff\u034f`},
		"invisible":        {"\u3164\u2800\ufe0f", `\u3164\u2800\ufe0f`, `\u3164\u2800\ufe0f`},
		"tags":             {"\U000e0041", `\U000e0041`, `\U000e0041`},
		"not UTF-8":        {"a\xffb\xc3", `a\xffb\xc3`, `a\xffb\xc3`},
		"private use":      {"\ue000", `\ue000`, `\ue000`},
		"replacement rune": {"\ufffd", "\ufffd", "\ufffd"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Line(tt.in); got != tt.line {
				t.Errorf("Line gives %q, want %q", got, tt.line)
			}
			if got := Text(tt.in); got != tt.text {
				t.Errorf("Text gives %q, want %q", got, tt.text)
			}
		})
	}
}

// FuzzEscape holds that nothing but what shows comes out, and that escaping
// JSON does not change what it means.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", "a\x1b[2J", "\u202e\u009b", "\U000e0041\xff", "x\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Line(s) {
			if !visible.Rune(r) {
				t.Fatalf("Line(%q) holds %U", s, r)
			}
		}
		if !utf8.ValidString(s) {
			return
		}
		doc, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		safe := JSON(doc)
		var back string
		if err := json.Unmarshal(safe, &back); err != nil || back != s {
			t.Fatalf("JSON(%s) = %s means %q, want %q (%v)", doc, safe, back, s, err)
		}
		for _, r := range string(safe) {
			if !visible.Rune(r) {
				t.Fatalf("JSON(%s) holds %U", doc, r)
			}
		}
	})
}

func printer(width int, colour bool) (*Printer, *bytes.Buffer) {
	var b bytes.Buffer
	return &Printer{w: &b, screen: &screen{w: &b}, Terminal: width > 0, Colour: colour, Width: width}, &b
}

func TestLineIsCutAndStyled(t *testing.T) {
	t.Parallel()
	p, out := printer(12, true)
	p.Line(Span{Green, "✓ "}, Span{Bold, "Read"}, Span{Plain, " a\x1b/long/name.txt"}, Span{Dim, "never"})
	if got, want := out.String(), "\x1b[32m✓ \x1b[0m\x1b[1mRead\x1b[0m a\\x1…\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	p, out := printer(0, false)
	timeline := NewTimeline(p, false)
	finish := func(r abi.ToolResult) {
		timeline.Event(host.Event{Kind: host.EventFinished, Tool: "T", Title: "a\nb", Elapsed: 1500 * time.Microsecond, Result: &r})
	}
	finish(abi.ToolResult{Content: []abi.Block{abi.TextBlock(strings.Repeat("x", 2048))}})
	finish(abi.ToolResult{IsError: true, Content: []abi.Block{abi.TextBlock("own\nword")}})
	finish(abi.ErrorResult("1", abi.Errorf(abi.CodeNeedsApproval, "ask")))
	finish(abi.ErrorResult("1", abi.Errorf(abi.CodeCancelled, "gone")))
	timeline.Event(host.Event{Kind: host.EventLog, Log: &abi.Log{Level: "info", Message: "hidden"}})
	timeline.start = time.Now()
	timeline.End()
	want := "ok          T a\\nb  1.5ms  2.0 KiB\n" +
		"failed      T a\\nb  1.5ms  8 B  own\\nword\n" +
		"denied      T a\\nb  1.5ms  3 B  ask\n" +
		"cancelled   T a\\nb  1.5ms  4 B  gone\n" +
		"4 calls in "
	if got := out.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ": 1 ok, 1 failed, 1 denied, 1 cancelled\n") {
		t.Errorf("got\n%s\nwant\n%s...", got, want)
	}
}

func TestElapsed(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		7 * time.Microsecond: "7µs", 12345 * time.Microsecond: "12.3ms", 1500 * time.Millisecond: "1.5s", 90 * time.Second: "1m30s",
		26 * time.Hour: "26h00m",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 << 19: "2.5 MiB", 3 << 30: "3.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

// TestShare holds that no numbers make a bar that is none.
func TestShare(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, tt := range []struct{ done, total, want float64 }{
		{0, 4, 0}, {1, 4, 0.25}, {4, 4, 1}, {9, 4, 1}, {-1, 4, 0}, {1, inf, 0}, {inf, 4, 1}, {inf, inf, 0}, {math.NaN(), 4, 0},
	} {
		if got := share(tt.done, tt.total); got != tt.want {
			t.Errorf("%v of %v: got %v, want %v", tt.done, tt.total, got, tt.want)
		}
		if got := cells(bar(share(tt.done, tt.total), barWidth)); got != barWidth {
			t.Errorf("%v of %v: the bar has %d cells", tt.done, tt.total, got)
		}
	}
}
