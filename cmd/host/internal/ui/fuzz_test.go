package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui/vt"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

var allKinds = []host.EventKind{
	host.EventQueued, host.EventDecided, host.EventQuestion, host.EventHook, host.EventRewritten, host.EventStarted,
	host.EventCapability, host.EventProgress, host.EventLog, host.EventFinished, host.EventResult, host.EventChanged,
	host.EventMessage, host.EventStop, host.EventPersisted, host.EventReplaced, host.EventInterruptible,
	host.EventDiscarded, host.EventAbandoned, host.EventTools, host.EventTurn, host.EventTurnEnded, "unknown",
}

// source reads values of all kinds out of bytes.
type source struct{ data []byte }

func (s *source) next() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b)
}

func (s *source) text() string {
	n := min(s.next()%64, len(s.data))
	text := string(s.data[:n])
	s.data = s.data[n:]
	return text
}

func (s *source) number() float64 {
	switch n := s.next(); n {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1)
	case 2:
		return math.Inf(-1)
	default:
		return float64(n - 128)
	}
}

// event is an event with parts that fit its kind or do not.
func (s *source) event() host.Event {
	few := func() string { return strconv.Itoa(s.next() % 4) }
	e := host.Event{
		Kind: allKinds[s.next()%len(allKinds)], CallID: few(), Caller: host.Caller{Parent: few(), Depth: s.next()%6 - 1}, Index: s.next() % 3,
		Tool: []string{"Read", "Grep", "Edit", "Bash", s.text()}[s.next()%5], Title: s.text(),
		Elapsed: time.Duration(s.number()), Capability: s.text(), Reason: s.text(), Interruptible: s.next()%2 == 0,
	}
	parts := s.next()
	if parts&1 != 0 {
		e.Progress = &host.Progress{
			Progress: abi.Progress{Message: s.text(), Done: s.number(), Total: s.number()}, Tail: s.text(), Bytes: int64(s.number()),
		}
	}
	if parts&2 != 0 {
		e.Log = &abi.Log{Level: s.text(), Message: s.text()}
	}
	if parts&4 != 0 {
		e.Result = &abi.ToolResult{IsError: s.next()%2 == 0, Content: []abi.Block{abi.TextBlock(s.text())}}
		if s.next()%2 == 0 {
			e.Result.Error = &abi.Error{Code: abi.Codes()[s.next()%len(abi.Codes())].Code, Message: s.text()}
		}
	}
	if parts&8 != 0 {
		e.Stored = &host.StoredResult{Path: s.text(), Bytes: int64(s.number())}
	}
	if parts&16 != 0 {
		e.Change = &abi.Change{Kind: abi.ChangeKind(s.text()), Value: json.RawMessage(s.text())}
	}
	if parts&32 != 0 {
		e.Hook, e.Err = &host.HookRecord{Hook: s.text()}, errors.New(s.text())
	}
	e.Effects = make([]permissions.Access, parts>>6)
	return e
}

