package testenv

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Work is the processor time that do takes on its own goroutine: how much it has
// to do, whatever else the machine does meanwhile. Where the system does not
// tell, it is the time by the clock.
func Work(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, told := threadTime()
	took := Took(do)
	if after, still := threadTime(); told && still {
		return after - before
	}
	return took
}

// threadTime is the processor time of the calling thread.
func threadTime() (time.Duration, bool) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}
