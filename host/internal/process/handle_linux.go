package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/procfs"
)

const (
	// ownProgram is this program, also where its file was moved or replaced meanwhile.
	ownProgram = "/proc/self/exe"
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
	supervisors *Supervisors
	cmd         *exec.Cmd
	conn        *net.UnixConn
	brand       brand
	said        words

	// Under the lock of Supervisors.
	timer  *time.Timer // ends it when it is idle for long
	bound  bool        // limits are set
	limits rlimits

	mu     sync.Mutex // serves writing too
	number uint64
	run    *run
}

// run is one command in the hands of a supervisor.
type run struct {
	number   uint64
	process  *Process
	started  chan error // has room for one
	running  bool       // it was started
	ending   bool       // it was told to stop
	overseer *time.Timer
}

// spawn starts a supervisor.
func (s *Supervisors) spawn() (*handle, error) {
	if err := Startable(s.options.Command); err != nil {
		return nil, err
	}
	h, err := s.newHandle()
	if err != nil {
		return nil, abi.Errorf(abi.CodeIO, "starting a supervisor: %w", cmp.Or(procfs.Check(), err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[h] = struct{}{}
	s.work.Go(h.serve)
	if s.closed {
		h.dismiss()
		return nil, abi.Errorf(abi.CodeCancelled, "the supervisors are closed")
	}
	return h, nil
}

func (s *Supervisors) newHandle() (*handle, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	own, theirs := os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "host")
	defer own.Close()
	defer theirs.Close()
	conn, err := net.FileConn(own)
	if err != nil {
		return nil, err
	}
	stream, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errFrame, conn.Close())
	}
	h := &handle{supervisors: s, conn: stream}
	command := s.options.Command
	if len(command) == 0 {
		command = []string{ownProgram, "supervisor"}
	}
	h.cmd = exec.Command(command[0], command[1:]...)
	h.cmd.Env = []string{markerName + "=" + markerValue}
	h.cmd.Dir = "/"
	h.cmd.Stderr = &h.said
	h.cmd.ExtraFiles = []*os.File{theirs} // hostSocket
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	h.cmd.WaitDelay = time.Second
	if err := h.cmd.Start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if h.brand, err = burn(h.cmd.Process.Pid); err != nil {
		// Only what a supervisor that is killed leaves is not found without.
		s.logger().Warn("a supervisor's processes cannot be told from others", "reason", err)
	}
	return h, nil
}

// start gives a command to the supervisor, which has none, and waits until it runs.
func (h *handle) start(ctx context.Context, c *Command) (*Process, error) {
	r, err := h.send(ctx, c)
	if err != nil {
		// It may have heard, and have a command: then it has to kill that before it ends.
		h.dismiss()
		if err := ctx.Err(); err != nil {
			if r != nil {
				return r.process, err
			}
			return nil, err
		}
		return nil, &abi.Error{Code: abi.CodeIO, Message: fmt.Sprintf("starting %s: %v", c.Path, err), Err: err}
	}
	select {
	case err = <-r.started:
	case <-ctx.Done():
		go r.process.Stop(0) // the supervisor may not hear yet
		return r.process, ctx.Err()
	}
	if err != nil {
		return nil, &abi.Error{Code: codeOf(err), Message: fmt.Sprintf("starting %s: %v", c.Path, err), Err: err}
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
	l := rlimitsOf(c.Limits)
	h.supervisors.mu.Lock()
	h.bound, h.limits = true, l
	h.supervisors.mu.Unlock()

	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	f := &startFrame{
		number: h.number, path: c.Path, dir: c.Dir, args: c.Args, env: c.Env,
		processes: int64(c.Limits.Processes), memory: c.Limits.Memory, cpu: c.Limits.CPU,
		openFiles: l.openFiles, fileSize: l.fileSize,
	}
	if f.dir == "" {
		f.dir = "/"
	}
	rights := f.rights(c.Files)
	r := &run{number: h.number, started: make(chan error, 1)}
	r.process = newProcess(func(_ *Process, grace time.Duration) { h.stop(r, grace) })
	h.run = r
	stop := context.AfterFunc(ctx, func() { _ = h.conn.SetWriteDeadline(time.Unix(1, 0)) })
	err := h.write(f.encode(), rights)
	runtime.KeepAlive(c.Files)
	over := !stop() // and no more can be written to it
	if err != nil {
		h.run = nil
		return nil, errors.Join(errUnsent, err)
	}
	h.oversee(r, time.Now())
	if over {
		return r, context.Cause(ctx)
	}
	return r, nil
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

// write writes a frame, and descriptors with its beginning.
func (h *handle) write(frame, rights []byte) error {
	n, _, err := h.conn.WriteMsgUnix(frame, rights, nil)
	if err == nil && n < len(frame) {
		_, err = h.conn.Write(frame[n:])
	}
	return err
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
	_ = h.conn.SetWriteDeadline(time.Now().Add(wakeAfter))
	_ = h.write(newFrame(kindStop, r.number).int(int64(grace)).frame(), nil)
	_ = h.conn.SetWriteDeadline(time.Time{})
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
			h.kill()
			return
		}
		_ = h.cmd.Process.Signal(unix.SIGCONT)
		r.overseer = time.AfterFunc(wakeAfter, look)
	}
	r.overseer = time.AfterFunc(time.Until(kill)+wakeAfter, look)
}

