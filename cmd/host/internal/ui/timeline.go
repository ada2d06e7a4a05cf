package ui

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// Timeline shows a turn as it happens: a line for each call when it ends, and at
// the end their sum. On a terminal the calls under way are shown below these
// lines, drawn anew as they go on.
//
// It is safe for concurrent use.
type Timeline struct {
	p     *Printer
	start time.Time

	mu    sync.Mutex
	board *board
	// driver draws the live region, from the first event on; nil before, after the
	// end, and where nothing is live.
	driver *driver
}

// NewTimeline prints to p; verbose adds capability calls, logs and progress. A
// timeline that was told of an event must be ended.
func NewTimeline(p *Printer, verbose bool) *Timeline {
	return &Timeline{p: p, start: time.Now(), board: newBoard(p, verbose)}
}

// Describe has tools shown as they ask to be: find returns a tool's contract by
// its name, or nil. It is to be called before the first event.
func (t *Timeline) Describe(find func(name string) *abi.Tool) { t.board.find = find }

// Interruptible says that a Ctrl-C interrupts the turn instead of ending it, as long
// as soft reports so: calls that block interrupts go on. It is to be called before
// the first event; soft is called at any time, and must not wait.
func (t *Timeline) Interruptible(soft func() bool) { t.board.soft = soft }

// Event shows one event, if it is one to be shown. On a live terminal it only
// takes note, so that no call waits for a slow one.
func (t *Timeline) Event(e host.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !e.Time.IsZero() && e.Time.Before(t.start) {
		t.start = e.Time // the turn had begun before it was looked at
	}
	t.board.apply(&e, time.Now())
	switch {
	case !t.board.live:
		t.print()
	case t.driver == nil:
		t.driver = drive(t)
	}
}

// print prints what there is to be printed for good.
func (t *Timeline) print() {
	if text := t.take(); text != "" {
		_, _ = t.p.Write([]byte(text))
	}
}

func (t *Timeline) take() string {
	width, _ := t.p.Size()
	return t.board.above.take(width, t.p.Colour)
}

// End takes the live region away and prints the sum. What is shown afterwards is
// shown as without a terminal.
func (t *Timeline) End() {
	t.mu.Lock()
	driver := t.driver
	t.driver = nil
	live := t.board.live
	t.board.live = false
	t.mu.Unlock()
	rest := ""
	if driver != nil {
		rest = driver.stop()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.board.flush()
	if live {
		t.board.printWork()
	}
	t.board.print(keeps(Dim, t.sum()))
	t.p.screen.last(t.p.w, rest+t.take())
}

// sum says how many calls there were and how they ended.
func (t *Timeline) sum() string {
	var parts []string
	total := 0
	for s, n := range t.board.counts {
		if n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, looks[s].word))
		}
	}
	sum := fmt.Sprintf("%s in %s", count(total, "call"), Elapsed(time.Since(t.start)))
	if total == 0 {
		return sum
	}
	return sum + ": " + strings.Join(parts, ", ")
}
