package direct

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Capability calls run on goroutines of their own, so that one which does not
// listen cannot hold up the call that it was made for. The goroutines are used
// again: a new one has to grow its stack in several steps for what the host does
// to judge a request, which costs more than judging it.

// errand is one capability call to be made.
type errand struct {
	ctx context.Context //nolint:containedctx // handed over, not kept
	h   *handle
}

// errands hands errands to goroutines that wait for one.
var errands = make(chan errand)

// workerIdle is how long a goroutine waits for its next errand.
const workerIdle = time.Second

// run has the errand done beside the caller.
func (e errand) run() {
	select {
	case errands <- e:
	default:
		go work(e)
	}
}

func work(first errand) {
	first.do()
	idle := time.NewTimer(workerIdle)
	defer idle.Stop()
	for {
		select {
		case next := <-errands:
			next.do()
			idle.Reset(workerIdle)
		case <-idle.C:
			return
		}
	}
}

// do makes the capability call and says that it is done, also where the
// capability ends the goroutine.
func (e errand) do() {
	returned := false
	defer func() {
		if !returned {
			e.h.release()
			e.h.answer(abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability ended its goroutine"))
		}
		close(e.h.done)
		e.h.call.underWay.Add(-1)
		e.h.call.requests.Done()
	}()
	e.h.run(e.ctx)
	returned = true
}
