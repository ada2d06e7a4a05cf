package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

const (
	// wakeAfter is when a supervisor that has been told to start or to kill is woken up: by
	// then it is done, has much to do, or was stopped by its own command.
	wakeAfter = time.Second
	// giveUpAfter is when a supervisor is killed that does not get done.
	giveUpAfter = 20 * time.Second
)

// errUnsent means that a command was not given to its supervisor.
var errUnsent = errors.New("the supervisor had ended")

// handle is the host's side of one supervisor.
type handle struct {
	child  *child
	logger *slog.Logger
	idle   func(*handle) // called when it has no command any more
	ended  func(*handle) // called when it has ended, before its command is given up

	// Under the lock of Supervisors.
	timer  *time.Timer // ends it when it is idle for long
	limits *rlimits    // nil: it has none yet

	mu     sync.Mutex // serves writing too
	number uint64
	run    *run
}

// rlimits are the limits that a supervisor has for good.
type rlimits struct{ openFiles, fileSize uint64 }

// run is one command in the hands of a supervisor.
type run struct {
	number   uint64
	process  *Process
	program  *calls.Program // nil where it has none
	rest     rest           // of a program that waited
	started  chan error     // has room for one
	running  bool           // it was started
	ending   bool           // it was told to stop
	overseer *time.Timer
}

// start gives a command to the supervisor, which has none, and waits until it runs.
func (h *handle) start(ctx context.Context, c *Command) (*Process, error) {
	r, err := h.send(ctx, c)
	if err != nil {
		// It may have heard, and have a command: then it has to kill that before it ends.
		h.child.dismiss()
		if err := ctx.Err(); err != nil {
			if r != nil {
				return r.process, err
			}
			return nil, err
		}
		return nil, &abi.Error{Code: abi.CodeIO, Message: fmt.Sprintf("starting %s: %v", cmp.Or(c.Path, "a process"), err), Err: err}
	}
	return r.await(ctx, c)
}

// await waits until the command runs, or waits itself.
func (r *run) await(ctx context.Context, c *Command) (*Process, error) {
	select {
	case err := <-r.started:
		if err != nil {
			return nil, &abi.Error{Code: codeOf(err), Message: fmt.Sprintf("starting %s: %v", cmp.Or(c.Path, "a process"), err), Err: err}
		}
	case <-ctx.Done():
		go r.process.Stop(0) // the supervisor may not hear yet
		return r.process, ctx.Err()
	}
	return r.process, nil
}

func codeOf(err error) abi.Code {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return abi.CodeNotFound
	case errors.Is(err, os.ErrPermission):
		return abi.CodeDenied
	}
	return abi.CodeIO
}

// send writes the frame that starts a command. A run that comes with an error is one
// that the supervisor may have heard of.
func (h *handle) send(ctx context.Context, c *Command) (*run, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	f := &startFrame{
		number: h.number, path: c.Path, dir: cmp.Or(c.Dir, "/"), args: c.Args, env: c.Env, limits: c.Limits,
	}
	r := &run{number: h.number, started: make(chan error, 1)}
	files := c.Files
	if c.Program != nil {
		r.program, files = f.carryOut(c)
	}
	rights := f.rights(files)
	r.process = newProcess(func(_ *Process, grace time.Duration) { h.stop(r, grace) })
	r.process.become = func(ctx context.Context, c *Command) (*Process, error) { return h.proceed(ctx, r, c) }
	h.run = r
	over, err := h.write(ctx, f.encode(kindStart), rights)
	runtime.KeepAlive(c.Files)
	if err != nil {
		h.run = nil
		return nil, err
	}
	h.oversee(r, time.Now())
	if over {
		return r, context.Cause(ctx)
	}
	return r, nil
}

// write writes a frame. Over says that the context ended meanwhile, and that no more can be
// written. The caller holds the lock.
func (h *handle) write(ctx context.Context, frame, rights []byte) (over bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = h.child.conn.SetWriteDeadline(time.Unix(1, 0)) })
	if err = h.child.write(frame, rights); err != nil {
		err = errors.Join(errUnsent, err)
	}
	return !stop(), err
}

