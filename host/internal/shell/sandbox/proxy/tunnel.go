package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/internal/relay"
)

// tunnel carries bytes both ways until both sides are done, or nothing went either
// way for too long. early is what the client sent already.
func (s *server) tunnel(down net.Conn, early []byte, up net.Conn, name string, port int) {
	from := io.Reader(down)
	if len(early) > 0 {
		from = io.MultiReader(bytes.NewReader(bytes.Clone(early)), down)
	}
	t := &tunnel{idle: s.Idle}
	t.touch()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.copy(down, up, up)
	}()
	if err := s.passHello(t, down, &from, name, port); err == nil {
		t.copy(up, from, down)
	} else {
		_ = up.Close()
	}
	<-done
}

// passHello looks at what a client begins a tunnel with, and puts it back into
// from.
func (s *server) passHello(t *tunnel, down net.Conn, from *io.Reader, name string, port int) error {
	if s.FrontsAllowed {
		return nil
	}
	asked, begin, err := peekHello(&idleReader{t: t, conn: down, from: *from})
	if err != nil {
		return err
	}
	*from = io.MultiReader(bytes.NewReader(begin), *from)
	if asked == "" {
		return nil
	}
	return s.front(name, port, asked)
}

// tunnel is what the two directions of one share: when something last went through.
type tunnel struct {
	idle time.Duration
	last atomic.Int64
}

func (t *tunnel) touch() { t.last.Store(time.Now().UnixNano()) }

func (t *tunnel) left() time.Duration {
	return t.idle - time.Since(time.Unix(0, t.last.Load()))
}

// copy carries one direction. At its end the other side is told so, and may go on;
// after an error it is over for both.
func (t *tunnel) copy(to net.Conn, from io.Reader, source net.Conn) {
	buffer := make([]byte, 32<<10)
	_, err := io.CopyBuffer(&patient{Conn: to, idle: t.idle}, &idleReader{t: t, conn: source, from: from}, buffer)
	if err == nil {
		err = relay.CloseWrite(to)
	}
	if err != nil {
		_ = to.Close()
		_ = source.Close()
	}
}

// idleReader reads from a connection (from holds what was read of it before, too)
// as long as either direction of the tunnel is used.
type idleReader struct {
	t    *tunnel
	conn net.Conn
	from io.Reader
}

func (r *idleReader) Read(p []byte) (int, error) {
	for {
		_ = r.conn.SetReadDeadline(time.Now().Add(r.t.left()))
		n, err := r.from.Read(p)
		if n > 0 {
			r.t.touch()
			return n, nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || r.t.left() <= 0 {
			return n, err
		}
	}
}

// patient is a connection that may carry nothing for so long, and no longer.
type patient struct {
	net.Conn
	idle time.Duration
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.SetReadDeadline(time.Now().Add(p.idle))
	return p.Conn.Read(b)
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(p.idle))
	return p.Conn.Write(b)
}
