package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/internal/egress"
	"github.com/toolquay/toolquay/internal/relay"
)

// Options are what a proxy is to let through, and how much of it.
type Options struct {
	// Allow answers whether rules let a connection through; its error says why not,
	// to who reads the command's output. The host is as [permissions.HostOf] names
	// it. It is asked for each connection, and may be asked by many at once. Without
	// it every host is refused.
	Allow func(ctx context.Context, host string, port int) error
	// LocalAllowed reports whether a rule names that very host, or an address that a
	// host turned out to have: only then it may be this machine, a private or
	// link-local network or a service that hands out credentials. Without it none may.
	LocalAllowed func(host string) bool
	// Ports are those that may be reached; empty is any.
	Ports []int
	// FrontsAllowed lets TLS ask for another host than the one it was connected to.
	FrontsAllowed bool

	// Connections is how many are served at once, 256 if zero; more wait. Idle is
	// how long one may carry nothing, five minutes if zero.
	Connections int
	Idle        time.Duration

	// Denied is told of each connection that was refused; the host is as it was
	// asked for, in printable characters.
	Denied func(host string, port int, why string)
	Logger *slog.Logger

	// Resolve and Dial stand for the system's in tests and for embedders with a
	// network of their own.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

const (
	defaultConnections = 256
	defaultIdle        = 5 * time.Minute
	// greeting is how long a client may take to say what it wants.
	greeting = 15 * time.Second
)

func (o *Options) setDefaults() {
	if o.Allow == nil {
		o.Allow = func(context.Context, string, int) error { return errors.New("no host may be reached") }
	}
	if o.LocalAllowed == nil {
		o.LocalAllowed = func(string) bool { return false }
	}
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Denied == nil {
		o.Denied = func(string, int, string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Resolve == nil {
		o.Resolve = egress.Resolve
	}
}

// Listen makes a Unix socket that only this user may connect to. The folder is to
// be private too: for a moment the socket has the mode that the umask leaves it.
func Listen(path string) (net.Listener, error) {
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = ln.Close()
		return nil, err
	}
	return ln, nil
}

// Serve is a proxy on a listener until the context ends. It closes the listener and
// every connection, and returns when nothing of it runs any more: nil where the
// context ended it.
func Serve(ctx context.Context, ln net.Listener, o Options) error {
	o.Ports = slices.Clone(o.Ports)
	o.setDefaults()
	ctx, cancel := context.WithCancel(ctx)
	s := &server{
		Options: o,
		dialer:  o.dialer(),
		slots:   make(chan struct{}, o.Connections),
		open:    make(map[*client]struct{}),
		web:     &handover{conns: make(chan net.Conn), addr: ln.Addr(), done: ctx.Done()},
	}
	web := s.httpServer(ctx)
	s.running.Go(func() { _ = web.Serve(s.web) })
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	err := s.accept(ctx, ln)
	cancel()
	stop()
	_ = ln.Close()
	_ = web.Close()
	s.closeAll()
	s.running.Wait()
	return err
}

// server is one running proxy.
type server struct {
	Options
	dialer *egress.Dialer
	slots  chan struct{}
	web    *handover
	// running counts the goroutines that Serve waits for.
	running sync.WaitGroup

	mu     sync.Mutex
	open   map[*client]struct{}
	closed bool
}

// accept takes connections in. It waits for a free place before it takes one, so
// that what is over the limit waits in the kernel and costs nothing here.
func (s *server) accept(ctx context.Context, ln net.Listener) error {
	const pause = 50 * time.Millisecond
	for {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := ln.Accept()
		if err != nil {
			<-s.slots
			switch {
			case ctx.Err() != nil:
				return nil //nolint:nilerr // the listener was closed for that
			case !passes(err):
				return fmt.Errorf("the proxy takes no more connections: %w", err)
			}
			s.Logger.Warn("the proxy could not take a connection", "error", err)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		if c := s.add(conn); c != nil {
			s.running.Go(func() { s.greet(ctx, c) })
		}
	}
}

// passes reports whether accepting may work again later, as when descriptors ran
// out.
func passes(err error) bool {
	var kind interface{ Temporary() bool }
	return !errors.Is(err, net.ErrClosed) && errors.As(err, &kind) && kind.Temporary()
}

// greet finds out which of the two protocols a client speaks.
func (s *server) greet(ctx context.Context, c *client) {
	_ = c.SetReadDeadline(time.Now().Add(greeting))
	first, err := c.peek()
	switch {
	case err != nil:
		_ = c.Close()
	case first == socksVersion:
		defer c.Close()
		s.socks(ctx, c)
	default:
		_ = c.SetReadDeadline(time.Time{})
		s.web.give(c)
	}
}

// add takes a connection into the set that ends with the proxy, or closes it where
// that is over.
func (s *server) add(conn net.Conn) *client {
	c := &client{Conn: conn, idle: s.Idle}
	c.gone = func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		<-s.slots
	}
	s.mu.Lock()
	s.open[c] = struct{}{}
	closed := s.closed
	s.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil
	}
	return c
}

func (s *server) closeAll() {
	s.mu.Lock()
	s.closed = true
	open := make([]*client, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// client is a connection from inside the sandbox.
type client struct {
	net.Conn
	idle time.Duration
	// first is what peek read, until Read gave it out.
	first []byte
	once  sync.Once
	gone  func()
}

func (c *client) peek() (byte, error) {
	var b [1]byte
	if _, err := c.Conn.Read(b[:]); err != nil {
		return 0, err
	}
	c.first = b[:]
	return b[0], nil
}

func (c *client) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// Write fails where the client reads nothing for as long as it may be idle. Read
// has no such limit of its own: the HTTP server and the tunnel set theirs.
func (c *client) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(c.idle))
	return c.Conn.Write(p)
}

// CloseWrite says that nothing more comes.
func (c *client) CloseWrite() error { return relay.CloseWrite(c.Conn) }

// Close gives its place to another.
func (c *client) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.gone)
	return err
}

// handover is the listener of the HTTP server: it gets what was found to be HTTP.
type handover struct {
	conns chan net.Conn
	addr  net.Addr
	done  <-chan struct{}
}

var _ net.Listener = (*handover)(nil)

func (h *handover) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.done:
		_ = c.Close()
	}
}

// Accept waits for the next.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, http.ErrServerClosed
	}
}

// Close does nothing: the handover ends with the context.
func (h *handover) Close() error { return nil }

// Addr is the socket's.
func (h *handover) Addr() net.Addr { return h.addr }
