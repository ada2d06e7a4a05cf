package ui

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui/vt"
	"github.com/toolquay/toolquay/host"
)

// onVT plays a turn on a terminal with a clock of its own, and returns what is
// on the terminal in the end. Each write must leave the terminal in order.
func onVT(t *testing.T, v *vt.Terminal, play func(s *script, timeline *Timeline, p *Printer)) string {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := printerOn(v)
		timeline := NewTimeline(p, false)
		timeline.Describe(contracts)
		timeline.Interruptible(func() bool { return true })
		play(&script{tell: timeline.Event}, timeline, p)
		timeline.End()
	})
	if err := v.Err(); err != nil {
		t.Errorf("the terminal is left in disorder: %v", err)
	}
	return v.Text()
}

// mixed is a turn with a bit of everything, in some seconds.
func mixed(s *script, pause func()) {
	a := s.queue("Read", "go.mod").starts()
	b := s.queue("Grep", "func main").starts()
	c := s.queue("Bash", "make all && make test").starts()
	d := s.queue("Edit", "日本語/ファイル.txt")
	pause()
	a.answers(1200*time.Microsecond, 300)
	pause()
	b.fails(400*time.Millisecond, abi.CodeNotFound, "no such directory: src")
	c.reports(host.Progress{Tail: "compiling\nlinking\n", Lines: 2, Bytes: 18})
	pause()
	c.reports(host.Progress{Progress: abi.Progress{Message: "tests", Done: 3, Total: 10}, Bytes: 5000})
	in := c.makes("Read", "Makefile").starts()
	pause()
	in.answers(10*time.Millisecond, 4096)
	pause()
	c.fails(1500*time.Millisecond, "", "exit code 2")
	d.starts()
	pause()
	d.answers(90*time.Millisecond, 40)
	s.queue("Bash", "true").fails(0, abi.CodeCancelled, "Cancelled: parallel tool call Bash(make all) errored")
	s.queue("Bash", "sleep 60").starts().fails(2*time.Second, abi.CodeInterrupted, "The user interrupted before Bash(sleep 60) had ended")
}

// wantMixed is what stays of it, at a width where nothing is cut.
var wantMixed = []string{
	"✓ Read go.mod  1.2ms  300 B",
	"✗ Grep func main  400.0ms  ",
	"✗ Bash make all && make test  1.5s  ",
	"  ✓ Read Makefile  10.0ms  4.0 KiB",
	"✓ Edit 日本語/ファイル.txt  90.0ms  40 B",
	"– Bash true  0µs  ",
	"■ Bash sleep 60  2.0s  ",
	"7 calls in ",
}

// holdsLines checks that lines are there in order, each once, and no others.
func holdsLines(t *testing.T, text string, starts []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != len(starts) {
		t.Errorf("there are %d lines, want %d:\n%s", len(lines), len(starts), text)
		return
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, starts[i]) {
			t.Errorf("line %d is %q, want %q...", i+1, line, starts[i])
		}
	}
}

// TestLiveTurn has one line for each call in the end, whatever was drawn in
// between, at sizes of all kinds.
func TestLiveTurn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{200, 50}, {80, 24}, {60, 4}, {80, 2}, {80, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			text := onVT(t, vt.New(size[0], size[1]), func(s *script, _ *Timeline, _ *Printer) {
				mixed(s, func() { time.Sleep(450 * time.Millisecond) })
			})
			holdsLines(t, text, wantMixed)
		})
	}
	for _, width := range []int{1, 2, 3, 7, 20} {
		t.Run(fmt.Sprint("narrow ", width), func(t *testing.T) {
			t.Parallel()
			text := onVT(t, vt.New(width, 10), func(s *script, _ *Timeline, _ *Printer) {
				mixed(s, func() { time.Sleep(450 * time.Millisecond) })
			})
			if n := strings.Count(text, "\n"); n != len(wantMixed) {
				t.Errorf("there are %d lines, want %d:\n%s", n, len(wantMixed), text)
			}
		})
	}
}

