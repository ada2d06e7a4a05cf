package process

import (
	"context"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// ErrEnded is that a process that waited to become a command ended before it was one.
var ErrEnded = errors.New("the process that waited has ended")

// rest is what a program that waited went on with.
type rest struct {
	program *calls.Program
	files   int
}

// what says what a step of the command's program does.
func (r *run) what(step int) string {
	if at := step - r.program.Len(); at >= 0 && r.rest.program != nil {
		return r.rest.program.What(at - r.rest.files)
	}
	return r.program.What(step)
}

// proceed has a process that waits become a command. It fails with [ErrEnded] only where nothing of
// the command has run.
func (h *handle) proceed(ctx context.Context, r *run, c *Command) (*Process, error) {
	over, err := h.sendOn(ctx, r, c)
	if over || errors.Is(err, errUnsent) {
		h.child.dismiss() // it may have heard a part, and may not hear to stop
	}
	if ctx.Err() != nil || over {
		return r.process, context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(ErrEnded, err)
	}
	p, err := r.await(ctx, c)
	if _, failed := errors.AsType[*calls.Failure](err); !failed && errors.Is(err, unix.EPIPE) {
		err = errors.Join(ErrEnded, err)
	}
	return p, err
}

// sendOn writes the frame by which a process goes on.
func (h *handle) sendOn(ctx context.Context, r *run, c *Command) (over bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != r || !r.running {
		return false, ErrEnded
	}
	f := &startFrame{number: r.number}
	next := *c
	next.Program = &calls.Program{}
	program, files := f.carryOut(&next)
	rights := f.rights(files)
	r.rest, r.running, r.started = rest{program, len(files)}, false, make(chan error, 1)
	over, err = h.write(ctx, f.encode(kindGoOn), rights)
	runtime.KeepAlive(c.Files)
	h.oversee(r, time.Now())
	return over, err
}

// proceed has the command's process, which waits, go on. If it ended meanwhile, that is told anyway.
func (s *supervisor) proceed(fields *decoder) error {
	var f startFrame
	if err := f.decode(fields); err != nil {
		return err
	}
	files, err := s.host.take(f.files, f.given, s.null)
	p, fault := calls.Decode(f.program)
	if err := errors.Join(err, fault); err != nil {
		return errors.Join(errFrame, err)
	}
	defer s.closeAll(files)
	c := s.command
	if c == nil || c.number != f.number || c.ended {
		return nil
	}
	if err := c.carrier.Continue(c.first, p, files, hostSocket); err != nil {
		s.command = nil
		fault := c.killAll()
		s.host.say(failedFrame(f.number, err))
		return errors.Join(fault, s.host.flush())
	}
	c.looks = looks{}
	c.looks.again(time.Now(), usage{threads: -1}, 0)
	return s.tellStarted()
}
