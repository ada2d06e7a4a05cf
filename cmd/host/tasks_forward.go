package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

func tasksForwardCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "forward [PORT:]INSIDE...",
		Short: "Open ports on which a session's commands listen to a browser outside",
		Long: `Forward listens on ports of this machine's loopback, and connects whoever comes with
the same ports inside the sandbox, where a command of a session serves something. The
commands of a session share a loopback that nothing outside reaches otherwise. It
lasts until Ctrl-C, or until the session ends. What listens inside may come, go and
come again.

    toolquay tasks forward 3000              of the session that runs, the last if several do
    toolquay tasks forward 8080:3000         8080 here, 3000 inside
    toolquay tasks forward 0:3000            a free port here; the line on standard output says which
    toolquay --session ID tasks forward 3000 3001`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return forwardPorts(cmd.Context(), a, args) },
	}
}

func forwardPorts(ctx context.Context, a *app, args []string) error {
	ports := make([]*forwardedPort, len(args))
	for i, arg := range args {
		var err error
		if ports[i], err = parseForward(arg); err != nil {
			return err
		}
	}
	s, err := a.setup()
	if err != nil {
		return err
	}
	id, remote, err := reachSession(ctx, a.flags.session, s.options.Storage.Sessions)
	if err != nil {
		return err
	}
	defer remote.Close()
	defer closePorts(ports)
	for _, p := range ports {
		if err := p.listen(ctx); err != nil {
			return err
		}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		<-remote.Done()
		end(errSessionOver)
	}()
	var running sync.WaitGroup
	for _, p := range ports {
		a.out.Printf("http://%s leads to port %d of session %s\n", p.listener.Addr(), p.inside, id)
		running.Go(func() {
			if err := p.serve(ctx, a, remote); err != nil {
				end(hostError(err))
			}
		})
	}
	running.Wait()
	return forwardEnd(ctx, a, id)
}

var errSessionOver = errors.New("the session has ended")

// forwardEnd is what forwarding ends with.
func forwardEnd(ctx context.Context, a *app, id string) error {
	switch cause := context.Cause(ctx); {
	case signalCode(ctx) != exitOK:
		return quiet(signalCode(ctx))
	case errors.Is(cause, errSessionOver):
		a.err.Printf("toolquay: session %s has ended\n", id)
		return nil
	default:
		return cause
	}
}

// forwardedPort is a port of this machine that leads to one inside.
type forwardedPort struct {
	outside, inside int
	listener        net.Listener
	told            sync.Once
}

// parseForward reads PORT or PORT:INSIDE.
func parseForward(arg string) (*forwardedPort, error) {
	outside, inside, two := strings.Cut(arg, ":")
	if !two {
		inside = outside
	}
	o, err := strconv.ParseUint(outside, 10, 16)
	i, errInside := strconv.ParseUint(inside, 10, 16)
	if err != nil || errInside != nil || i == 0 {
		return nil, usageError("%q is no port: write 3000, 8080:3000 for another port of this machine, or 0:3000 for a free one", arg)
	}
	return &forwardedPort{outside: int(o), inside: int(i)}, nil
}

// listen listens on this machine's loopback.
func (p *forwardedPort) listen(ctx context.Context) (err error) {
	p.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.outside)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return hostError(fmt.Errorf("port %d of this machine is taken by another program (ss -ltnp 'sport = :%[1]d' tells which); for a free one: toolquay tasks forward 0:%d", p.outside, p.inside))
	case errors.Is(err, syscall.EACCES):
		return hostError(fmt.Errorf("you may not listen on port %d of this machine; for a free one: toolquay tasks forward 0:%d", p.outside, p.inside))
	}
	return hostError(err)
}

// closePorts closes those that listen.
func closePorts(ports []*forwardedPort) {
	for _, p := range ports {
		if p.listener != nil {
			_ = p.listener.Close() // it may be closed already
		}
	}
}

// serve carries connections until ctx ends. The first that leads nowhere is told.
func (p *forwardedPort) serve(ctx context.Context, a *app, remote *host.RemoteSession) error {
	f := host.Forwarding{
		Dial: func(ctx context.Context) (net.Conn, error) { return remote.Dial(ctx, p.inside) },
		Failed: func(err error) {
			p.told.Do(func() {
				if errors.Is(err, syscall.ECONNREFUSED) {
					err = errors.New("nothing listens on it; connections are refused until a command does")
				}
				a.err.Printf("toolquay: port %d of the session: %v\n", p.inside, err)
			})
		},
	}
	return f.Serve(ctx, p.listener)
}

// reachWait is how long to wait for a session that does not let others in yet: one of its commands
// has begun just now.
const reachWait = 3 * time.Second

// reachSession reaches the session with an id, or without one the last of those that run.
func reachSession(ctx context.Context, id, sessions string) (string, *host.RemoteSession, error) {
	if id != "" {
		if _, err := os.Stat(host.SessionDir(sessions, id)); err != nil {
			return "", nil, usageError("there is no session %q in %s", id, sessions)
		}
	}
	for deadline := time.Now().Add(reachWait); ; {
		found, remote, err := tryReach(ctx, id, sessions)
		if remote != nil || err != nil {
			return found, remote, err
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return "", nil, quiet(signalCode(ctx))
		}
	}
	if id == "" {
		return "", nil, usageError("there is no session in %s that runs a command; toolquay tasks lists what ran", sessions)
	}
	return "", nil, usageError("the session %q runs no command; toolquay --session %[1]s tasks lists what ran", id)
}

// tryReach is reachSession without waiting; it finds nothing where nothing can be reached yet.
func tryReach(ctx context.Context, id, sessions string) (string, *host.RemoteSession, error) {
	names := []string{filepath.Base(host.SessionDir(sessions, id))}
	if id == "" {
		names = names[:0]
		for _, s := range byLastRecord(sessions) {
			names = append(names, s.name)
		}
	}
	var reason error
	for _, name := range names {
		limited, cancel := context.WithTimeout(ctx, reachWait)
		remote, err := host.ReachSession(limited, filepath.Join(sessions, name))
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("its process does not answer; it may be stopped")
		}
		switch {
		case err == nil:
			return name, remote, nil
		case reason == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
			reason = hostError(fmt.Errorf("session %s: %w", name, err))
		}
	}
	return "", nil, reason
}
