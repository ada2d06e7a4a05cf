package turn

import "sync"

// Work counts what is under way for a call: its tool where that can be left running, its
// capability calls, the turns it made. What is left when the call has its result goes on
// after it. The zero value is ready for use. It is safe for concurrent use.
type Work struct {
	mu    sync.Mutex
	n     int
	over  bool
	ended chan struct{} // closed when what went on has ended; nil if nothing did
}

// Enter counts something in that begins, unless the call is over. Each Enter that
// reports true needs a Leave.
func (w *Work) Enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.n++
	return true
}

// Leave counts out what has ended.
func (w *Work) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n--
	if w.n == 0 && w.ended != nil {
		close(w.ended)
	}
}

// End lets nothing more begin. The channel is closed when the rest has ended; it is
// nil where there is none.
func (w *Work) End() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.n > 0 && w.ended == nil {
		w.ended = make(chan struct{})
	}
	return w.ended
}
