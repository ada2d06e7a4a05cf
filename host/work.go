package host

import "sync"

// work counts what is under way for a call: its tool where that can be left behind,
// its capability calls, the turns it made. What is left when the call has its result
// goes on behind it. The zero value is ready for use.
type work struct {
	mu    sync.Mutex
	n     int
	over  bool
	ended chan struct{} // closed when what went on has ended; nil if nothing did
}

// enter counts something in that begins, unless the call is over. Each enter that
// reports true needs a leave.
func (w *work) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.n++
	return true
}

func (w *work) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n--
	if w.n == 0 && w.ended != nil {
		close(w.ended)
	}
}

// end lets nothing more begin. The channel is closed when the rest has ended; it is
// nil where there is none.
func (w *work) end() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.n > 0 && w.ended == nil {
		w.ended = make(chan struct{})
	}
	return w.ended
}
