package worker

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// watch counts how long the guest of a call has run, as far as the host sees.
type watch struct {
	most time.Duration // the guest's time, and then some
	// serving counts the capability work that the worker waits for: its time is
	// not the guest's.
	serving atomic.Int32

	// The next belong to look.
	ran, cancelled time.Duration
}

// stuck counts one tick of a call that was cancelled, and reports whether it should have
// ended.
func (w *watch) stuck() bool {
	w.cancelled += tick
	return w.cancelled > grace
}

// late counts one tick, and reports whether the guest ran for longer than its time and
// more.
func (w *watch) late(more time.Duration) bool {
	if w.serving.Load() != 0 {
		return false
	}
	w.ran += tick
	return w.ran > w.most+more
}

// background is what is done for a call beside it.
type background struct {
	group   sync.WaitGroup
	running atomic.Int32
}

func (b *background) do(do func()) {
	b.running.Add(1)
	b.group.Go(func() {
		defer b.running.Add(-1)
		do()
	})
}

// endWait is how long the end of a call waits for capability calls that it
// cancels, so that what they do is over before the next call begins.
const endWait = 50 * time.Millisecond

// wait waits for the end of it all, but not for longer than endWait.
func (b *background) wait() {
	if b.running.Load() == 0 {
		return
	}
	ended := make(chan struct{})
	go func() {
		b.group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(endWait):
	}
}

// reports are the progress and log lines of a call.
type reports struct {
	to    func(abi.ProgressHead) // nil for nobody
	since time.Time              // when the call was entered
	count int
}

// pass passes on a report. The worker's runner cuts them to the limit, and
// says how many it dropped.
func (r *reports) pass(payload []byte, lines int) error {
	const own = 8 // what runners themselves have to say
	late := int(time.Since(r.since) / plugins.ReportEvery)
	if r.count++; r.count > lines+own+late {
		return violate("passed on more than %d log lines and reports (limit log_lines)", lines)
	}
	head, err := abi.DecodeProgress(payload)
	if err != nil {
		return violate("reported broken progress: %v", err)
	}
	if r.to != nil {
		r.to(head)
	}
	return nil
}
