package host

import (
	"sync"
	"time"
)

// watch measures where a call's time goes. Time while a person is asked is theirs,
// whatever else goes on.
type watch struct {
	mu   sync.Mutex
	at   time.Time // of the last change
	told Clocks
	// capabilities are the capability calls under way, asking the questions that are
	// open. inTool says that the tool runs.
	capabilities, asking int
	inTool               bool
}

// count books the time that has gone by, and then a change of what goes on. A nil
// watch measures nothing.
func (w *watch) count(change func()) {
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

func (w *watch) asks(n int)       { w.count(func() { w.asking += n }) }
func (w *watch) capability(n int) { w.count(func() { w.capabilities += n }) }
func (w *watch) tool(inTool bool) { w.count(func() { w.inTool = inTool }) }
func (w *watch) queued(since time.Time) {
	w.count(func() {
		if w.told.Queued == 0 {
			w.told.Queued = time.Since(since)
		}
	})
}

// read is what was measured; the call was in its slot for so long.
func (w *watch) read(running time.Duration) *Clocks {
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
