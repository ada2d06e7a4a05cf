package regexp

import (
	"context"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// expression is a pattern that was compiled once. Each further search that is
// under way at the same time compiles it again, into an instance of its own.
type expression struct {
	pool    *engine.Pool[*instance]
	text    string
	options pattern.Options
	facts   pattern.Facts
	table   *table        // nil where the guest searches
	slots   chan struct{} // holds one for each instance that is in use
	large   chan struct{} // and one for the one with much text

	mu   sync.Mutex
	free []*engine.Instance[*instance]
	big  *engine.Instance[*instance] // with a window for much text, nil where there is none
}

// Facts tells what is known. See [pattern.Expression].
func (x *expression) Facts() pattern.Facts { return x.facts }

// inGuest takes an instance that is free, or makes one. Who has much text waits for
// that first, so that nobody waits for anything but ends of searches.
func (x *expression) inGuest(ctx context.Context, size int) (pattern.Search, error) {
	s := &search{expression: x, large: size > muchText}
	if s.large {
		if err := enter(ctx, x.large); err != nil {
			return nil, err
		}
	}
	err := enter(ctx, x.slots)
	if err == nil {
		if s.in, err = x.take(ctx, s.large); err != nil {
			<-x.slots
		}
	}
	if err != nil {
		if s.large {
			<-x.large
		}
		return nil, err
	}
	s.under = begun(ctx, &s.run, maxSearch)
	return s, nil
}

// enter waits for room among those that may go on at the same time.
func enter(ctx context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return interrupted(ctx.Err())
	}
}

// leave hands an instance back, unless it is broken, and makes room for the next.
func (x *expression) leave(s *search) {
	x.mu.Lock()
	switch {
	case s.broken:
		x.pool.Put(s.in, false)
	case s.large:
		x.big = s.in
	default:
		x.free = append(x.free, s.in)
	}
	x.mu.Unlock()
	<-x.slots
	if s.large {
		<-x.large
	}
}

// share bounds how many instances there may be by what the first one has in memory.
func (x *expression) share(memory uint32) {
	most := maxCompiled / max(int(memory), 1)
	x.slots = make(chan struct{}, min(max(most, 1), maxInstances))
	x.large = make(chan struct{}, 1)
}

// begun begins a run and returns the context that the guest runs under.
func begun(ctx context.Context, run *engine.Run, limit time.Duration) context.Context {
	run.Begin(ctx, limit)
	return run
}

func (x *expression) take(ctx context.Context, large bool) (*engine.Instance[*instance], error) {
	if in := x.kept(large); in != nil {
		return in, nil
	}
	return x.make(ctx)
}

// kept is an instance that is free, nil where there is none. One with much room is for
// much text, so that there is no second one.
func (x *expression) kept(large bool) *engine.Instance[*instance] {
	x.mu.Lock()
	defer x.mu.Unlock()
	if large && x.big != nil {
		in := x.big
		x.big = nil
		return in
	}
	n := len(x.free)
	if n == 0 {
		return nil
	}
	in := x.free[n-1]
	x.free = x.free[:n-1]
	return in
}

// make compiles the pattern in a new instance.
func (x *expression) make(ctx context.Context) (*engine.Instance[*instance], error) {
	in, err := x.pool.Take(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.compile(ctx, in.Host); err != nil {
		x.pool.Put(in, false)
		return nil, err
	}
	return in, nil
}

// compile has a guest compile the pattern, and reads what it says of it.
func (x *expression) compile(ctx context.Context, in *instance) error {
	var run engine.Run
	ctx = begun(ctx, &run, maxCompile)
	defer run.End()
	in.at, in.size = 0, 0 // of the instance's last user
	window, err := in.room(ctx, max(len(x.text), 1))
	if err != nil {
		return in.explain(&run, err)
	}
	copy(window, x.text)
	answer, err := in.call(ctx, in.compile, uint32(len(x.text)), flag(x.options.IgnoreCase), flag(x.options.Multiline), flag(x.options.Count))
	if err != nil {
		return in.explain(&run, err)
	}
	text, ok := in.memory.Read(uint32(answer>>32), uint32(answer))
	if !ok || len(text) < 2 {
		return outside(uint32(answer))
	}
	if text[0] == 0 {
		return abi.Errorf(abi.CodeInvalidInput, "the pattern is no regular expression: %s", text[1:])
	}
	in.facts = facts(text[1:])
	spans, err := in.call(ctx, in.list)
	in.spans = uint32(spans)
	return err
}

// tabulate asks an instance for the table of what it compiled.
func (x *expression) tabulate(ctx context.Context, in *instance) error {
	var run engine.Run
	ctx = begun(ctx, &run, maxCompile)
	defer run.End()
	answer, err := in.call(ctx, in.tabulate)
	if err != nil {
		return in.explain(&run, err)
	}
	b, ok := in.memory.Read(uint32(answer>>32), uint32(answer))
	if !ok {
		return outside(uint32(answer))
	}
	x.table = readTable(b)
	return nil
}

// facts reads what the guest's compile writes.
func facts(b []byte) pattern.Facts {
	f := pattern.Facts{Across: b[0] != 0}
	for b = b[1:]; len(b) > 0 && int(b[0]) < len(b); b = b[1+b[0]:] {
		f.Literals = append(f.Literals, append([]byte(nil), b[1:1+b[0]]...))
	}
	return f
}

func flag(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

// Close hands the instances back.
func (x *expression) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.big != nil {
		x.pool.Put(x.big, true)
	}
	for _, in := range x.free {
		x.pool.Put(in, true)
	}
	x.free, x.big = nil, nil
}
