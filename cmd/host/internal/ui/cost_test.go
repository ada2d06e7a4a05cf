package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui/vt"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestFrameRate counts how often the terminal is written to.
func TestFrameRate(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
		u := s.queue("Bash", "make").starts()
		for i := range 10_000 {
			u.reports(host.Progress{Tail: strconv.Itoa(i), Bytes: int64(i)})
			if i%2 == 0 {
				s.queue("Bash", "true").starts().answers(0, 0)
			}
			time.Sleep(time.Millisecond)
		}
		if n := len(v.Writes()); n < 95 || n > 100 {
			t.Errorf("there were %d writes in 10 s", n)
		}
		u.answers(10*time.Second, 1)
	})
	for _, w := range v.Writes()[:len(v.Writes())-2] {
		if !strings.HasPrefix(w, hideCursor) || !strings.HasSuffix(w, wrapOn+showCursor) {
			t.Fatalf("this is no whole frame: %q", w)
		}
	}
	if n := strings.Count(v.Text(), "✓ Bash true"); n != 5000 {
		t.Errorf("%d of 5000 lines are there", n)
	}
}

// TestNothingNew has a picture that does not change drawn once a second and no more.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
		s.queue("Read", "go.mod").starts().answers(time.Millisecond, 1) // waits for others like it
		time.Sleep(1050 * time.Millisecond)
		before := len(v.Writes())
		time.Sleep(10 * time.Second)
		if n := len(v.Writes()) - before; n != 10 {
			t.Errorf("there were %d writes in 10 s", n)
		}
		_, _ = v.Write([]byte("typed"))
		time.Sleep(time.Second)
		if got, want := v.Text(), "✓ Read go.mod  1.0ms  1 B\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestRegionShrinks has nothing stay of a picture that had more lines, or longer ones.
func TestRegionShrinks(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
		for i := range gatherFrom {
			s.queue("Read", fmt.Sprint("file", i)).starts().answers(time.Millisecond, 1)
			time.Sleep(time.Second)
			if n := strings.Count(v.Text(), "\n"); i < gatherFrom-1 && n != i+1 {
				t.Errorf("there are %d lines of %d calls:\n%s", n, i+1, v.Text())
			}
		}
		if got, want := v.Text(), "✓ 5 reads file0, file1, file2, file3, file4  4.0s  5 B\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestManyCalls has each call cost the same however many there are, nothing kept of
// those that ended, and the line of many made from a few.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	const n = 10_000
	most := 2 * time.Second
	if testenv.Race {
		most = testenv.Patience
	}
	testenv.InTime(t, most, func() time.Duration {
		s := newStage(&Printer{Terminal: true, Live: true}, false)
		return testenv.Work(func() {
			var open []*use
			for i := range n {
				outer := s.queue("Bash", fmt.Sprintf("make target%d", i)).starts()
				open = append(open, outer, outer.makes("Read", "Makefile").starts())
			}
			for _, u := range slices.Backward(open) {
				u.answers(time.Second, 1)
			}
			if b := s.b; len(b.calls)+len(b.makers) != 0 || len(b.roots) > 1 {
				t.Errorf("%d calls, %d makers and %d roots are kept", len(b.calls), len(b.makers), len(b.roots))
			}
			if got := strings.Count(s.b.above.take(80, false), "✓"); got != 2*n {
				t.Errorf("there are %d lines, want %d", got, 2*n)
			}
			for range n {
				s.queue("Read", strings.Repeat("x", 80)).starts().answers(time.Second, 1)
			}
			for range 100 {
				if got := len(s.b.frame(s.start, s.now, 80, 24)); got != 1 {
					t.Errorf("there are %d lines, want 1", got)
				}
			}
		})
	})
}

// TestQuickTurn has nothing drawn that nobody could see.
func TestQuickTurn(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	onVT(t, v, func(s *script, _ *Timeline, _ *Printer) {
		s.queue("Bash", "true").starts().answers(time.Millisecond, 0)
	})
	if got := strings.Join(v.Writes(), ""); strings.Contains(got, "\x1b") {
		t.Errorf("sequences were written: %q", got)
	}
}

