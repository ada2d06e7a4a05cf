//go:build amd64 || arm64

package seccomp_test

import (
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
	"github.com/toolquay/toolquay/internal/testenv"
)

// held is a thread whose calls of getpriority wait for a listener.
type held struct {
	listener *seccomp.Listener
	// calls gets the number of calls to make, and took the time of each.
	calls chan int
	took  chan time.Duration
}

func newHeld(t *testing.T, limit time.Duration) *held {
	t.Helper()
	flags := seccomp.ListenerFlags()
	if flags == 0 {
		testenv.Missing(t, "the system has no listeners of filters")
	}
	h := &held{calls: make(chan int), took: make(chan time.Duration, 100)}
	files := make(chan *os.File)
	go func() {
		runtime.LockOSThread() // it ends with the goroutine
		p := seccomp.New(seccomp.Allow, seccomp.Rule{Action: seccomp.Notify, Calls: []uintptr{unix.SYS_GETPRIORITY}})
		program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
		if err != nil || errno != 0 {
			t.Error(err, errno)
		}
		files <- os.NewFile(fd, "listener")
		for n := range h.calls {
			for range n {
				began := time.Now()
				_, _, _ = unix.Syscall(unix.SYS_GETPRIORITY, 0, 0, 0)
				h.took <- time.Since(began)
			}
		}
	}()
	t.Cleanup(func() { close(h.calls) })
	var err error
	if h.listener, err = seccomp.Listen(<-files, limit); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestCallsDoNotWaitForever has a handler hang: its call continues at the limit, and further calls at once. When the handler
// returns, their number is reported, and it gets calls as before.
func TestCallsDoNotWaitForever(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	h := newHeld(t, limit)
	hang, heard, late := make(chan struct{}), make(chan seccomp.Call, 100), make(chan int, 100)
	over := make(chan error)
	go func() {
		over <- h.listener.Serve(func(c seccomp.Call) {
			heard <- c
			<-hang
		}, func(n int) { late <- n })
	}()
	h.calls <- 10
	for i := range 10 {
		select {
		case took := <-h.took:
			if i == 0 && took < limit {
				t.Errorf("it waited %v only", took)
			}
		case <-time.After(testenv.Patience):
			t.Fatal("it waits for ever")
		}
	}
	close(hang)
	if n := <-late; n != 10 || len(heard) != 1 {
		t.Errorf("late were %d, heard %d", n, len(heard))
	}
	h.calls <- 3
	for range 3 {
		<-h.took
	}
	if len(heard) != 4 || len(late) != 0 {
		t.Errorf("heard %d, late again %d", len(heard), len(late))
	}
	if err := h.listener.Close(); err != nil {
		t.Error(err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// TestCloseDoesNotWaitForever closes a listener whose handler hangs.
func TestCloseDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 20*time.Millisecond)
	hang, over := make(chan struct{}), make(chan error)
	go func() { over <- h.listener.Serve(func(seccomp.Call) { <-hang }, func(int) {}) }()
	h.calls <- 1
	<-h.took
	if err := h.listener.Close(); err != nil {
		t.Error(err)
	}
	close(hang)
	if err := <-over; err != nil {
		t.Error(err)
	}
}
