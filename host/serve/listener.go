package serve

import (
	"net"
	"sync"
	"time"
)

// bounded is a listener with room for a number of connections; further ones wait until one
// of them ends. A client of it that does not read what it is sent is cut.
type bounded struct {
	net.Listener
	room      chan struct{}
	writeTime time.Duration
	closed    chan struct{}
	closeOnce sync.Once
}

func newBounded(l net.Listener, limits Limits) *bounded {
	return &bounded{
		Listener: l, room: make(chan struct{}, limits.Connections), writeTime: limits.WriteTime,
		closed: make(chan struct{}),
	}
}

// Accept waits for a connection, and for room for it.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.room <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.room
		return nil, err
	}
	return &boundedConn{Conn: conn, leave: sync.OnceFunc(func() { <-b.room }), writeTime: b.writeTime}, nil
}

// Close stops listening. Connections go on.
func (b *bounded) Close() error {
	b.closeOnce.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// boundedConn is a connection that gives its room back when it is closed.
type boundedConn struct {
	net.Conn
	leave     func()
	writeTime time.Duration
}

// piece is how much a client must have read in the time for a write.
const piece = 64 << 10

// Write writes piece by piece, each with its own time: a stream may last for days, and its
// client may be slow, but it must read.
func (c *boundedConn) Write(b []byte) (int, error) {
	written := 0
	for {
		n := min(len(b)-written, piece)
		if err := c.SetWriteDeadline(time.Now().Add(c.writeTime)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[written : written+n])
		written += n
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
