package plugins

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls do for every number below n, on as many goroutines as there
// are processors. Small numbers are not worth another goroutine.
func inParallel(n int, do func(i int)) {
	const chunk = 32
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(chunk))
			if end-chunk >= n {
				return
			}
			for i := end - chunk; i < min(end, n); i++ {
				do(i)
			}
		}
	}
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
}
