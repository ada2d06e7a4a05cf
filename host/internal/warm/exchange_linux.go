package warm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// exchange is the time between a request and its answer.
type exchange struct {
	shell          *shell
	stdout, stderr io.Writer // stderr is nil where both come as one
	message        []byte    // what came on the control socket
}

// wait hands output on until the shell has said that the command is over: all of it
// is in the pipes then. The goroutine itself sleeps in poll(2), which saves a call
// the changes between goroutines that a reader for each pipe would cost.
func (e *exchange) wait(ctx context.Context) error {
	err := e.until(ctx)
	if err == nil {
		err = errors.Join(e.drain(e.shell.stdout, e.stdout), e.drain(e.shell.stderr, e.stderr))
	}
	bad, ours := errors.AsType[*writeError](err)
	switch {
	case err == nil:
		return nil
	case ours:
		return bad.err
	case ctx.Err() != nil: // killed: what it wrote until then is handed on
		_, _ = e.drain(e.shell.stdout, e.stdout), e.drain(e.shell.stderr, e.stderr)
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrAgain, err)
}

// until waits for the shell's message.
func (e *exchange) until(ctx context.Context) error {
	s := e.shell
	fds := []unix.PollFd{pollable(s.control), pollable(s.stdout), pollable(s.stderr)}
	var killed time.Time
	for !bytes.HasSuffix(e.message, []byte{0}) {
		_, err := unix.Poll(fds, int(tick.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case ctx.Err() != nil && killed.IsZero():
			killed = time.Now()
		case ctx.Err() != nil && time.Since(killed) > patience:
			return errors.New("the shell does not die")
		}
		if err := e.react(fds); err != nil {
			return err
		}
	}
	return nil
}

// react reads once of each channel that has something, or is closed.
func (e *exchange) react(fds []unix.PollFd) error {
	if fds[0].Revents != 0 {
		if err := e.hear(); err != nil {
			return err
		}
	}
	if fds[1].Revents != 0 {
		if _, err := e.pass(e.shell.stdout, e.stdout); err != nil {
			return err
		}
	}
	if fds[2].Revents != 0 {
		if _, err := e.pass(e.shell.stderr, e.stderr); err != nil {
			return err
		}
	}
	return nil
}

// hear reads what the shell says.
func (e *exchange) hear() error {
	n, err := e.shell.read(e.shell.control)
	if len(e.message)+n > maxMessage {
		return errors.New("the shell says more than it should")
	}
	e.message = append(e.message, e.shell.piece[:n]...)
	return err
}

// drain hands on what is in a pipe.
func (e *exchange) drain(fd int, to io.Writer) error {
	for {
		if more, err := e.pass(fd, to); err != nil || !more {
			return err
		}
	}
}

// writeError is a fault of the caller's writer.
type writeError struct{ err error }

func (w *writeError) Error() string { return w.err.Error() }
func (w *writeError) Unwrap() error { return w.err }

// pass hands one piece of a stream on, and reports whether there was one.
func (e *exchange) pass(fd int, to io.Writer) (bool, error) {
	n, err := e.shell.read(fd)
	if err != nil || n == 0 {
		return false, err
	}
	if to == nil {
		return false, fmt.Errorf("the shell itself complains: %.200q", e.shell.piece[:n])
	}
	if _, err := to.Write(e.shell.piece[:n]); err != nil {
		return false, &writeError{err}
	}
	return true, nil
}

// read fills the shell's piece once. Nothing to be had is no error, the end is.
func (s *shell) read(fd int) (int, error) {
	n, err := unix.Read(fd, s.piece)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

// shellSignals is the status above which a command may have died of a signal. Bash
// tells of that in words that depend on whether it forked for the program, and a
// fatal error of a shell is not for the next one to inherit: it is run once more.
const shellSignals = 128

// result reads the shell's message, and the notes of its child.
func (e *exchange) result(dir string) (Result, error) {
	var call, exit int
	var end string
	if n, _ := fmt.Sscanf(string(e.message), "%d %d %s", &call, &exit, &end); n != 3 ||
		string(e.message) != fmt.Sprintf("%d %d %s", call, exit, end) || call != e.shell.calls || end != "clean\x00" && end != "left\x00" {
		return Result{}, fmt.Errorf("%w: the shell says %.60q", ErrAgain, e.message)
	}
	if exit > shellSignals {
		return Result{}, fmt.Errorf("%w: it ended with status %d", ErrAgain, exit)
	}
	n, err := e.shell.read(e.shell.notes)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	place, begun := strings.CutPrefix(string(e.shell.piece[:n]), running)
	if place != "" {
		dir = strings.TrimSuffix(place, "\x00")
	}
	if !begun || strings.ContainsRune(dir, 0) || !filepath.IsAbs(dir) {
		return Result{}, fmt.Errorf("%w: its child notes %.60q", ErrAgain, e.shell.piece[:n])
	}
	return Result{Exit: exit, Dir: dir, Left: end == "left\x00"}, nil
}

func pollable(fd int) unix.PollFd { return unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} }
