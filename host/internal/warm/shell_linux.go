package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// patience is how long a shell may take to be ready, or to be gone.
	patience = 5 * time.Second
	// tick is how often it is looked whether a killed shell still is not gone.
	tick = 100 * time.Millisecond
	// pipeSize spares programs that write much most of their waits.
	pipeSize = 1 << 20
	// pieceSize is how much output is handed on at once.
	pieceSize = 64 << 10
	// maxMessage bounds what the shell says to the host at a time.
	maxMessage = 2 * unix.PathMax
)

// shell is a bash that waits in a sandbox. One goroutine at a time has it.
type shell struct {
	kind    string
	process Process
	// The host's ends. None of them blocks.
	control, stdout, stderr, notes int
	calls                          int
	expiry                         *time.Timer
	piece                          []byte
}

// start starts a shell, and returns when it is ready.
func start(ctx context.Context, by func(context.Context, *Launch) (Process, error), l *Launch, kind string) (*shell, error) {
	s := &shell{kind: kind, control: -1, stdout: -1, stderr: -1, notes: -1, piece: make([]byte, pieceSize)}
	theirs, err := s.connect()
	if err == nil {
		l.Std, l.Extra = []*os.File{nil, theirs[0], theirs[1]}, theirs[2:]
		s.process, err = by(ctx, l)
	}
	for _, f := range theirs {
		_ = f.Close() // the shell has its own
	}
	if err == nil {
		err = s.greet(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// connect makes the pipes and the socket, and returns the shell's ends of standard
// output, standard error, the control socket and the notes.
func (s *shell) connect() ([]*os.File, error) {
	var theirs []*os.File
	for _, p := range []struct {
		end  *int
		name string
		size int
	}{{&s.stdout, "stdout", pipeSize}, {&s.stderr, "stderr", 0}, {&s.control, "control", 0}, {&s.notes, "notes", 0}} {
		var pair [2]int
		var err error
		if p.end == &s.control {
			pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		} else {
			err = unix.Pipe2(pair[:], unix.O_CLOEXEC)
		}
		if err != nil {
			return theirs, fmt.Errorf("make a channel to a shell: %w", err)
		}
		*p.end = pair[0]
		theirs = append(theirs, os.NewFile(uintptr(pair[1]), p.name))
		if err := unix.SetNonblock(pair[0], true); err != nil {
			return theirs, fmt.Errorf("make a channel to a shell: %w", err)
		}
		if p.size > 0 { // a smaller one is only slower
			_, _ = unix.FcntlInt(uintptr(pair[0]), unix.F_SETPIPE_SZ, p.size)
		}
	}
	return theirs, nil
}

// greet waits until the shell has started, and lets it go on. It must be in another
// PID namespace than the host: it is going to kill all that it can see.
func (s *shell) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(ctx, s.process.Kill)()
	e := exchange{shell: s, stdout: io.Discard, stderr: io.Discard}
	if err := e.wait(ctx); err != nil {
		return err
	}
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return fmt.Errorf("look at this process's PID namespace: %w", err)
	}
	theirs := strings.TrimSuffix(string(e.message), "\x00")
	if !strings.HasPrefix(theirs, "pid:[") || theirs == ours {
		return fmt.Errorf("the shell is in the PID namespace %.40q, which is not one of its own", theirs)
	}
	return s.send("go\x00")
}

// untouched reports whether the shell is alive and has said nothing unasked.
func (s *shell) untouched() bool {
	fds := []unix.PollFd{pollable(s.control), pollable(s.stdout), pollable(s.stderr), pollable(s.notes)}
	for {
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 0
		}
	}
}

// send writes a request, which fits into the socket's buffer: the shell has read all
// that came before.
func (s *shell) send(text string) error {
	n, err := unix.SendmsgN(s.control, []byte(text), nil, nil, unix.MSG_NOSIGNAL)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}

// run runs a command, and says whether the shell may be used again.
func (s *shell) run(ctx context.Context, r *Request) (result Result, fresh bool, err error) {
	stop := context.AfterFunc(ctx, s.process.Kill)
	s.calls++
	if err := s.send(request(r.Dir, r.Command, r.Stderr == nil)); err != nil {
		stop()
		return Result{}, false, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	e := exchange{shell: s, stdout: r.Stdout, stderr: r.Stderr}
	if err := e.wait(ctx); err != nil {
		stop()
		return Result{}, false, err
	}
	result, err = e.result(r.Dir)
	return result, stop() && err == nil && !result.Left, err
}

// kill has whoever uses the shell come to know of its end.
func (s *shell) kill() { s.process.Kill() }

// close kills the shell, and returns when it is gone, or does not want to go.
func (s *shell) close() {
	if s.process != nil {
		s.process.Kill()
	}
	for _, fd := range []int{s.control, s.stdout, s.stderr, s.notes} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	if s.process != nil {
		select {
		case <-s.process.Gone():
		case <-time.After(patience):
		}
	}
}
