package worker

import "sync"

// feed is what a worker sends.
type feed struct {
	in *reader
	// turn holds one token. The call that takes it receives for all calls until its own answer
	// has come, so that a call on its own waits in one place, not in two.
	turn   chan struct{}
	take   func(header, []byte) error // takes one message
	end    func(error)                // called once, when nothing more is received
	finish sync.Once
}

// receive receives until it is told to stop, or the worker is gone. Its
// caller has the turn.
func (f *feed) receive(stop func() bool) {
	for !stop() {
		h, payload, err := f.in.next()
		if err == nil {
			err = f.take(h, payload)
		}
		if err != nil {
			f.finish.Do(func() { f.end(err) })
			return
		}
	}
}

// await returns what comes of a message by way of a channel, and whether it came:
// otherwise the worker is gone.
func await[T any](f *feed, from <-chan T) (v T, come bool) {
	select {
	case v = <-from:
		return v, true
	case <-f.turn:
	}
	defer func() { f.turn <- struct{}{} }()
	f.receive(func() bool {
		select {
		case v = <-from:
			come = true
		default:
		}
		return come
	})
	return v, come
}
