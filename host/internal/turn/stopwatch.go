package turn

import (
	"sync"
	"time"
)

// Clocks are where a call's time went. They need not add up: capabilities may run side by
// side with the guest.
type Clocks struct {
	// Queued is until its turn came, Person while a person was asked, Running in a slot,
	// with what follows.
	Queued, Person, Running time.Duration
	// Guest is in the tool itself, and Capability while at least one capability call was
	// under way, without asking.
	Guest, Capability time.Duration
}

// Stopwatch measures where a call's time goes. Time while a person is asked is theirs,
// whatever else goes on. A nil one measures nothing. It is safe for concurrent use.
type Stopwatch struct {
	began time.Time

	mu   sync.Mutex
	at   time.Time // of the last change
	told Clocks
	// capabilities are the capability calls under way, asking the questions that are
	// open. inTool says that the tool runs.
	capabilities, asking int
	inTool               bool
}

// NewStopwatch starts one.
func NewStopwatch(now time.Time) *Stopwatch { return &Stopwatch{began: now, at: now} }

// count books the time that has gone by, and then a change of what goes on. A nil
// one measures nothing.
func (w *Stopwatch) count(change func()) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	gone := now.Sub(w.at)
	w.at = now
	switch {
	case w.asking > 0:
		w.told.Person += gone
	case w.capabilities > 0:
		w.told.Capability += gone
	case w.inTool:
		w.told.Guest += gone
	}
	change()
}

// Asks counts questions that are open: 1 more, or -1.
func (w *Stopwatch) Asks(n int) { w.count(func() { w.asking += n }) }

// Capability counts capability calls under way: 1 more, or -1.
func (w *Stopwatch) Capability(n int) { w.count(func() { w.capabilities += n }) }

// Tool says whether the tool runs.
func (w *Stopwatch) Tool(inTool bool) { w.count(func() { w.inTool = inTool }) }

// Queued ends the wait for the call's turn.
func (w *Stopwatch) Queued() {
	w.count(func() {
		if w.told.Queued == 0 {
			w.told.Queued = time.Since(w.began)
		}
	})
}

// Read returns what was measured; the call was in its slot for so long.
func (w *Stopwatch) Read(running time.Duration) *Clocks {
	if w == nil {
		return nil
	}
	w.count(func() {})
	w.mu.Lock()
	defer w.mu.Unlock()
	told := w.told
	told.Running = running
	return &told
}
