//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// Namespace is what the commands of a session have in common: a user namespace, a network
// with a loopback of its own, on which they reach each other's servers, and overlays, if there
// are any. It lasts as long as it is open or a process is in it.
type Namespace struct {
	user, net *os.File // user is nil where root does without
	templates templates
	sockets   sockets
	// overlays are those that [Sandbox.Stage] has mounted, which holds staging, or, if beside is
	// set, those of another namespace.
	overlays atomic.Pointer[overlays]
	staging  sync.Mutex
	beside   bool
}

// Close gives the namespaces up.
func (n *Namespace) Close() error {
	err := errors.Join(n.templates.close(), n.sockets.close())
	if n.user != nil {
		err = errors.Join(err, n.user.Close())
	}
	if !n.beside {
		err = errors.Join(err, n.staged().close())
	}
	return errors.Join(err, n.net.Close())
}

// newNamespace makes namespaces, with or without one of users, in a process of a
// supervisor's, which sends them.
func newNamespace(ctx context.Context, s *process.Supervisors, users bool) (*Namespace, error) {
	p := &calls.Program{}
	var flags uintptr = unix.CLONE_NEWNET
	if users {
		flags |= unix.CLONE_NEWUSER
	}
	if os.Geteuid() != 0 { // the maps of a process that nobody may look into are root's
		p.CopyMemory()
		p.Call("letting this process write its maps", unix.SYS_PRCTL, calls.Int(unix.PR_SET_DUMPABLE), calls.Int(1))
	}
	p.Call("making namespaces", unix.SYS_UNSHARE, calls.Int(flags))
	var opened []calls.Arg
	if users {
		mapIDs(p)
		opened = append(opened, openNamespace(p, "user"))
	}
	loopbackUp(p)
	files, err := received(ctx, s, p, append(opened, openNamespace(p, "net")))
	if err != nil {
		return nil, err
	}
	if users {
		return &Namespace{user: files[0], net: files[1]}, nil
	}
	return &Namespace{net: files[0]}, nil
}

