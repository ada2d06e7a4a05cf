package forward

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/relay"
)

// Connections is how many of a listener are carried at once, if nothing else is said.
const Connections = 256

// dialing is how long a connection inside may take.
const dialing = 10 * time.Second

// Forwarding carries connections to where Dial leads.
type Forwarding struct {
	// Dial connects. It is called for each connection, perhaps by several at once.
	Dial func(ctx context.Context) (net.Conn, error)
	// Failed, if not nil, is told of each connection that leads nowhere. It must return soon.
	Failed func(err error)
	// Connections is how many are carried at once, 256 if 0; more wait.
	Connections int
}

// Serve carries the connections of a listener until ctx ends, and closes the listener and all
// of them. A connection that leads nowhere is reset. It returns when nothing of it runs any more:
// nil where ctx ended it.
func (f *Forwarding) Serve(ctx context.Context, ln net.Listener) error {
	return serve(ctx, ln, cmp.Or(f.Connections, Connections), f.carry)
}

// serve takes connections until ctx ends, so many at once, and closes the listener. It returns
// when all of them are done.
func serve(ctx context.Context, ln net.Listener, most int, handle func(ctx context.Context, conn net.Conn)) error {
	const pause = 50 * time.Millisecond // where descriptors ran out
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	places := make(chan struct{}, most)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := ln.Accept()
		switch temporary, _ := errors.AsType[interface {
			error
			Temporary() bool
		}](err); {
		case err == nil:
			running.Go(func() {
				defer func() { <-places }()
				defer conn.Close()
				handle(ctx, conn)
			})
			continue
		case ctx.Err() != nil:
			return nil
		case temporary == nil || !temporary.Temporary():
			return err
		}
		<-places
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// carry joins a connection with one inside.
func (f *Forwarding) carry(ctx context.Context, outside net.Conn) {
	dialled, cancel := context.WithTimeout(ctx, dialing)
	inside, err := f.Dial(dialled)
	cancel()
	if err != nil {
		if tcp, ok := outside.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, as a refused connection is
		}
		if f.Failed != nil && ctx.Err() == nil {
			f.Failed(err)
		}
		return
	}
	defer inside.Close()
	stop := context.AfterFunc(ctx, func() { _, _ = outside.Close(), inside.Close() })
	defer stop()
	relay.Join(outside, inside)
}
