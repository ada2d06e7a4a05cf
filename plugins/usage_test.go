package plugins_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// usage is what a process has taken of its machine.
type usage struct {
	heap, resident    int64 // bytes
	goroutines, files int
}

// exceeds reports whether more is taken than before, beyond what varies.
func (u usage) exceeds(before usage) bool {
	return u.goroutines > before.goroutines+2 || u.files > before.files ||
		u.heap-before.heap > 2<<20 || u.resident-before.resident > 16<<20
}

// usageNow measures this process once what is ending has ended, or is late. What the
// system does not tell is 0.
func usageNow(tb testing.TB) usage {
	tb.Helper()
	var u usage
	goroutines := runtime.NumGoroutine()
	for range 50 {
		time.Sleep(10 * time.Millisecond)
		n := runtime.NumGoroutine()
		if n >= goroutines {
			break
		}
		goroutines = n
	}
	for range 3 {
		debug.FreeOSMemory() // collects, and gives back what it can
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.heap, u.goroutines = int64(m.HeapAlloc), runtime.NumGoroutine()
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		u.resident = pages * int64(os.Getpagesize())
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(files)
	}
	return u
}