// TestResize makes the terminal another size in the middle of frames.
func TestResize(t *testing.T) {
	t.Parallel()
	for _, reflows := range []bool{false, true} {
		t.Run(fmt.Sprintf("reflows=%t", reflows), func(t *testing.T) {
			t.Parallel()
			v := vt.New(120, 24)
			v.Reflows = reflows
			sizes := [][2]int{{70, 24}, {71, 10}, {140, 12}, {64, 30}, {90, 7}}
			text := onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
				mixed(s, func() {
					time.Sleep(250 * time.Millisecond)
					size := sizes[0]
					sizes = append(sizes[1:], size)
					v.Resize(size[0], size[1])
					time.Sleep(250 * time.Millisecond)
				})
			})
			starts := make([]string, len(wantMixed))
			for i, start := range wantMixed {
				starts[i] = start[:min(len(start), len("✗ Bash"))] // what was drawn was cut at its time
			}
			holdsLines(t, text, starts)
		})
	}
}

// TestResizeWithinAFrame makes the terminal lower between the look at its size and the
// drawing: calls that may still be gathered must not stay where they scrolled to.
func TestResizeWithinAFrame(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	var once sync.Once
	synctest.Test(t, func(t *testing.T) {
		p := printerOn(v)
		p.size = func() (width, height int) {
			width, height = v.Size()
			once.Do(func() { v.Resize(80, 2) })
			return width, height
		}
		timeline := NewTimeline(p, false)
		s := &script{tell: timeline.Event}
		build, edit := s.queue("Bash", "make").starts(), s.queue("Edit", "b.go").starts()
		s.queue("Read", "a.go").starts().answers(time.Millisecond, 18)
		time.Sleep(time.Second)
		build.answers(time.Second, 5)
		edit.answers(time.Second, 5)
		timeline.End()
	})
	holdsLines(t, v.Text(), []string{"✓ Read a.go", "✓ Bash make", "✓ Edit b.go", "3 calls in "})
}

// TestOtherWidths has a terminal that finds characters wider than we do.
func TestOtherWidths(t *testing.T) {
	t.Parallel()
	v := vt.New(40, 10)
	v.Wider = "✓✗⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏é"
	text := onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
		u := s.queue("Bash", strings.Repeat("é", 80)).starts()
		time.Sleep(time.Second)
		s.queue("Bash", "b").starts().answers(time.Second, 1)
		time.Sleep(time.Second)
		u.fails(2*time.Second, abi.CodeIO, "")
	})
	if n := strings.Count(text, "\n"); n != 3 || strings.ContainsAny(text, string(spinner)) {
		t.Errorf("there are %d lines, want 3, and nothing of the live region:\n%s", n, text)
	}
}

