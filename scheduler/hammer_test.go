package scheduler_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/scheduler"
)

// crowd is many schedulers on one pool, at once.
type crowd struct {
	t         *testing.T
	pool      *scheduler.Pool
	table     scheduler.Table
	running   atomic.Int32
	abandoned atomic.Int32
}

const crowdSlots = 4

// hold is a job's work, in its slot.
func (c *crowd) hold() {
	if n := c.running.Add(1); n > crowdSlots {
		c.t.Errorf("%d jobs run on %d slots", n, crowdSlots)
	}
	runtime.Gosched()
	c.running.Add(-1)
}

// run has jobs of its own now and then, with the table that they share with others, and leaves
// something behind.
func (c *crowd) run(ctx context.Context, slot *scheduler.Slot, g generator, depth int, table *scheduler.Table) scheduler.Outcome {
	c.hold()
	o := scheduler.Outcome{Failed: g.oneIn(6), Held: g.Int64N(4)}
	if depth > 0 && g.oneIn(4) {
		if slot.Lend(ctx, func() { c.turn(ctx, newGenerator(g.Uint64()), depth-1, table) }) {
			c.hold()
		}
	}
	if g.oneIn(5) {
		ended := make(chan struct{})
		o.Leftovers = ended
		if !g.oneIn(4) { // else it is abandoned
			go close(ended)
		}
	}
	switch g.IntN(20) {
	case 0:
		panic("planned")
	case 1:
		runtime.Goexit()
	}
	return o
}

// turn is one scheduler's life.
func (c *crowd) turn(ctx context.Context, g generator, depth int, table *scheduler.Table) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := scheduler.New(ctx, scheduler.Options{
		Pool: c.pool, Table: table, MaxAdmitting: 1 + g.IntN(5), MaxHeld: g.Int64N(8),
		Cascade:       scheduler.Cascade(g.IntN(3)),
		Leftovers:     scheduler.LeftoverOptions{Timeout: time.Millisecond, Abandoned: func(scheduler.Job) { c.abandoned.Add(1) }},
		Interruptible: func(bool) {},
	})
	var left []int // Yield and Drop are never called for two jobs at once
	var settled, ended atomic.Int32
	jobs := 1 + g.IntN(30)
	stops := []func(){func() { s.Interrupt(errPlanned) }, func() { s.Discard(errPlanned) }, cancel}
	for i := range jobs {
		if g.oneIn(40) {
			go stops[g.IntN(len(stops))]()
		}
		own := newGenerator(g.Uint64())
		leave := func() { left = append(left, i) }
		var once atomic.Int32
		j := &funcJob{traits: own.traits(), unsafe: own.oneIn(2), yield: leave, drop: leave}
		j.admit = func(context.Context) bool { j.unsafe = j.unsafe || own.oneIn(10); return !own.oneIn(10) }
		j.do = func(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
			ended.Add(once.Add(1) - 1) // 0, if it runs once
			inner := table
			if j.traits.Locked {
				inner = nil
			}
			return c.run(ctx, slot, own, depth, inner)
		}
		j.settle = func() { settled.Add(1) }
		if err := s.Add(j); err != nil {
			c.t.Error(err)
		}
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(s.Wait)
	}
	all.Wait()
	s.Drain()
	if len(left) != jobs || !slices.IsSorted(left) || settled.Load() != int32(jobs) || ended.Load() != 0 {
		c.t.Errorf("of %d jobs %v left and %d were settled; %d ran again", jobs, left, settled.Load(), ended.Load())
	}
}

// TestHammer has many schedulers on one pool, with jobs that have jobs, panic, exit,
// are interrupted, cancelled and discarded. Nobody waits for ever, and in the end
// all slots are there.
func TestHammer(t *testing.T) {
	t.Parallel()
	c := &crowd{t: t, pool: scheduler.NewPool(scheduler.PoolOptions{Max: crowdSlots, MaxPerGroup: 3})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all sync.WaitGroup
		for i := range uint64(8) {
			all.Go(func() {
				for round := range uint64(turns / 50) {
					c.turn(t.Context(), newGenerator(i<<32+round), 2, &c.table)
				}
			})
		}
		all.Wait()
	}()
	select {
	case <-done:
	case <-time.After(testenv.Patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("they wait for each other:\n%s", buf[:runtime.Stack(buf, true)])
	}
	c.checkSlots()
	if c.abandoned.Load() == 0 {
		t.Error("nothing was abandoned")
	}
}

// checkSlots takes all slots of the pool at once.
func (c *crowd) checkSlots() {
	s := scheduler.New(c.t.Context(), scheduler.Options{Pool: c.pool})
	var here sync.WaitGroup
	here.Add(crowdSlots)
	met := make(chan struct{})
	go func() { here.Wait(); close(met) }()
	for range crowdSlots {
		add(c.t, s, &funcJob{run: func(context.Context) {
			here.Done()
			select {
			case <-met:
			case <-time.After(testenv.Patience):
				c.t.Error("a slot is lost")
			}
		}})
	}
	s.Wait()
}

// The goroutines of a scheduler end with it.
func TestGoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	c := &crowd{t: t, pool: scheduler.NewPool(scheduler.PoolOptions{Max: crowdSlots})}
	for i := range uint64(20) {
		c.turn(t.Context(), newGenerator(i), 1, &c.table)
	}
	deadline := time.Now().Add(testenv.Patience)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// Nothing is left of the contexts that jobs were given, whatever the options.
func TestContextsEnd(t *testing.T) {
	t.Parallel()
	for _, o := range []scheduler.Options{{}, {NoInterrupt: true}} {
		for _, traits := range []scheduler.Traits{{}, {Cascade: true}, {Block: true}, {Cascade: true, Block: true}} {
			parent, cancel := context.WithCancelCause(t.Context())
			given := make(chan context.Context, 1)
			s := scheduler.New(parent, o)
			add(t, s, &funcJob{traits: traits, run: func(ctx context.Context) { given <- ctx }})
			s.Wait()
			ctx := <-given
			own := traits.Cascade || !o.NoInterrupt
			if own != (ctx.Err() != nil) {
				t.Errorf("%+v, %+v: after the end its context says %v", o, traits, ctx.Err())
			}
			cancel(errors.New("over"))
		}
	}
}
