//go:build unix

package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal reads single keys. It takes the terminal out of its line mode while
// it waits for one, and at no other time; signals stay what they are.
type terminal struct{ fd int }

func newTerminal(f *os.File) keyboard { return &terminal{fd: int(f.Fd())} }

func (*terminal) single() bool { return true }

// pollTime is how long a wait for a key goes on without a look at whether the
// question is over, in milliseconds.
const pollTime = 50

func (t *terminal) key(ctx context.Context) (rune, error) {
	restore, err := t.keyMode()
	if err != nil {
		return 0, err
	}
	defer restore()
	if err := t.drain(); err != nil {
		return 0, err
	}
	var typed []byte
	for !utf8.FullRune(typed) {
		b, err := t.next(ctx)
		if err != nil {
			return 0, err
		}
		typed = append(typed, b)
	}
	r, _ := utf8.DecodeRune(typed)
	return r, nil
}

// keyMode has the terminal hand on each key as it is pressed, unechoed.
func (t *terminal) keyMode() (restore func(), err error) {
	usual, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return nil, err
	}
	keys := *usual
	keys.Lflag &^= unix.ICANON | unix.ECHO
	keys.Cc[unix.VMIN], keys.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(t.fd, setTermios, &keys); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(t.fd, setTermios, usual) }, nil
}

// drain throws away what was typed before: it was meant for something else, or
// is the rest of what one key sends.
func (t *terminal) drain() error {
	for {
		ready, err := t.ready(0)
		if err != nil || !ready {
			return err
		}
		var old [256]byte
		if n, err := unix.Read(t.fd, old[:]); err != nil || n == 0 {
			return err
		}
	}
}

// line reads a line as the terminal edits it.
func (t *terminal) line(ctx context.Context) (string, error) {
	var typed []byte
	for len(typed) < maxAnswer {
		b, err := t.next(ctx)
		if err != nil {
			return "", err
		}
		if b == '\n' || b == '\r' {
			break
		}
		typed = append(typed, b)
	}
	return strings.TrimSpace(string(typed)), nil
}

// next waits for one byte.
func (t *terminal) next(ctx context.Context) (byte, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		ready, err := t.ready(pollTime)
		if err != nil {
			return 0, err
		}
		if !ready {
			continue
		}
		var b [1]byte
		switch n, err := unix.Read(t.fd, b[:]); {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return b[0], nil
		}
	}
}

// ready reports whether there is something to read within some milliseconds.
func (t *terminal) ready(milliseconds int) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, milliseconds)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}
