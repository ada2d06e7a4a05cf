//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// sockets are TCP sockets that were made in a namespace and lead nowhere yet. A socket stays in
// the namespace that it was made in, so this process connects them itself, and no process has
// to be started for each connection.
type sockets struct {
	mu     sync.Mutex
	spare  map[int][]*os.File // by family
	closed bool
}

// batch is how many are made at once.
const batch = 16

// Shares reports whether the commands of a session can have a network in common.
func (s *Sandbox) Shares() bool { return s.own != nil }

// Dial connects to a port of the namespace's loopback: to 127.0.0.1, and where nothing listens
// there, to ::1. If nothing does, the error is [unix.ECONNREFUSED].
func (s *Sandbox) Dial(ctx context.Context, n *Namespace, port int) (net.Conn, error) {
	conn, err := s.dial(ctx, n, unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if !errors.Is(err, unix.ECONNREFUSED) {
		return conn, err
	}
	if conn, err := s.dial(ctx, n, unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte(net.IPv6loopback)}); err == nil {
		return conn, nil
	}
	return nil, err // the kernel may have no IPv6
}

func (s *Sandbox) dial(ctx context.Context, n *Namespace, family int, to unix.Sockaddr) (net.Conn, error) {
	f, err := s.socket(ctx, n, family)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := connect(ctx, f, to); err != nil {
		return nil, err
	}
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	if conn.LocalAddr().String() == conn.RemoteAddr().String() { // TCP lets a port connect to itself
		return nil, errors.Join(unix.ECONNREFUSED, conn.Close())
	}
	return conn, nil
}

// socket takes a spare socket, or has some made.
func (s *Sandbox) socket(ctx context.Context, n *Namespace, family int) (*os.File, error) {
	n.sockets.mu.Lock()
	defer n.sockets.mu.Unlock()
	switch {
	case n.sockets.closed:
		return nil, os.ErrClosed
	case n.sockets.spare == nil:
		n.sockets.spare = make(map[int][]*os.File)
	}
	list := n.sockets.spare[family]
	if len(list) == 0 {
		p := &calls.Program{}
		n.join(p)
		opened := make([]calls.Arg, batch)
		for i := range opened {
			opened[i] = p.Call("making a socket", unix.SYS_SOCKET, calls.Int(family), calls.Int(unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK), calls.Int(0))
		}
		var err error
		if list, err = received(ctx, s.own.options.Supervisors, p, opened); err != nil {
			return nil, err
		}
	}
	last := len(list) - 1
	n.sockets.spare[family] = list[:last]
	return list[last], nil
}

// close closes the spare ones, and has no more made.
func (s *sockets) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var faults []error
	for _, list := range s.spare {
		for _, f := range list {
			faults = append(faults, f.Close())
		}
	}
	s.spare = nil
	return errors.Join(faults...)
}

// connect connects a socket that does not block.
func connect(ctx context.Context, f *os.File, to unix.Sockaddr) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var fault error
	err = raw.Write(func(fd uintptr) bool {
		fault = unix.Connect(int(fd), to)
		return !errors.Is(fault, unix.EINPROGRESS) && !errors.Is(fault, unix.EALREADY)
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case errors.Is(fault, unix.EISCONN):
		return nil
	}
	return fault
}
