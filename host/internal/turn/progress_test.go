package turn

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// told is what a progress passed on, and when.
type told struct {
	*Told
	at time.Duration
}

func tellInto(all *[]told) *Progress {
	began := time.Now()
	return NewProgress(func(p *Told) { *all = append(*all, told{p, time.Since(began)}) })
}

// TestProgressIsThinned reports every millisecond for a second, and something every
// now and then.
func TestProgressIsThinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []told
		p := tellInto(&all)
		for i := range 1000 {
			p.Report(&abi.Progress{Done: float64(i), Output: fmt.Sprintf("line %d\n", i)})
			time.Sleep(time.Millisecond)
		}
		p.End()
		if len(all) < 9 || len(all) > 11 {
			t.Errorf("%d reports in a second", len(all))
		}
		var output strings.Builder
		for i, now := range all {
			output.WriteString(now.Output)
			if i > 0 && i < len(all)-1 && now.at-all[i-1].at < reportEvery {
				t.Errorf("report %d came %v after the one before", i, now.at-all[i-1].at)
			}
		}
		if lines := strings.Count(output.String(), "\n"); lines != 1000 || !strings.HasPrefix(output.String(), "line 0\nline 1\n") {
			t.Errorf("of the output came %d lines, %.20q", lines, output.String())
		}
		last := all[len(all)-1]
		if last.Done != 999 || last.Lines != 1000 || last.Bytes != int64(output.Len()) || !strings.HasSuffix(last.Tail, "line 999\n") {
			t.Errorf("the last report is %v of %d lines, %d bytes, ending with %q", last.Done, last.Lines, last.Bytes, last.Tail[max(0, len(last.Tail)-20):])
		}
	})
}

// TestProgressComesAtOnce has the first report of a while come without waiting, and
// one that was held back come by itself.
func TestProgressComesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []told
		p := tellInto(&all)
		for _, pause := range []int{0, 30, 40, 300} {
			time.Sleep(time.Duration(pause) * time.Millisecond)
			p.Report(&abi.Progress{Done: float64(pause)})
		}
		time.Sleep(time.Second)
		p.End()
		var got []string
		for _, now := range all {
			got = append(got, fmt.Sprintf("%v at %v", now.Done, now.at))
		}
		if want := "0 at 0s, 40 at 100ms, 300 at 370ms"; strings.Join(got, ", ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
}

// TestProgressOfALateTimer has what is due told before something newer takes its place,
// where the timer is late, as it is on a busy machine.
func TestProgressOfALateTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []told
		p := tellInto(&all)
		p.Report(&abi.Progress{Done: 1, Output: "a"})
		time.Sleep(50 * time.Millisecond)
		p.Report(&abi.Progress{Done: 2, Output: "b"})
		p.timer.Stop() // and comes only below
		time.Sleep(60 * time.Millisecond)
		p.Report(&abi.Progress{Done: 3, Output: "c"})
		p.due()
		time.Sleep(50 * time.Millisecond)
		p.End()
		var got []string
		for _, now := range all {
			got = append(got, fmt.Sprintf("%v%s at %v", now.Done, now.Output, now.at))
		}
		if want := "1a at 0s, 2b at 110ms, 3c at 160ms"; strings.Join(got, ", ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
}

// TestProgressEnds has what was held back come before the end, and nothing after it.
func TestProgressEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []told
		p := tellInto(&all)
		p.Report(&abi.Progress{Done: 1})
		p.Report(&abi.Progress{Done: 2})
		p.End()
		p.Report(&abi.Progress{Done: 3})
		p.End()
		time.Sleep(time.Second)
		if len(all) != 2 || all[1].Done != 2 || all[1].at != 0 || !p.Ended() {
			t.Errorf("got %v", all)
		}
	})
}

// TestProgressIsBounded floods the output.
func TestProgressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []told
		p := tellInto(&all)
		line := strings.Repeat("é", 511) + "\n" // no bound falls between two code points
		const lines = 2000
		for range lines {
			p.Report(&abi.Progress{Output: line})
		}
		p.End()
		last := all[len(all)-1]
		if last.Bytes != int64(lines*len(line)) || last.Lines != lines {
			t.Errorf("counted %d bytes, %d lines", last.Bytes, last.Lines)
		}
		if len(last.Tail) > maxTail || len(last.Output) > maxOutput || !utf8.ValidString(last.Tail) || !utf8.ValidString(last.Output) {
			t.Errorf("the tail has %d bytes, the output %d", len(last.Tail), len(last.Output))
		}
		if len(last.Tail) < maxTail-utf8.UTFMax || len(last.Output) < maxOutput-utf8.UTFMax {
			t.Errorf("the tail has only %d bytes, the output %d", len(last.Tail), len(last.Output))
		}
	})
}

// TestProgressFloodIsCheap reports a line at a time, far more of them than are kept: what
// is kept must not be copied for each.
func TestProgressFloodIsCheap(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	p := &Progress{tell: func(*Told) {}, next: time.Now().Add(time.Hour)}
	line := strings.Repeat("x", 1023) + "\n"
	const lines = 20_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range lines {
		p.Report(&abi.Progress{Output: line})
	}
	runtime.ReadMemStats(&after)
	p.End()
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 32<<20 {
		t.Errorf("%d lines took %d MB", lines, spent>>20)
	}
}

// TestProgressKeepsTheEnd has pieces of all lengths, of code points of all lengths, and
// compares what is kept with the end of the whole.
func TestProgressKeepsTheEnd(t *testing.T) {
	t.Parallel()
	const most = 64
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var e ending
		var whole strings.Builder
		for range 50 {
			piece := strings.Repeat("aé√𝄞"[:[]int{1, 3, 6, 10}[random.IntN(4)]], random.IntN(30))
			whole.WriteString(piece)
			e.add(piece, most)
			if got, want := e.last(most), last(whole.String(), most); got != want {
				t.Fatalf("kept %q, want %q", got, want)
			}
			if cap(e) > 8*most {
				t.Fatalf("it takes %d bytes", cap(e))
			}
		}
	}
}

// TestClocks books time to what goes on.
func TestClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewStopwatch(time.Now())
		pass := func(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }
		pass(10)
		w.Queued()
		w.Asks(1)
		pass(1000)
		w.Asks(-1)
		w.Queued() // a second turn of the same call
		w.Tool(true)
		pass(20)
		w.Capability(1)
		pass(30)
		w.Capability(1) // beside the first
		pass(40)
		w.Asks(1) // inside one of them
		pass(2000)
		w.Asks(-1)
		w.Capability(-1)
		w.Capability(-1)
		pass(5)
		w.Tool(false)
		pass(7)
		got := *w.Read(9 * time.Second)
		want := Clocks{Queued: 10 * time.Millisecond, Person: 3 * time.Second, Running: 9 * time.Second,
			Guest: 25 * time.Millisecond, Capability: 70 * time.Millisecond}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		var none *Stopwatch
		none.Asks(1)
		if none.Read(0) != nil {
			t.Error("what nobody measured was told")
		}
	})
}
