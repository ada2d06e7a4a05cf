package engine

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// quantum is the fuel that is handed out at once: up to a millisecond's worth of
// a guest's work. A guest is stopped within that time, and a garbage collection
// waits no longer for guests that spin; the call into the host costs some 200
// ns, a few thousandths of it.
//
// Fuel is not time: guests pay for paths that they do not take, and work on memory
// that the system has to find first takes ten times as long. A guest that was at
// it for longer than longQuantum gets less the next time, down to leastQuantum,
// and more again once it is faster than shortQuantum. There is never more than
// quantum: a guest that waits for memory with every unit takes 30 ms for that.
const (
	quantum      = 1_000_000
	leastQuantum = quantum / 64
	longQuantum  = 2 * time.Millisecond
	shortQuantum = time.Millisecond / 2
)

// turnTime is how long a guest runs before it lets others go first. A collection
// does not wait for that: any call into the host is where it can stop the guest.
const turnTime = time.Millisecond

// fuel is what a guest was handed out.
type fuel struct {
	fuelled time.Time // when it last was
	ration  int64     // how much, 0 before the first time
	yielded time.Time // when others were last let go first
}

// next is what to hand out after a ration that lasted for a while.
func next(ration int64, lasted time.Duration) int64 {
	switch {
	case ration == 0:
		return quantum
	case lasted > longQuantum:
		return max(ration/4, leastQuantum)
	case lasted < shortQuantum:
		return min(2*ration, quantum)
	}
	return ration
}

// linkFuel defines what every rewritten module imports.
func linkFuel(ctx context.Context, r wazero.Runtime) error {
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := r.NewHostModuleBuilder(prepass.ImportModule).
		NewFunctionBuilder().WithGoFunction(api.GoFunc(refill), i64, i64).Export(prepass.ImportRefill).
		Instantiate(context.WithoutCancel(ctx))
	if err != nil {
		return abi.Errorf(abi.CodeInternal, "linking %s: %w", prepass.ImportModule, err)
	}
	return nil
}

// ErrOutOfStack ends a guest that recursed to the end of its stack.
var ErrOutOfStack = errors.New("the plugin's stack is used up")

// Refiller is what a type that embeds a [Run] may be besides: it is told, on the
// guest's goroutine and with the context that the guest runs under, each time
// that the guest gets more fuel.
type Refiller interface {
	Refilled(ctx context.Context)
}

// refill ends the guest where its call is over, and lets others run where it is
// not.
func refill(ctx context.Context, stack []uint64) {
	if int64(stack[0]) == prepass.StackExhausted {
		panic(ErrOutOfStack)
	}
	run := RunOf(ctx)
	if run == nil {
		stack[0] = quantum
		return
	}
	now := time.Now()
	if err := run.over(now); err != nil {
		panic(err)
	}
	run.ration = next(run.ration, now.Sub(run.fuelled))
	if r, ok := ctx.(Refiller); ok {
		r.Refilled(ctx)
	}
	run.fuelled = run.yield(now)
	stack[0] = uint64(run.ration)
}

// yield lets others go first where the guest has had its turn, and returns when it
// goes on.
func (f *fuel) yield(now time.Time) time.Time {
	if now.Sub(f.yielded) < turnTime {
		return now
	}
	runtime.Gosched()
	f.yielded = time.Now()
	return f.yielded
}