// stuck is a terminal that takes nothing until it is told to.
type stuck struct {
	io.Writer
	free chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.free
	return s.Writer.Write(b)
}

// TestSlowTerminal has events go on while the terminal takes nothing.
func TestSlowTerminal(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	synctest.Test(t, func(t *testing.T) {
		p := printerOn(v)
		slow := &stuck{v, make(chan struct{})}
		p.w, p.screen.w = slow, slow
		timeline := NewTimeline(p, true)
		s := &script{tell: timeline.Event}
		u := s.queue("Bash", "make").starts()
		time.Sleep(time.Second) // a frame is under way, and stuck
		before := time.Now()
		for range 3 * maxDetails {
			u.with(host.EventLog, func(e *host.Event) { e.Log = &abi.Log{Level: "info", Message: "m"} })
		}
		u.answers(time.Second, 1)
		if d := time.Since(before); d > 0 {
			t.Errorf("events waited for %v", d)
		}
		close(slow.free)
		timeline.End()
	})
	text := v.Text()
	if n := strings.Count(text, "info: m"); n != maxDetails {
		t.Errorf("%d details are shown, want %d", n, maxDetails)
	}
	if !strings.Contains(text, "(2000 lines left out: the terminal is slow)") || strings.Count(text, "✓ Bash make") != 1 {
		t.Errorf("got %s", text[:min(len(text), 500)])
	}
}

// TestHeldInMidFrame has nothing lost where somebody takes the terminal between what
// a frame is made of and the frame.
func TestHeldInMidFrame(t *testing.T) {
	t.Parallel()
	v := vt.New(80, 24)
	text := onVT(t, v, func(s *script, _ *Timeline, p *Printer) {
		var armed atomic.Bool
		var release func()
		p.size = func() (int, int) {
			if armed.CompareAndSwap(true, false) {
				release = p.Hold()
			}
			return v.Size()
		}
		u := s.queue("Bash", "make").starts()
		time.Sleep(time.Second + time.Millisecond) // and not when a frame is made
		s.queue("Bash", "true").starts().answers(0, 0)
		armed.Store(true)
		time.Sleep(time.Second)
		if armed.Load() || v.Text() != "\n" {
			t.Errorf("the terminal is not held: %q", v.Text())
		}
		release()
		time.Sleep(time.Second)
		u.answers(time.Second, 0)
	})
	holdsLines(t, text, []string{"✓ Bash true", "✓ Bash make", "2 calls"})
}

// TestEndsOnce counts a call that is told to have ended twice as one.
func TestEndsOnce(t *testing.T) {
	t.Parallel()
	s := newStage(&Printer{Terminal: true, Live: true}, false)
	outer := s.queue("Bash", "outer").starts()
	in := outer.makes("Bash", "inner").starts()
	in.answers(time.Second, 1).fails(time.Second, abi.CodeCancelled, "late")
	outer.answers(time.Second, 1)
	if got, want := s.b.above.take(80, false), "✓ Bash outer  1.0s  1 B\n  ✓ Bash inner  1.0s  1 B\n"; got != want || s.b.ended() != 2 {
		t.Errorf("got %q and %d calls, want %q and 2", got, s.b.ended(), want)
	}
}

// TestHoldMendsTheTerminal holds the region off a terminal that lost the end of its last frame,
// as where Ctrl-Z is typed while that is on its way.
func TestHoldMendsTheTerminal(t *testing.T) {
	t.Parallel()
	var written strings.Builder
	s := &screen{w: &written, size: func() (int, int) { return 80, 24 }}
	s.draw("", []string{"live"}, 80, 24)
	written.Reset()
	s.hold()()
	if got := written.String(); !strings.HasSuffix(got, wrapOn+showCursor) {
		t.Errorf("what takes the region off is %q", got)
	}
	written.Reset()
	s.hold()()
	if got := written.String(); got != "" {
		t.Errorf("without a region %q is written", got)
	}
}
