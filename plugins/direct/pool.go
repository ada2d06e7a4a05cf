package direct

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// idle is how long instances are kept ready after the last call.
const idle = 30 * time.Second

// pool makes instances ahead of the calls that will use them. Each serves one
// call and is thrown away. As many are kept ready as calls were lately under
// way at once, so that a plugin called once costs one spare instance and a
// turn of ten parallel reads finds ten.
type pool struct {
	create func(context.Context) (*instance, error)
	shrunk func() // called when what is idle was given back
	most   int

	mu      sync.Mutex
	ready   []*instance
	making  int // instances being made off the path
	busy    int // calls under way
	peak    int // the most of them lately
	closed  bool
	timer   *time.Timer
	workers sync.WaitGroup
}

// newPool keeps at most the given number of instances ready: 0 stands for twice
// the processors, less than 0 for none.
func newPool(most int, create func(context.Context) (*instance, error)) *pool {
	if most == 0 {
		most = 2 * runtime.GOMAXPROCS(0)
	}
	return &pool{create: create, most: max(most, 0)}
}

// take returns an instance nobody used before: a ready one, or a new one.
func (p *pool) take(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	p.busy++
	p.peak = max(p.peak, p.busy)
	if n := len(p.ready); n > 0 {
		in := p.ready[n-1]
		p.ready[n-1] = nil
		p.ready = p.ready[:n-1]
		p.mu.Unlock()
		return in, nil
	}
	p.mu.Unlock()
	in, err := p.create(ctx)
	if err != nil {
		p.mu.Lock()
		p.busy--
		p.mu.Unlock()
	}
	return in, err
}

// done throws a used instance away, which hands its memory on, and sees to its
// successor off the path.
func (p *pool) done(in *instance) {
	in.close(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.closed {
		return
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(idle, p.shrink)
	} else {
		p.timer.Reset(idle)
	}
	// One more than calls were under way: the next may come before the
	// successor is there.
	if len(p.ready)+p.making > min(p.peak, p.most-1) {
		return
	}
	p.making++
	p.workers.Go(p.refill)
}

func (p *pool) refill() {
	// A module whose start fails fails its next call, which reports it.
	in, err := p.create(context.Background())
	p.mu.Lock()
	p.making--
	keep := err == nil && !p.closed
	if keep {
		p.ready = append(p.ready, in)
	}
	p.mu.Unlock()
	if err == nil && !keep {
		in.close(context.Background())
	}
}

// shrink gives back what has not been used for a while.
func (p *pool) shrink() {
	p.mu.Lock()
	ready := p.ready
	p.ready, p.peak = nil, p.busy
	p.mu.Unlock()
	for _, in := range ready {
		in.close(context.Background())
	}
	p.shrunk()
}

// close gives everything back and waits for the pool's own goroutines.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.workers.Wait()
	p.shrink()
}
