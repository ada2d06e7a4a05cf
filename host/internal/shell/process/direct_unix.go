//go:build unix && !linux

package process

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Main does nothing here: there are no supervisors.
func Main() {}

// Supervisors start commands. The zero value is of no use: see [New].
type Supervisors struct {
	mu     sync.Mutex
	closed bool
	all    map[*Process]struct{}
}

// New makes Supervisors. Nothing is started yet.
func New(Options) *Supervisors { return &Supervisors{all: make(map[*Process]struct{})} }

// Ready does nothing here: there is nothing to wait for.
func (s *Supervisors) Ready() {}

// Start starts a command in a session of its own. Only its process group is killed with
// it, and of its limits none is held.
func (s *Supervisors) Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, abi.Errorf(abi.CodeCancelled, "the supervisors are closed")
	}
	files, err := c.files()
	if err != nil {
		return nil, err
	}
	process, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{
		Dir: c.Dir, Env: slices.Concat([]string{}, c.Env), Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeIO, Message: fmt.Sprintf("starting %s: %v", c.Path, err), Err: err}
	}
	d := &direct{process: process}
	p := newProcess(d.stop)
	p.pid = process.Pid
	s.all[p] = struct{}{}
	go func() {
		d.wait(p)
		s.mu.Lock()
		delete(s.all, p)
		s.mu.Unlock()
	}()
	return p, nil
}

// files are the descriptors of the command, /dev/null where it has none.
func (c *Command) files() ([]*os.File, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	files := make([]*os.File, max(3, len(c.Files)))
	copy(files, c.Files)
	for i, file := range files {
		if file == nil {
			files[i] = null // closed when it is collected
		}
	}
	return files, nil
}

// Close kills all that runs.
func (s *Supervisors) Close() error {
	s.mu.Lock()
	s.closed = true
	var all []*Process
	for p := range s.all {
		all = append(all, p)
	}
	s.mu.Unlock()
	deadline := time.After(5 * time.Second)
	for _, p := range all {
		p.Stop(0)
	}
	for _, p := range all {
		select {
		case <-p.Gone():
		case <-deadline:
			return abi.Errorf(abi.CodeIO, "commands did not end within 5 seconds")
		}
	}
	return nil
}

// direct is a command whose parent is the host itself.
type direct struct {
	process *os.Process

	mu     sync.Mutex
	reaped bool // the number may be another's
}

// stop sends SIGTERM to the process group, and SIGKILL after grace.
func (d *direct) stop(_ *Process, grace time.Duration) {
	if grace == 0 {
		d.signal(syscall.SIGKILL)
		return
	}
	d.signal(syscall.SIGTERM)
	// Said again, the earlier of the two kills.
	time.AfterFunc(grace, func() { d.signal(syscall.SIGKILL) })
}

// signal sends a signal to the process group. Its number is no other's before the
// first process is reaped.
func (d *direct) signal(s syscall.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.reaped {
		_ = syscall.Kill(-d.process.Pid, s)
	}
}

// wait waits for the first process, and kills the group that it leaves, at once: between
// the two no number comes round again.
func (d *direct) wait(p *Process) {
	state, err := d.process.Wait()
	d.mu.Lock()
	d.reaped = true
	_ = syscall.Kill(-d.process.Pid, syscall.SIGKILL)
	d.mu.Unlock()
	p.ended(statusOf(state, err))
	p.left(func(*Status) {})
}

// statusOf is how a process ended.
func statusOf(state *os.ProcessState, err error) Status {
	if err != nil {
		return Status{Err: fmt.Errorf("waiting for a command: %w", err)}
	}
	s := Status{Code: state.ExitCode(), User: state.UserTime(), System: state.SystemTime()}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		s.Signal = w.Signal()
		s.Code = 128 + int(s.Signal)
	}
	return s
}