// TestParallelCallsAreSeen looks at the terminal while calls run.
func TestParallelCallsAreSeen(t *testing.T) {
	t.Parallel()
	v := vt.New(100, 12)
	onVT(t, v, func(s *script, timeline *Timeline, _ *Printer) {
		s.queue("Bash", "make").starts().reports(host.Progress{Tail: "10%\r20%\rcc a.c\r\n", Bytes: 2048})
		s.queue("mcp__web__fetch", "example.org").starts().reports(host.Progress{Progress: abi.Progress{Done: 3, Total: 4}})
		s.queue("Bash", "rm -r out").is(host.EventQuestion)
		s.queue("Edit", "a.go").starts()
		for range 5 {
			s.queue("Read", "b.go")
		}
		time.Sleep(1950 * time.Millisecond)
		want := "⠙ Bash make  1.9s  2.0 KiB  cc a.c\n" +
			"⠙ Fetch example.org  1.9s  ███████░░░  75%\n" +
			"? Bash rm -r out  waits for you  1.9s\n" +
			"⠙ Edit a.go  1.9s\n" +
			"· Read b.go  queued\n· Read b.go  queued\n· Read b.go  queued\n" +
			"  3 running, 1 waiting for you, 5 queued  1.9s  Ctrl-C interrupts all but Edit\n"
		got := v.Text()
		for _, frame := range spinner {
			got = strings.ReplaceAll(got, string(frame), "⠙")
		}
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestQuestion keeps the live region away while somebody is asked, and has it
// back afterwards.
func TestQuestion(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	text := onVT(t, v, func(s *script, _ *Timeline, p *Printer) {
		u := s.queue("Bash", "make").starts()
		time.Sleep(time.Second)
		release := p.Hold()
		p.Line(Span{Bold, "? may I"})
		p.Printf("answer: ")
		s.queue("Bash", "true").starts().answers(0, 0)
		frames := len(v.Writes())
		time.Sleep(time.Second)
		if len(v.Writes()) != frames {
			t.Errorf("something was drawn over the question: %q", v.Writes()[frames:])
		}
		if want := "? may I\nanswer:\n"; v.Text() != want {
			t.Errorf("got %q, want %q", v.Text(), want)
		}
		_, _ = v.Write([]byte("yes\n")) // the echo
		release()
		time.Sleep(time.Second)
		if !strings.Contains(v.Text(), "1 running, 1 done") {
			t.Errorf("the live region is not back:\n%s", v.Text())
		}
		u.answers(time.Second, 0)
	})
	holdsLines(t, text, []string{"? may I", "answer: yes", "✓ Bash true", "✓ Bash make", "2 calls"})
}

// TestLogLines has what others print stand above the live region, on whichever of
// the two streams.
func TestLogLines(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	text := onVT(t, v, func(s *script, _ *Timeline, p *Printer) {
		out := *p // standard output
		log := slog.New(slog.NewTextHandler(p, nil))
		u := s.queue("Bash", "make").starts()
		s.queue("Bash", "make").starts()
		for range 3 {
			time.Sleep(250 * time.Millisecond)
			log.Warn("hm", "at", strings.Repeat("x", 100))
			lines := strings.Split(v.Text(), "\n")
			if n := len(lines); n < 5 || !strings.HasSuffix(lines[n-5], "xxx") || !strings.HasSuffix(lines[n-2], "Ctrl-C interrupts") {
				t.Errorf("the live region is not below the line:\n%s", v.Text())
			}
			_, _ = io.WriteString(&out, "{}\n")
		}
		u.answers(time.Second, 0)
	})
	holdsLines(t, text, []string{"time=", "{}", "time=", "{}", "time=", "{}", "✓ Bash make", "1 call in"})
}

// TestAbandon leaves the terminal in order for whoever comes next.
func TestAbandon(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	onVT(t, v, func(s *script, _ *Timeline, p *Printer) {
		s.queue("Bash", "make").starts()
		time.Sleep(time.Second)
		p.Abandon()
		time.Sleep(time.Second)
		if got := v.Text(); got != "\n" {
			t.Errorf("this is left: %q", got)
		}
	})
}

// TestTyping has what is typed go away with the next frame.
func TestTyping(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	text := onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
		u := s.queue("Bash", "make").starts()
		time.Sleep(time.Second)
		_, _ = v.Write([]byte("^C"))
		time.Sleep(time.Second)
		if got := v.Text(); strings.Contains(got, "^C") {
			t.Errorf("it is still there:\n%s", got)
		}
		_, _ = v.Write([]byte("^C"))
		u.fails(2*time.Second, abi.CodeCancelled, "gone")
	})
	holdsLines(t, text, []string{"– Bash make  2.0s", "1 call in"})
}

// TestAfterTheEnd shows what comes late as lines.
func TestAfterTheEnd(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	synctest.Test(t, func(*testing.T) {
		timeline := NewTimeline(printerOn(v), false)
		s := &script{tell: timeline.Event}
		timeline.End()
		s.queue("Bash", "late").starts().answers(time.Second, 0)
	})
	holdsLines(t, v.Text(), []string{"0 calls in 0µs", "✓ Bash late  1.0s"})
	if strings.Contains(v.Text(), "0µs:") {
		t.Errorf("a sum of nothing: %s", v.Text())
	}
}

// printerOn is a printer on a terminal.
func printerOn(v *vt.Terminal) *Printer {
	width, _ := v.Size()
	p := &Printer{w: v, screen: &screen{w: v}, Terminal: true, Live: true, Width: width, size: v.Size}
	p.screen.size = p.Size
	return p
}
