package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestClosingWhileGuestsRun closes everything under guests that go on writing to
// their memory. It is theirs until they are handed back.
func TestClosingWhileGuestsRun(t *testing.T) {
	for name, policy := range map[string]Policy{"put back": PutBackPure, "made anew": PutBackNone} {
		t.Run(name, func(t *testing.T) {
			e := New(Options{CacheDir: testenv.CompileCache()})
			s := sourceOf(fixture(t, "state_40"))
			s.MaxMemory = 64 * mib
			program, err := e.Compile(t.Context(), s)
			if err == nil {
				err = e.LinkWASI(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			p := NewPool(e, planOf(program, 64*mib, policy, "init"))
			p.Put(take(t, p), true)
			settle(p)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			in := take(t, p)
			ended := make(chan error, 1)
			go func() {
				_, err := in.Host.call(ctx, time.Minute, "spin")
				p.Put(in, false)
				ended <- err
			}()
			time.Sleep(5 * time.Millisecond)
			p.Close()
			if err := errors.Join(program.Close(t.Context()), e.Close(t.Context()), e.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Take(t.Context()); abi.CodeOf(err) != abi.CodeCancelled {
				t.Errorf("a closed pool answers %v", err)
			}
			time.Sleep(5 * time.Millisecond)
			if in.core.parts[0].memory.buf == nil {
				t.Error("the memory of a guest that runs was freed")
			}
			cancel(errGone)
			if err := <-ended; !errors.Is(err, errGone) {
				t.Errorf("the guest ended with %v", err)
			}
			if e.alive != 0 || e.idle.used.Load() != 0 {
				t.Errorf("%d instances are left, %d bytes are idle", e.alive, e.idle.used.Load())
			}
			if _, err := e.runtime.CompileModule(t.Context(), fixture(t, "state_3")); err == nil {
				t.Error("the runtime is not closed")
			}
		})
	}
}

// TestClosingEndsStarts that go on behind.
func TestClosingEndsStarts(t *testing.T) {
	e := newEngine(t)
	plan := planOf(compile(t, e, fixture(t, "state_3"), mib), mib, PutBackPure, "")
	p := newPool(t, e, plan)
	in := take(t, p)
	started := make(chan struct{})
	p.plan.Time = testenv.Patience
	p.plan.Init = func(ctx context.Context, g guest) error {
		close(started)
		_, err := g.callIn(ctx, "spin")
		return err
	}
	p.Put(in, false)
	<-started
	began := time.Now()
	p.Close()
	if took := time.Since(began); took >= p.plan.Time {
		t.Errorf("closing took %v", took)
	}
}
