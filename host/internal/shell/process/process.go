package process

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// Options say how supervisors are started and kept.
type Options struct {
	// Command starts a program that calls [Main] first thing. Empty is this program,
	// which must have called it.
	Command []string
	// Idle is how long a supervisor without a command is kept; 0 is a minute.
	Idle time.Duration
	// Logger gets a warning for each supervisor that ended unasked; nil discards it.
	Logger *slog.Logger
}

// Command is what to run.
type Command struct {
	// Path is the program, and Args its arguments with its own name as the first.
	Path string
	Args []string
	// Env is the whole environment.
	Env []string
	// Dir is the working directory; empty is the root directory.
	Dir string
	// Files are its descriptors from 0 on, at most 32. A nil entry is /dev/null, and so
	// are the first three where there are fewer. The caller keeps, and closes, its own.
	// A file that does not block is made to, for here and there it is one.
	Files []*os.File
	// Limits bound it.
	Limits Limits
	// Program is what its first process does before it starts the program at Path, on Linux:
	// it may fork. Without a Path it is all that is done. Dir is entered when it is through.
	Program *calls.Program
	// In is a process whose program, which had no Path, waits: it becomes the command, and has
	// done what Program says. It must have been started with the same Limits.
	In *Process
}

// Limits bound a command. A limit of 0 is none. Core dumps are never made.
type Limits struct {
	// Processes bounds processes and their threads, all together.
	Processes int
	// Memory bounds what all processes occupy of it, in bytes. What several share
	// counts once.
	Memory int64
	// CPU bounds the processor time of all processes, also of those that ended.
	CPU time.Duration
	// OpenFiles bounds the descriptors of each process; fewer than 64 are 64.
	OpenFiles uint64
	// FileSize bounds, in bytes, each file that is written to.
	FileSize uint64
}

// The values of [Status.Limit].
const (
	LimitProcesses = "processes"
	LimitMemory    = "memory"
	LimitCPU       = "cpu"
)

// Status says how a command ended.
type Status struct {
	// Code is the exit status of the first process; 128 and the signal's number where
	// Signal, which is 0 otherwise, ended it.
	Code   int
	Signal syscall.Signal
	// Limit is the limit that it was killed for, or empty.
	Limit string
	// Left counts the processes that were left when the first one ended, and that were
	// killed then. It is known when the process is gone.
	Left int
	// User and System are the processor time of all its processes, known when it is gone.
	User, System time.Duration
	// Err says what went wrong: the command's end is not known, or something of it may
	// be left.
	Err error
}

// Process is a command that was started.
type Process struct {
	pid        int
	done, gone chan struct{}
	stop       func(*Process, time.Duration)
	// become has a process that waits become a command; see [Command.In].
	become func(context.Context, *Command) (*Process, error)

	mu     sync.Mutex
	status Status
	end    [2]bool // done and gone are closed
}

func newProcess(stop func(*Process, time.Duration)) *Process {
	return &Process{stop: stop, done: make(chan struct{}), gone: make(chan struct{})}
}

// Pid is the number of the first process. It is for people and logs: by the time it is
// used it may be another's.
func (p *Process) Pid() int { return p.pid }

// Done is closed when the first process ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone is closed when nothing of the command is left. Done is closed by then.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Status is how the command ended, as far as it is known.
func (p *Process) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Stop sends SIGTERM to all processes of the command, and SIGKILL to those that are
// left after grace. It does not wait. Said again, it can shorten the time but not
// lengthen it.
func (p *Process) Stop(grace time.Duration) { p.stop(p, max(0, grace)) }

// ended notes how the first process ended.
func (p *Process) ended(s Status) { p.close(0, p.done, func() { p.status = s }) }

// left notes, as the last thing, what changes in the status when all is gone.
func (p *Process) left(change func(*Status)) {
	p.ended(Status{})
	p.close(1, p.gone, func() { change(&p.status) })
}

// close closes a channel once, and does the change with it.
func (p *Process) close(i int, c chan struct{}, change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end[i] {
		return
	}
	p.end[i] = true
	change()
	close(c)
}