// dismiss tells the supervisor to kill what it has and to end. It takes no more commands then.
func (h *handle) dismiss() { _ = h.conn.CloseWrite() }

// kill kills the supervisor.
func (h *handle) kill() { _ = h.cmd.Process.Kill() }

// serve hears what the supervisor says, until it has ended.
func (h *handle) serve() {
	err := h.hear()
	// Who is not heard any more is to end. A supervisor that hung up has ended.
	patience := giveUpAfter
	if hungUp(err) {
		patience = 0
	}
	h.dismiss()
	killing := time.AfterFunc(patience, h.kill)
	status := h.cmd.Wait()
	killing.Stop()
	_ = h.conn.Close()
	h.supervisors.forget(h)
	h.lost(cmpErr(err, status))
}

// cmpErr is the error that says more.
func cmpErr(heard, status error) error {
	if hungUp(heard) {
		return status
	}
	return heard
}

// hungUp reports whether the other end of a socket is closed.
func hungUp(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) }

// hear reads the supervisor's frames.
func (h *handle) hear() error {
	var in []byte
	buf := make([]byte, 4<<10)
	for {
		n, err := h.conn.Read(buf)
		if err != nil {
			return err
		}
		in = append(in, buf[:n]...)
		for {
			what, fields, rest, err := cut(in)
			if err != nil {
				return err
			}
			if in = rest; what == 0 {
				break
			}
			if err := h.take(what, fields); err != nil {
				return err
			}
		}
	}
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
		number, text := syscall.Errno(fields.uint()), fields.text()
		h.free()
		if number == 0 {
			r.started <- errors.New(text)
		} else {
			r.started <- number
		}
		r.process.left(func(*Status) {})
	case kindDone:
		r.process.ended(decodeDone(fields))
		if r.overseer == nil {
			h.oversee(r, time.Now())
		}
	case kindGone:
		end := decodeGone(fields)
		h.free()
		r.process.left(func(s *Status) { s.Left, s.User, s.System = end.Left, end.User, end.System })
	default:
		return errFrame
	}
	return fields.err()
}

// free notes that the supervisor has no command. The caller holds the lock.
func (h *handle) free() {
	if h.run.overseer != nil {
		h.run.overseer.Stop()
	}
	h.run = nil
	h.supervisors.release(h)
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
	if said := h.said.line(); said != "" {
		why += ": " + said
	}
	h.supervisors.logger().Warn("a supervisor ended before its command did", "pid", r.process.pid, "reason", why)
	what := "what there was of the command was killed"
	if !h.brand.killAll() {
		what = "something of the command may be left"
	}
	err := abi.Errorf(abi.CodeIO, "the process that kept the command is lost (%s); %s", why, what)
	if !r.running {
		r.started <- err
	}
	r.process.left(func(s *Status) { s.Err = err })
}

// logger is told of what nobody asked for.
func (s *Supervisors) logger() *slog.Logger {
	if s.options.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.options.Logger
}

// words keeps the beginning of what a supervisor writes to its standard error.
type words struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// maxWords bounds them, in bytes.
const maxWords = 4 << 10

// Write keeps what there is room for and never fails.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p[:min(len(p), maxWords-w.b.Len())])
	return len(p), nil
}

// line is the first line, fit for a message.
func (w *words) line() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	line, _, _ := strings.Cut(w.b.String(), "\n")
	return strings.Trim(fmt.Sprintf("%+q", line), `"`)
}