// rights is the message with a command's descriptors. They are made to block: that is
// what programs expect of theirs.
func (f *startFrame) rights(files []*os.File) []byte {
	f.files = uint64(len(files))
	var fds []int
	for i, file := range files {
		if file != nil {
			f.given |= 1 << i
			fds = append(fds, int(file.Fd()))
		}
	}
	if len(fds) == 0 {
		return nil
	}
	return unix.UnixRights(fds...)
}

// stop tells the supervisor to stop a command, and oversees that it does.
func (h *handle) stop(r *run, grace time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != r {
		return
	}
	r.ending = true
	// A supervisor that cannot be told has ended, and is noticed elsewhere.
	_ = h.child.conn.SetWriteDeadline(time.Now().Add(wakeAfter))
	_ = h.child.write(newFrame(kindStop, r.number).int(int64(grace)).frame(), nil)
	_ = h.child.conn.SetWriteDeadline(time.Time{})
	h.oversee(r, time.Now().Add(grace))
}

// oversee sees to it that the supervisor does what it is to do from some time on: start a
// command, or kill it. The caller holds the lock.
func (h *handle) oversee(r *run, kill time.Time) {
	last := kill.Add(giveUpAfter)
	if r.overseer != nil {
		r.overseer.Stop()
	}
	var look func()
	look = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.run != r {
			return
		}
		if time.Now().After(last) {
			h.child.kill()
			return
		}
		_ = h.child.cmd.Process.Signal(unix.SIGCONT)
		r.overseer = time.AfterFunc(wakeAfter, look)
	}
	r.overseer = time.AfterFunc(time.Until(kill)+wakeAfter, look)
}

// serve hears what the supervisor says, until it has ended.
func (h *handle) serve() {
	err := h.child.end(h.child.hear(h.take))
	h.ended(h)
	h.lost(err)
}

// take notes one frame.
func (h *handle) take(what kind, fields *decoder) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.run
	if r == nil || fields.uint() != r.number {
		return errFrame
	}
	switch what {
	case kindStarted:
		r.process.pid = int(fields.uint())
		r.running = true
		if !r.ending {
			r.overseer.Stop()
			r.overseer = nil
		}
		r.started <- nil
	case kindFailed:
		r.started <- r.failure(syscall.Errno(fields.uint()), fields.text(), int(fields.uint()))
		h.free()
		r.process.left(func(*Status) {})
	case kindDone:
		r.process.ended(decodeDone(fields))
		if r.overseer == nil {
			h.oversee(r, time.Now())
		}
	case kindGone:
		end := decodeGone(fields)
		if !r.running {
			r.started <- ErrEnded // while it was told to go on
		}
		h.free()
		r.process.left(func(s *Status) { s.Left, s.User, s.System = end.Left, end.User, end.System })
	default:
		return errFrame
	}
	return fields.err()
}

// failure is why a supervisor could not start the command.
func (r *run) failure(number syscall.Errno, text string, step int) error {
	switch {
	case number == 0:
		return errors.New(text)
	case r.program != nil && step > 0:
		return &calls.Failure{What: r.what(step - 1), Errno: number}
	}
	return number
}

// free notes that the supervisor has no command. The caller holds the lock.
func (h *handle) free() {
	if h.run.overseer != nil {
		h.run.overseer.Stop()
	}
	h.run = nil
	h.idle(h)
}

// lost ends what the supervisor had when it ended.
func (h *handle) lost(status error) {
	h.mu.Lock()
	r := h.run
	h.run = nil
	h.mu.Unlock()
	if r == nil {
		return
	}
	why := "it ended"
	if status != nil {
		why = status.Error()
	}
	if said := h.child.said.line(); said != "" {
		why += ": " + said
	}
	h.logger.Warn("a supervisor ended before its command did", "pid", r.process.pid, "reason", why)
	what := "what there was of the command was killed"
	if !h.child.brand.killAll() {
		what = "something of the command may be left"
	}
	err := abi.Errorf(abi.CodeIO, "the process that kept the command is lost (%s); %s", why, what)
	if !r.running {
		r.started <- err
	}
	r.process.left(func(s *Status) { s.Err = err })
}
