package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Pool makes instances ahead of the calls that will use them, and puts used ones
// back. As many are kept ready as calls were lately under way at once, so that a
// plugin called once costs one spare instance and a turn of ten parallel reads
// finds ten. It is safe for concurrent use.
type Pool[T any] struct {
	maker[T]
	most int
	last atomic.Int64
	life context.Context // ends with Close
	end  context.CancelFunc

	// Under the lock of the maker.
	ready   []*Instance[T]
	demand  demand
	closed  bool
	timer   *time.Timer
	workers sync.WaitGroup
}

// demand is how many instances calls have use for.
type demand struct {
	making int  // instances being made or put back off the path
	busy   int  // calls under way
	peak   int  // the most of them lately
	used   bool // since the timer last fired
}

// begin counts a call in, and end out.
func (d *demand) begin() {
	d.busy++
	d.peak = max(d.peak, d.busy)
}

func (d *demand) end() { d.busy-- }

// successor counts an instance in that is to be made or put back, unless as many are ready
// or coming as there is demand for, or room.
func (d *demand) successor(ready, most int) bool {
	d.used = true
	// One more than calls were under way: the next may come before the
	// successor is there.
	if ready+d.making > min(d.peak, most-1) {
		return false
	}
	d.making++
	return true
}

// NewPool returns a pool. It makes nothing until the first Take.
func NewPool[T any](e *Engine, p Plan[T]) *Pool[T] {
	pool := &Pool[T]{maker: maker[T]{engine: e, plan: p, fixed: p.Policy == PutBackNone}, most: max(e.opts.Ahead, 0)}
	pool.life, pool.end = context.WithCancel(context.Background())
	for _, part := range p.Parts {
		pool.rooms = append(pool.rooms, &memories{limit: uint64(part.MaxMemory), keep: pool.most})
	}
	e.idle.join(pool)
	return pool
}

// Take returns an instance with clean memory: a ready one, or a new one, whose
// start then ends with ctx. Hand it back with Put. A closed pool has none:
// that is an *abi.Error of [abi.CodeCancelled].
func (p *Pool[T]) Take(ctx context.Context) (*Instance[T], error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, p.unloaded()
	}
	p.demand.begin()
	if n := len(p.ready); n > 0 {
		in := p.ready[n-1]
		p.ready[n-1] = nil
		p.ready = p.ready[:n-1]
		p.mu.Unlock()
		p.engine.idle.release(in.size)
		return in, nil
	}
	p.mu.Unlock()
	in, err := p.create(ctx, false)
	if err != nil {
		p.mu.Lock()
		p.demand.end()
		p.mu.Unlock()
	}
	return in, err
}

// Make returns a new instance that never comes to the pool: close it.
func (p *Pool[T]) Make(ctx context.Context) (*Instance[T], error) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, p.unloaded()
	}
	return p.create(ctx, false)
}

func (p *Pool[T]) unloaded() error {
	return abi.Errorf(abi.CodeCancelled, "plugin %s is being unloaded", p.plan.Name)
}

// Put hands an instance back. Sound says that its call ended well; after any
// other the instance is thrown away.
func (p *Pool[T]) Put(in *Instance[T], sound bool) {
	c := in.core
	back := sound && c.snap != nil && p.stack(in) <= maxStack
	if back && c.snap.cheap(c) {
		if c.reset() {
			p.done(in)
			return
		}
		back = false
	}
	if !p.more() {
		c.close()
		return
	}
	go p.succeed(in, back)
}

// succeed sees to the successor that more counted in: the instance itself, put
// back, or a new one.
func (p *Pool[T]) succeed(in *Instance[T], back bool) {
	p.engine.behind(func() {
		if back = back && in.core.reset(); !back {
			in.core.close()
		}
	})
	if back {
		p.keep(in)
		return
	}
	// A module whose start fails fails its next call, which reports it.
	next, err := p.create(p.life, true)
	if err != nil {
		next = nil
	}
	p.keep(next)
}

// done keeps an instance that was put back at once.
func (p *Pool[T]) done(in *Instance[T]) {
	if !p.more() {
		in.core.close()
		return
	}
	p.keep(in)
}

// more counts a call out, and a successor in if one is to be kept.
func (p *Pool[T]) more() bool {
	p.last.Store(p.engine.idle.clock.Add(1))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.demand.end()
	if p.closed {
		return false
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(idleTime, p.expire)
	}
	if !p.demand.successor(len(p.ready), p.most) {
		return false
	}
	p.workers.Add(1)
	return true
}

// keep takes the successor that more counted in, nil for none.
func (p *Pool[T]) keep(in *Instance[T]) {
	defer p.workers.Done()
	keep := false
	if in != nil {
		in.size = in.core.size() + p.stack(in)
		keep = p.engine.idle.keep(in.size)
	}
	p.mu.Lock()
	p.demand.making--
	stale := keep && (p.closed || in.core.snap != p.snap)
	if keep && !stale {
		p.ready = append(p.ready, in)
	}
	p.mu.Unlock()
	if stale {
		p.engine.idle.release(in.size)
	}
	if in != nil && (!keep || stale) {
		in.core.close()
	}
}

// expire gives back what has not been used since it last ran.
func (p *Pool[T]) expire() {
	p.mu.Lock()
	again := (p.demand.used || p.demand.making > 0) && !p.closed
	p.demand.used = false
	if again {
		p.timer.Reset(idleTime)
	} else {
		p.timer = nil
	}
	p.mu.Unlock()
	if !again {
		p.shrink()
	}
}

// shrink gives back all that is idle.
func (p *Pool[T]) shrink() {
	p.mu.Lock()
	ready, snap := p.ready, p.snap
	p.ready, p.snap, p.demand.peak = nil, nil, p.demand.busy
	later := !p.closed
	if later {
		p.workers.Add(1)
	}
	p.mu.Unlock()
	for _, in := range ready {
		p.engine.idle.release(in.size)
	}
	free := func() {
		for _, in := range ready {
			in.core.close()
		}
		snap.drop()
		for _, m := range p.rooms {
			m.drop()
		}
	}
	if !later {
		free()
		return
	}
	// It may be a call that comes here, of any plugin.
	go func() {
		defer p.workers.Done()
		p.engine.behind(free)
	}()
}

func (p *Pool[T]) lastUsed() int64 { return p.last.Load() }

func (p *Pool[T]) idles() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready) > 0
}

// Close frees what the pool holds and waits for its goroutines. Instances that
// are still out are freed when they are put back.
func (p *Pool[T]) Close() {
	p.end()
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.workers.Wait()
	p.shrink()
	for _, m := range p.rooms {
		m.close()
	}
	p.engine.idle.leave(p)
}
