package hostile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// status is a figure of /proc/PID/status in bytes, and 0 where there is none:
// on other systems memory is not looked at.
func status(pid, key string) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if value, ok := strings.CutPrefix(string(line), key+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// settle returns what can be returned to the system, and how much is left. The
// peak begins anew.
func settle() int64 {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // without it, the peak is too high and says so
	return status("self", "VmRSS")
}

// below is the resident memory of all processes below this one, in bytes.
func below(pid string) (sum int64) {
	for _, child := range children(pid) {
		sum += status(child, "VmRSS") + below(child)
	}
	return sum
}

// children are the processes that a process started.
func children(pid string) (all []string) {
	lists, _ := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may be gone
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// waiting is how long the threads of a process and of those below it have been ready
// to run while the processors were busy with others: see schedstat in proc(5).
func waiting(pid string) (sum time.Duration) {
	threads, _ := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "schedstat"))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		if figures := strings.Fields(string(text)); len(figures) > 1 {
			waited, _ := strconv.ParseInt(figures[1], 10, 64)
			sum += time.Duration(waited)
		}
	}
	for _, child := range children(pid) {
		sum += waiting(child)
	}
	return sum
}

// watchBelow keeps the most that processes below this one took at once, until it
// is told to stop.
func watchBelow() (stop func() int64) {
	var most atomic.Int64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(50 * time.Millisecond); ; {
			most.Store(max(most.Load(), below("self")))
			select {
			case <-tick:
			case <-quit:
				return
			}
		}
	}()
	return func() int64 {
		close(quit)
		<-done
		return most.Load()
	}
}