// FuzzBoard holds that whatever is told, in whatever order, comes out as whole
// lines that fit, without a character that the terminal would obey.
func FuzzBoard(f *testing.F) {
	f.Add(byte(80), byte(24), byte(0), []byte("\x00\x01\x02"))
	f.Add(byte(1), byte(1), byte(1), []byte(strings.Repeat("\x00\x05\x09日\x1b[2J", 40)))
	f.Add(byte(9), byte(3), byte(2), []byte(strings.Repeat("\x07\xff\x00e\u0301\u0301\u0301👩", 40)))
	f.Fuzz(func(t *testing.T, width, height, flags byte, data []byte) {
		p := &Printer{Terminal: flags&1 == 0, Live: flags&2 == 0, Colour: flags&8 == 0}
		s := newStage(p, flags&4 != 0)
		w, h := max(1, int(width)), max(1, int(height))
		term := vt.New(w+1, h)
		for src := (&source{data}); len(src.data) > 0; {
			s.tell(src.event())
			s.wait(time.Duration(src.next()) * 10 * time.Millisecond)
			lines := s.b.frame(s.start, s.now, w, h)
			if len(lines) > h {
				t.Fatalf("%d lines in %d rows", len(lines), h)
			}
			for _, line := range lines {
				text := style(layout(line, w), w, p.Colour)
				plain := style(layout(line, w), w, false)
				if n := cells(plain); n > w {
					t.Fatalf("%q takes %d of %d cells", plain, n, w)
				}
				before := term.Rows()
				_, _ = term.Write([]byte(text + "\n"))
				if n := term.Rows() - before; n != 1 {
					t.Fatalf("%q takes %d rows", text, n)
				}
			}
			_, _ = term.Write([]byte(s.b.above.take(w, p.Colour)))
			if err := term.Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestRandomTurns plays turns of many calls on terminals of changing size, with
// lines from others and questions in between. In the end each call is there once.
func TestRandomTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5))
			v := vt.New(40+r.IntN(80), 2+r.IntN(30))
			v.Reflows = seed%2 == 0
			want := make(map[string]int)
			text := onVT(t, v, func(s *script, _ *Timeline, p *Printer) { play(r, s, p, v, want) })
			for line, n := range want {
				if got := strings.Count(text, line); got != n {
					t.Errorf("%q is there %d times, want %d", line, got, n)
				}
			}
			if strings.ContainsAny(text, string(spinner)+"·") || strings.Contains(text, "Ctrl-C") {
				t.Error("something of the live region is left")
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// play plays a random turn and notes down what must be on the terminal then.
func play(r *rand.Rand, s *script, p *Printer, v *vt.Terminal, want map[string]int) {
	var open []*use
	for i := range 80 {
		title := fmt.Sprintf("#%d.", i)
		switch r.IntN(10) {
		case 0, 1, 2:
			open = append(open, s.queue("Bash", title).starts())
		case 3:
			if n := len(open); n > 0 {
				in := open[n-1].makes("Bash", title)
				in.starts().answers(0, 1)
				want["✓ Bash "+title]++
			}
		case 4:
			p.Line(Span{Plain, "log " + title})
			want["log "+title]++
		case 5:
			release := p.Hold()
			p.Line(Span{Plain, "question " + title})
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
			release()
			want["question "+title]++
		case 6:
			v.Resize(40+r.IntN(80), 2+r.IntN(30))
		case 7, 8:
			if n := len(open); n > 0 {
				k := r.IntN(n)
				open[k].answers(0, 1)
				want["✓ Bash "+open[k].e.Title]++
				open = append(open[:k], open[k+1:]...)
			}
		}
		time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
	}
	for _, u := range open {
		u.fails(0, abi.CodeCancelled, "gone")
		want["– Bash "+u.e.Title]++
	}
}

// BenchmarkFrame draws a frame with 50 calls under way.
func BenchmarkFrame(b *testing.B) {
	s := newStage(&Printer{Terminal: true, Live: true}, false)
	for i := range 50 {
		s.queue("Bash", fmt.Sprintf("make -C some/directory/of/the/project target%d 日本語", i)).starts().reports(host.Progress{
			Progress: abi.Progress{Done: float64(i), Total: 50}, Tail: strings.Repeat("a line of the output ✓\n", 300), Bytes: 7000,
		})
	}
	for b.Loop() {
		s.wait(frameTime)
		live := make([]string, 0, 64)
		for _, line := range s.b.frame(s.start, s.now, 120, 60) {
			live = append(live, style(layout(line, 120), 120, true))
		}
		if len(picture(live)) == 0 || len(live) != 51 {
			b.Fatal("nothing was drawn")
		}
	}
}

// BenchmarkEvents takes in the events of a call.
func BenchmarkEvents(b *testing.B) {
	s := newStage(&Printer{Terminal: true, Live: true}, false)
	for b.Loop() {
		s.queue("Bash", "make").starts().reports(host.Progress{Tail: "a line\n", Bytes: 7}).answers(time.Second, 10)
		s.b.above.take(80, false)
	}
}

// BenchmarkFrameOfMany draws a frame with 10,000 calls that wait, each of them
// made by a call of its own.
func BenchmarkFrameOfMany(b *testing.B) {
	s := newStage(&Printer{Terminal: true, Live: true}, false)
	for i := range 5000 {
		s.queue("Bash", fmt.Sprintf("make target%d", i)).makes("Read", "Makefile")
	}
	for b.Loop() {
		if len(s.b.frame(s.start, s.now, 120, 60)) == 0 {
			b.Fatal("nothing was drawn")
		}
	}
}
