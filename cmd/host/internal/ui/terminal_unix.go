//go:build unix

package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal reads single keys. It takes the terminal out of its line mode while
// it waits for one, and at no other time; signals stay what they are.
type terminal struct {
	fd int

	mu sync.Mutex
	// usual are the modes to put back; nil while they are in force. Over says that they stay.
	usual *unix.Termios
	over  bool
}

func newTerminal(f *os.File) keyboard { return &terminal{fd: int(f.Fd())} }

func (*terminal) single() bool { return true }

// pollTime is how long a wait for a key goes on without a look at whether the
// question is over, in milliseconds.
const pollTime = 50

func (t *terminal) key(ctx context.Context) (rune, error) {
	return t.read(ctx, func() bool { return true })
}

// spare sets no modes while the program is in the background: that would stop it.
func (t *terminal) spare(ctx context.Context) (rune, error) { return t.read(ctx, t.foreground) }

// foreground reports whether the program may set the terminal's modes. A terminal that does not
// control it takes them from anybody.
func (t *terminal) foreground() bool {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// read reads one key while the terminal may be had.
func (t *terminal) read(ctx context.Context, may func() bool) (rune, error) {
	if !may() {
		return 0, errAway
	}
	usual, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return 0, err
	}
	defer t.lineMode(may)
	if err := t.keyMode(*usual); err != nil {
		return 0, err
	}
	if err := t.drain(); err != nil {
		return 0, err
	}
	// A shell that takes the terminal at Ctrl-Z gives it back in line mode.
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, unix.SIGCONT)
	defer signal.Stop(resumed)
	again := func() error {
		select {
		case <-resumed:
			if !may() {
				return errAway
			}
			return t.keyMode(*usual)
		default:
			return nil
		}
	}
	var typed []byte
	for !utf8.FullRune(typed) {
		b, err := t.next(ctx, again)
		if err != nil {
			return 0, err
		}
		typed = append(typed, b)
	}
	r, _ := utf8.DecodeRune(typed)
	return r, nil
}

// keyMode has the terminal hand on each key as it is pressed, unechoed.
func (t *terminal) keyMode(modes unix.Termios) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return errAway
	}
	usual := modes
	t.usual = &usual
	modes.Lflag &^= unix.ICANON | unix.ECHO
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(t.fd, setTermios, &modes)
}

// lineMode puts the modes back that keyMode found, if the terminal may be had.
func (t *terminal) lineMode(may func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.usual != nil && may() {
		_ = unix.IoctlSetTermios(t.fd, setTermios, t.usual)
	}
	t.usual = nil
}

func (t *terminal) abandon() {
	t.lineMode(t.foreground)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

func (t *terminal) keep() (restore func()) {
	usual, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return func() {}
	}
	return func() {
		if t.foreground() {
			_ = unix.IoctlSetTermios(t.fd, setTermios, usual)
		}
	}
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

// drop throws away what was typed before, half a line too.
func (t *terminal) drop() error {
	usual, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return err
	}
	defer t.lineMode(func() bool { return true })
	if err := t.keyMode(*usual); err != nil {
		return err
	}
	return t.drain()
}

// line reads a line as the terminal edits it.
func (t *terminal) line(ctx context.Context) (string, error) {
	var typed []byte
	for len(typed) < maxAnswer {
		b, err := t.next(ctx, func() error { return nil })
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

// next waits for one byte, and calls meanwhile now and then until that fails.
func (t *terminal) next(ctx context.Context, meanwhile func() error) (byte, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err := meanwhile(); err != nil {
			return 0, err
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
