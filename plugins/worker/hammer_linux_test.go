package worker_test

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestHammer makes calls of every kind while workers idle out, are killed and
// are closed under them. Every call ends, and with an error of a known kind.
func TestHammer(t *testing.T) {
	o := options(t)
	o.Idle, o.Parallel = time.Millisecond, 3
	in, err := worker.New(abiProbe, o).Load(t.Context(), moduleOf(nil, func(m *plugins.Module) { m.Limits.Time = 5 * time.Second }))
	if err != nil {
		t.Fatal(err)
	}
	var sound, killed atomic.Int32
	var calls, others sync.WaitGroup
	over, began := make(chan struct{}), time.Now()
	others.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(60+rand.IntN(60))*time.Millisecond + time.Since(began)/20):
			}
			for _, pid := range children(t) {
				_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
			}
		}
	})
	seen := func() bool { return sound.Load() > 0 && killed.Load() > 0 }
	for i := range 6 {
		calls.Go(func() {
			for n := 0; n < testenv.Sample(60) || !seen() && time.Since(began) < testenv.Patience; n++ {
				inv := probing([]string{"nothing", "ask", "wait", "sleep", "drain"}[rand.IntN(5)])
				inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
					return abi.Answer{OK: struct{}{}, Body: io.NopCloser(io.LimitReader(zeros{}, 200_000)), Size: -1}, nil
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rand.IntN(40+n))*time.Millisecond)
				_, err := in.Call(ctx, inv)
				cancel()
				switch abi.CodeOf(err) {
				case abi.CodeTrap, abi.CodeLoad:
					killed.Add(1)
				case abi.CodeTimeout:
				default:
					if err != nil {
						t.Error(err)
					}
					sound.Add(1)
				}
				time.Sleep(time.Duration(rand.IntN(3*i+1)) * 10 * time.Millisecond)
			}
		})
	}
	calls.Wait()
	close(over)
	others.Wait()
	if err := in.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !seen() {
		t.Errorf("%d calls came to their end, %d were killed", sound.Load(), killed.Load())
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("the processes %v are left", left)
	}
}
