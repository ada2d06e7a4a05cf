package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownProgram is this program, also where its file was moved or replaced meanwhile.
const ownProgram = "/proc/self/exe"

// child is the process of a supervisor, and the host's end of the socket to it.
type child struct {
	cmd   *exec.Cmd
	conn  *net.UnixConn
	brand brand
	said  words
}

// spawn starts a supervisor's process by a command; an empty one is this program.
func spawn(command []string, logger *slog.Logger) (*child, error) {
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
	if len(command) == 0 {
		command = []string{ownProgram, "supervisor"}
	}
	c := &child{conn: stream, cmd: exec.Command(command[0], command[1:]...)}
	c.cmd.Env = []string{markerName + "=" + markerValue}
	c.cmd.Dir = "/"
	c.cmd.Stderr = &c.said
	c.cmd.ExtraFiles = []*os.File{theirs} // hostSocket
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.cmd.WaitDelay = time.Second
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if c.brand, err = burn(c.cmd.Process.Pid); err != nil {
		// Without a brand, only the processes that a killed supervisor leaves cannot be found.
		logger.Warn("a supervisor's processes cannot be told from others", "reason", err)
	}
	return c, nil
}

// write writes a frame, and descriptors with its beginning.
func (c *child) write(frame, rights []byte) error {
	n, _, err := c.conn.WriteMsgUnix(frame, rights, nil)
	if err == nil && n < len(frame) {
		_, err = c.conn.Write(frame[n:])
	}
	return err
}

// dismiss tells the supervisor to kill what it has and to end. It takes no more commands then.
func (c *child) dismiss() { _ = c.conn.CloseWrite() }

// kill kills the supervisor.
func (c *child) kill() { _ = c.cmd.Process.Kill() }

// hear gives each frame that comes to take, until one of the two fails.
func (c *child) hear(take func(kind, *decoder) error) error {
	var in []byte
	buf := make([]byte, 4<<10)
	for {
		n, err := c.conn.Read(buf)
		if err != nil {
			return err
		}
		if in, err = cutAll(append(in, buf[:n]...), take); err != nil {
			return err
		}
	}
}

// end ends the process, now that hearing it ended with an error, and waits until it has.
// It returns the error that says more: that one, or the one of the end.
func (c *child) end(heard error) error {
	hungUp := errors.Is(heard, io.EOF) || errors.Is(heard, unix.ECONNRESET)
	// Who is not heard any more is to end. A supervisor that hung up has ended.
	patience := giveUpAfter
	if hungUp {
		patience = 0
	}
	c.dismiss()
	killing := time.AfterFunc(patience, c.kill)
	status := c.cmd.Wait()
	killing.Stop()
	_ = c.conn.Close()
	if hungUp {
		return status
	}
	return heard
}

// words are the beginning of what a supervisor writes to its standard error. They are
// read when it has ended.
type words []byte

// maxWords bounds them, in bytes.
const maxWords = 4 << 10

// Write keeps what there is room for and never fails.
func (w *words) Write(p []byte) (int, error) {
	*w = append(*w, p[:min(len(p), maxWords-len(*w))]...)
	return len(p), nil
}

// line is the first line, fit for a message.
func (w words) line() string {
	line, _, _ := bytes.Cut(w, []byte{'\n'})
	return strings.Trim(fmt.Sprintf("%+q", line), `"`)
}
