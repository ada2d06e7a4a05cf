package direct

import (
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Capability calls run on goroutines of their own, so that one which does not
// listen cannot hold up the call that it was made for. The goroutines are used
// again: a new one has to grow its stack in several steps for what the host does
// to judge a request, which costs more than judging it.

// errands hands capability calls to goroutines that wait for one.
var errands = make(chan *handle)

// workerIdle is how long a goroutine waits for its next errand, up to twice that.
const workerIdle = time.Second

// dispatch has a capability call made beside the caller.
func dispatch(h *handle) {
	select {
	case errands <- h:
	default:
		go work(h)
	}
}

func work(first *handle) {
	first.perform()
	idle := time.NewTicker(workerIdle)
	defer idle.Stop()
	for used := true; ; {
		select {
		case next := <-errands:
			next.perform()
			used = true
		case <-idle.C:
			if !used {
				return
			}
			used = false
		}
	}
}

// perform makes the capability call and says that it is done, also where the
// capability ends the goroutine.
func (h *handle) perform() {
	returned := false
	defer func() {
		if !returned {
			h.release()
			h.answer(abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability ended its goroutine"))
		}
		close(h.done)
		h.call.underWay.Add(-1)
		h.call.requests.Done()
	}()
	h.run()
	returned = true
}
