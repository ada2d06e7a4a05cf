//go:build unix

package shell

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipeSize is how much fits into a pipe where that can be chosen, in bytes: so much
// can be read at a time.
const pipeSize = 1 << 20

// pipe is one that a command writes to. The command's end blocks, as programs expect;
// ours does not, so that nobody who holds the other can keep us waiting.
type pipe struct {
	r, w *os.File
	// drained counts what was read since nothing more is waited for.
	drained int
}

func newPipe() (*pipe, error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	err := unix.Pipe(fds[:])
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	widen(fds[0])
	p := &pipe{w: os.NewFile(uintptr(fds[1]), "output")}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, errors.Join(err, unix.Close(fds[0]), p.w.Close())
	}
	p.r = os.NewFile(uintptr(fds[0]), "output")
	return p, nil
}

// last has read end with what is in the pipe now.
func (p *pipe) last() { _ = p.r.SetReadDeadline(time.Unix(1, 0)) } // pipes have deadlines

// read reads the next bytes. After last, and with what is in the pipe read, it fails.
func (p *pipe) read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return p.rest(b)
	}
	return n, err
}

// rest reads what is in the pipe, if there is anything. More than a pipe holds was not
// written by the command, which is gone.
func (p *pipe) rest(b []byte) (int, error) {
	if p.drained >= pipeSize {
		return 0, io.EOF
	}
	n, err := readNow(p.r, b)
	if err == nil && n == 0 {
		err = io.EOF
	}
	p.drained += n
	return n, err
}
