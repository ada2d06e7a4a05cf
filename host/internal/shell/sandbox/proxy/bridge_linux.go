package proxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// The statuses by which a shell tells what became of a command.
const (
	exitNotStarted = 126
	exitNotFound   = 127
	exitSignalled  = 128
)

// Bridge runs a command for which the proxy behind a Unix socket is the way to the
// network, and returns its status: 128 and the signal's number where one ended it.
// It is for a process of its own, in a network namespace without a route: that
// process's signals go to the command, and its descriptors but the first three are
// not inherited. When the context ends, or the process, the command is killed.
func Bridge(ctx context.Context, socket string, argv []string) (exit int, err error) {
	if len(argv) == 0 {
		return exitNotFound, errors.New("there is no command to run")
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return exitNotStarted, fmt.Errorf("nothing can listen inside the sandbox: %w", err)
	}
	defer ln.Close()
	go relayTo(ln, socket)

	// Whoever started this process may have left it more than it opened itself.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return exitNotStarted, fmt.Errorf("descriptors cannot be kept from the command: %w", err)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = environment(ln.Addr().String())
	// The kernel sends the signal when the thread that forked ends, which is therefore
	// kept.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn()...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return exitNotFound, err
		}
		return exitNotStarted, err
	}
	ended := make(chan struct{})
	defer close(ended)
	go passOn(signals, cmd.Process, ended)
	return status(cmd.Wait(), cmd.ProcessState)
}

// passedOn are the signals that are for the command. Those that were ignored stay
// so, for the command too.
func passedOn() []os.Signal {
	all := []syscall.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGCONT,
	}
	var out []os.Signal
	for _, s := range all {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}

func passOn(signals <-chan os.Signal, to *os.Process, ended <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			_ = to.Signal(s)
		case <-ended:
			return
		}
	}
}

// status is what a command's end comes to, as a shell tells it.
func status(err error, state *os.ProcessState) (int, error) {
	if state == nil {
		return exitNotStarted, err
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitSignalled + int(ws.Signal()), nil
	}
	return state.ExitCode(), nil
}
