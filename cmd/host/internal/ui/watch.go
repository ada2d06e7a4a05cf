package ui

import (
	"context"
	"errors"
	"sync"
)

// errAway is that the terminal is somebody else's now: the program was sent to the background.
var errAway = errors.New("the program is not in the terminal's foreground")

// watch keeps who reads keys while nobody is asked out of the way of questions. The zero value
// is ready.
type watch struct {
	mu sync.Mutex
	// asking counts the questions that are put or wait, and more is closed when there are none
	// any more.
	asking int
	more   chan struct{}
	// stop ends the reading of a key, and stopped is closed when that is over; nil while none
	// is read.
	stop    context.CancelFunc
	stopped chan struct{}
}

// ask keeps the keys for a question until the returned function is called.
func (w *watch) ask() (over func()) {
	w.mu.Lock()
	if w.asking++; w.asking == 1 {
		w.more = make(chan struct{})
	}
	stop, stopped := w.stop, w.stopped
	w.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.asking--; w.asking == 0 {
			close(w.more)
		}
	}
}

// begin waits until no question is put, and returns the context to read a key under. The caller
// calls end when it has read.
func (w *watch) begin(ctx context.Context) (reading context.Context, end func(), err error) {
	for {
		w.mu.Lock()
		if w.asking == 0 {
			break
		}
		more := w.more
		w.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	defer w.mu.Unlock()
	reading, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	w.stop, w.stopped = stop, stopped
	return reading, func() {
		stop()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stop, w.stopped = nil, nil
		close(stopped)
	}, nil
}

// Watch hands on each key that the person presses while nobody is asked, until the returned
// function is called, which waits for the last one. It does nothing where keys need Enter. A
// program that was sent to the background reads none, from then on.
func (a *Asker) Watch(ctx context.Context, pressed func(key rune)) (end func()) {
	if !a.keys.single() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			reading, end, err := a.watch.begin(ctx)
			if err != nil {
				return
			}
			key, err := a.keys.spare(reading)
			asked := reading.Err() != nil
			end()
			switch {
			case err == nil:
				pressed(key)
			case !asked || ctx.Err() != nil:
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
