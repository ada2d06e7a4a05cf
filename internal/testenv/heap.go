package testenv

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// HeapGrowth returns by how many bytes more was in use on Go's heap at most, while
// something was done, than before it. What is no longer used does not count: how much
// of that lies about until it is collected depends on how busy the machine is.
func HeapGrowth(do func()) uint64 {
	// Collections run often, so that little of what they count was made during them.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	before, most := liveHeap(), uint64(0)
	quit, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				most = max(most, liveHeap())
			}
		}
	}()
	do()
	close(quit)
	<-watched
	return max(most, liveHeap(), before) - before
}

// liveHeap is how many bytes the last collection found in use.
func liveHeap() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
