package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// The one variable in a child's environment says that it is a child. The value
// is a protocol version and a random number: nobody sets it by accident.
const (
	markerName  = "TOOLQUAY_WORKER"
	markerValue = "1-6f0c5ad2b9e14c77"
)

// isWorker reports whether this process was started as a worker.
func isWorker() bool { return os.Getenv(markerName) == markerValue }

// child is one child process.
type child struct {
	command string
	cmd     *exec.Cmd
	in      *os.File // to its standard input
	out     *os.File // from its standard output
	stderr  first

	most   atomic.Int64  // bytes that it was seen to occupy
	exited chan struct{} // closed when it is reaped
	status error         // then: how it ended

	mu     sync.Mutex
	killed *abi.Error // why we killed it, if we did
}

// spawn starts a child.
func spawn(command []string) (*child, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, abi.Errorf(abi.CodeIO, "starting a worker: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, abi.Errorf(abi.CodeIO, "starting a worker: %w", errors.Join(err, inR.Close(), inW.Close()))
	}
	c := &child{command: command[0], in: inW, out: outR, exited: make(chan struct{})}
	c.cmd = exec.Command(command[0], command[1:]...)
	c.cmd.Env = []string{markerName + "=" + markerValue}
	c.cmd.Dir = filepath.VolumeName(command[0]) + string(filepath.Separator)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = inR, outW, &c.stderr
	c.cmd.SysProcAttr = processAttributes()
	c.cmd.WaitDelay = time.Second
	started := make(chan error, 1)
	go c.run(started)
	err = <-started
	// What is left here are the child's own ends.
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		_, _ = inW.Close(), outR.Close()
		return nil, abi.Errorf(abi.CodeIO, "starting a worker: %w", err)
	}
	return c, nil
}

// run starts the child and waits for its end, on one thread: Linux ends a child
// with the thread that started it, not with the process.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	c.status = c.cmd.Wait()
	close(c.exited)
}

// kill ends the child at once. The first reason given is the one told.
func (c *child) kill(reason *abi.Error) {
	c.mu.Lock()
	if c.killed == nil {
		c.killed = reason
	}
	c.mu.Unlock()
	_ = c.cmd.Process.Kill() // it may have ended by itself
}

// end kills the child, unless it has ended, waits until it is reaped, and frees
// what belongs to it here. Nobody may read from or write to it any more.
func (c *child) end() {
	_ = c.cmd.Process.Kill()
	<-c.exited
	_, _ = c.in.Close(), c.out.Close()
}

// why says how a child that ended came to its end. c.exited is closed.
func (c *child) why(code abi.Code, what string, memory int64) *abi.Error {
	c.mu.Lock()
	killed := c.killed
	c.mu.Unlock()
	if killed != nil {
		return killed
	}
	said := c.stderr.line()
	// A Go program that gets no more memory says so, or breaks on a pointer to none.
	if outOfMemory(said) || c.most.Load() > memory/4*3 {
		if code == abi.CodeTrap {
			code = abi.CodeLimit
		}
		return abi.Errorf(code, "%s needed more than %s of memory", what, abi.Size(memory))
	}
	status := "it closed its output"
	if c.status != nil {
		status = c.status.Error()
	}
	if said != "" {
		status += ": " + said
	}
	return abi.Errorf(code, "%s failed: the worker process ended (%s)", what, status)
}

// tooLarge looks how much memory the child occupies, and reports whether that is
// over its limit.
func (c *child) tooLarge(memory int64) bool {
	now := resident(c.cmd.Process.Pid)
	c.most.Store(max(now, c.most.Load()))
	return now > memory
}

// outOfMemory recognises the last words of a Go program that the system gives no
// more memory: for its heap, or, with cgo, for the stack of a thread.
func outOfMemory(said string) bool {
	return slices.ContainsFunc([]string{"out of memory", "cannot allocate memory", "pthread_create failed"},
		func(words string) bool { return strings.Contains(said, words) })
}

// first is the beginning of what is written to it. It is read when the child has ended.
type first []byte

// maxStderr bounds what is kept of a child's standard error, in bytes.
const maxStderr = 4 << 10

// Write keeps what there is room for and never fails.
func (f *first) Write(p []byte) (int, error) {
	*f = append(*f, p[:min(len(p), maxStderr-len(*f))]...)
	return len(p), nil
}

// line is the first line that is not empty, fit for a message.
func (f first) line() string {
	for line := range strings.Lines(string(f)) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.Trim(fmt.Sprintf("%+q", line), `"`)
		}
	}
	return ""
}
