package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins"
)

// collectRows say whether guests that spin hold up the rest of the process.
func collectRows() []row {
	return []row{{
		name: "the world stopped by a forced collection while ten guests spin", ours: collect(10),
		baseline: "while none does", theirs: collect(0),
		compare: difference, limit: "at most +50 ms",
	}}
}

// spinner is a guest that never ends.
func spinner() []byte {
	i32 := []wasmgen.ValType{wasmgen.I32}
	var m wasmgen.Module
	m.Export("memory", wasmgen.Memory, m.Memory(wasmgen.AtLeast(1)))
	alloc := m.Func(wasmgen.Sig(i32, i32), new(wasmgen.Code).I32(1024))
	m.Export(abi.ExportAlloc, wasmgen.Function, alloc)
	spin := new(wasmgen.Code).Loop(wasmgen.NoResult).Br(0).End().I64(0)
	call := m.Func(wasmgen.Sig(append(i32, i32...), []wasmgen.ValType{wasmgen.I64}), spin)
	m.Export(abi.ExportCall, wasmgen.Function, call)
	return m.Bytes()
}

var errEnough = errors.New("enough")

func collect(spinning int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		in, err := l.load(spinner(), &abi.Manifest{Name: "spinner"})
		if err != nil {
			b.Fatal(err)
		}
		defer in.Close(context.Background())
		ctx, stop := context.WithCancelCause(context.Background())
		var guests sync.WaitGroup
		for range spinning {
			guests.Go(func() {
				_, err := in.Call(ctx, plugins.Invocation{Tool: &abi.Tool{Name: "Spin"}, Input: json.RawMessage("{}")})
				if abi.CodeOf(err) != abi.CodeCancelled {
					b.Error(err)
				}
			})
		}
		defer guests.Wait()
		defer stop(errEnough)
		time.Sleep(20 * time.Millisecond) // until all of them spin
		before := stopped()
		for b.Loop() {
			runtime.GC()
		}
		reportTime(b, (stopped()-before)/time.Duration(b.N))
	}
}

// stopped is for how long the world was stopped by collections so far, from the
// moment it was asked to stop. What a collection takes as a whole is work beside
// the guests and holds up nobody.
func stopped() time.Duration {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	var sum float64
	for i, n := range h.Counts {
		if high := h.Buckets[i+1]; n > 0 && !math.IsInf(high, 1) {
			sum += float64(n) * high
		}
	}
	return time.Duration(sum * float64(time.Second))
}