// NewNamespace makes what the commands of a session are to share; nil where sandboxes share
// nothing, for bubblewrap makes them.
func (s *Sandbox) NewNamespace(ctx context.Context) (*Namespace, error) {
	if s.own == nil {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	return newNamespace(ctx, s.own.options.Supervisors, s.own.users())
}

// Listen listens on ports of the namespace's loopback, as many as are asked for. The listeners
// are this process's, and what connects to them is in the namespace.
func (s *Sandbox) Listen(ctx context.Context, n *Namespace, count int) ([]net.Listener, error) {
	p := &calls.Program{}
	n.join(p)
	opened := make([]calls.Arg, count)
	address := make([]byte, unix.SizeofSockaddrInet4)
	binary.NativeEndian.PutUint16(address, unix.AF_INET)
	copy(address[4:], []byte{127, 0, 0, 1}) // and no port, which stands for any
	at := p.Bytes(address)
	for i := range opened {
		opened[i] = p.Call("making a socket", unix.SYS_SOCKET, calls.Int(unix.AF_INET), calls.Int(unix.SOCK_STREAM|unix.SOCK_CLOEXEC), calls.Int(0))
		p.Call("binding a socket", unix.SYS_BIND, opened[i], at, calls.Int(len(address)))
		p.Call("listening", unix.SYS_LISTEN, opened[i], calls.Int(unix.SOMAXCONN))
	}
	files, err := received(ctx, s.own.options.Supervisors, p, opened)
	if err != nil {
		return nil, fmt.Errorf("listening in a sandbox: %w", err)
	}
	listeners := make([]net.Listener, 0, count)
	var faults []error
	for _, f := range files {
		ln, err := net.FileListener(f)
		if err == nil {
			listeners = append(listeners, ln)
		}
		faults = append(faults, err, f.Close())
	}
	return listeners, errors.Join(faults...)
}

// join enters the namespaces.
func (n *Namespace) join(p *calls.Program) {
	if n.user != nil {
		p.Call("joining the session's user namespace", unix.SYS_SETNS, p.Hold(n.user), calls.Int(unix.CLONE_NEWUSER))
	}
	if n.net != nil {
		p.Call("joining the session's network", unix.SYS_SETNS, p.Hold(n.net), calls.Int(unix.CLONE_NEWNET))
	}
}

// mapIDs gives this user and group the same numbers in the namespace, and no others.
func mapIDs(p *calls.Program) {
	for _, f := range []struct{ name, content string }{
		{"setgroups", "deny"}, {"uid_map", fmt.Sprintf("%d %[1]d 1\n", os.Geteuid())}, {"gid_map", fmt.Sprintf("%d %[1]d 1\n", os.Getegid())},
	} {
		fd := p.Call("opening "+f.name, unix.SYS_OPENAT, current, p.Text("/proc/self/"+f.name), calls.Int(unix.O_WRONLY|unix.O_CLOEXEC))
		p.Call("writing "+f.name, unix.SYS_WRITE, fd, p.Bytes([]byte(f.content)), calls.Int(len(f.content)))
		p.Call("closing", unix.SYS_CLOSE, fd)
	}
}

func openNamespace(p *calls.Program, name string) calls.Arg {
	return p.Call("opening the namespace "+name, unix.SYS_OPENAT, current, p.Text("/proc/self/ns/"+name), calls.Int(unix.O_RDONLY|unix.O_CLOEXEC))
}

// loopbackUp has the namespace's loopback carry something.
func loopbackUp(p *calls.Program) {
	fd := p.Call("making a socket", unix.SYS_SOCKET, calls.Int(unix.AF_INET), calls.Int(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), calls.Int(0))
	request := make([]byte, 40) // struct ifreq
	copy(request, "lo")
	binary.NativeEndian.PutUint16(request[unix.IFNAMSIZ:], unix.IFF_UP|unix.IFF_RUNNING)
	p.Call("bringing the loopback up", unix.SYS_IOCTL, fd, calls.Int(unix.SIOCSIFFLAGS), p.Bytes(request))
	p.Call("closing", unix.SYS_CLOSE, fd)
}

// handing bounds how long a process may take that only opens something.
const handing = 10 * time.Second

// received runs a program and returns the files that it opened.
func received(ctx context.Context, s *process.Supervisors, p *calls.Program, opened []calls.Arg) ([]*os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	own, theirs := ends[0], os.NewFile(uintptr(ends[1]), "program")
	defer func() { _, _ = unix.Close(own), theirs.Close() }()
	p.Send(p.Hold(theirs), opened)
	if err := do(ctx, s, process.Command{Program: p}); err != nil {
		return nil, err
	}
	return receive(own, len(opened))
}

// do runs a program that starts nothing, to its end.
func do(ctx context.Context, s *process.Supervisors, c process.Command) error {
	ctx, cancel := context.WithTimeout(ctx, handing)
	defer cancel()
	started, err := s.Start(ctx, c)
	if err != nil {
		return err
	}
	select {
	case <-started.Gone():
	case <-ctx.Done():
		started.Stop(0)
		<-started.Gone()
		return context.Cause(ctx)
	}
	if status := started.Status(); status.Err != nil || status.Code != 0 {
		return errors.Join(fmt.Errorf("it ended with status %d", status.Code), status.Err)
	}
	return nil
}

// receive takes the descriptors that were sent.
func receive(socket, count int) ([]*os.File, error) {
	control := make([]byte, unix.CmsgSpace(4*count))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil {
		return nil, os.NewSyscallError("recvmsg", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, errors.New("a process opened no files")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "received")
	}
	if len(files) != count { // this process has no more descriptors
		for _, f := range files {
			_ = f.Close() // it is of no use
		}
		return nil, fmt.Errorf("of %d files that a process opened %d came: %w", count, len(files), unix.EMFILE)
	}
	return files, nil
}
