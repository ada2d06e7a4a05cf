package servers

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// methodDiscover is the first question of the revision 2026-07-28, which servers of older ones
// do not know. Some do not even refuse it.
const methodDiscover = "server/discover"

// methodInitialize is that of the older ones.
const methodInitialize = "initialize"

// probeTime is how long a program may leave the first question of the newer revision unanswered;
// then the older one is tried.
var probeTime = 10 * time.Second

// errUnanswered stands for the refusal that a server did not send.
var errUnanswered = errors.New("server/discover was not answered")

// probing is a transport that answers the first question itself, with an error, if the server
// does not within probeTime. The client then tries the older revision.
type probing struct {
	mcp.Transport
	of *server
}

// Connect begins a connection.
func (p *probing) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := p.Transport.Connect(context.WithoutCancel(ctx)) // ctx is for the beginning alone
	if err != nil {
		return nil, err
	}
	return &probingConn{Connection: conn, of: p.of, late: make(chan struct{}), came: make(chan received), answers: make(chan jsonrpc.Message, 1), closed: make(chan struct{})}, nil
}

type received struct {
	message jsonrpc.Message
	err     error
}

type probingConn struct {
	mcp.Connection
	of *server
	// given is the id of the question that we answered, and late is closed when the server has
	// answered it too. Older is the id of the older revision's first question, and refused says
	// that the server refused it.
	given, older atomic.Pointer[jsonrpc.ID]
	late         chan struct{}
	refused      atomic.Bool

	reading sync.Once
	came    chan received
	answers chan jsonrpc.Message // ours
	closing sync.Once
	closed  chan struct{}
}

// Write sends a message, and begins to wait for the answer to the first question.
func (c *probingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	q, ok := m.(*jsonrpc.Request)
	if ok && q.Method == methodInitialize {
		c.older.Store(&q.ID)
	}
	if ok && q.Method == methodDiscover && !c.of.patient {
		refusal := &jsonrpc.Response{ID: q.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: errUnanswered.Error()}}
		time.AfterFunc(probeTime, func() {
			c.given.Store(&q.ID)
			select {
			case c.answers <- refusal: // the client drops it if there was an answer
			case <-c.closed:
			}
		})
	}
	return c.Connection.Write(ctx, m)
}

// Read returns the next message: the server's, or ours.
func (c *probingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	c.reading.Do(func() { go c.read() }) //nolint:contextcheck // it reads as long as the connection lasts
	select {
	case r := <-c.came:
		return r.message, r.err
	case m := <-c.answers:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// read hands on what the server sends until the connection ends.
func (c *probingConn) read() {
	for {
		m, err := c.Connection.Read(context.Background())
		c.note(m)
		select {
		case c.came <- received{m, err}:
		case <-c.closed: // nobody reads it any more
		}
		if err != nil {
			return
		}
	}
}

// note keeps what an answer says of the server's revision.
func (c *probingConn) note(m jsonrpc.Message) {
	answer, ok := m.(*jsonrpc.Response)
	given, older := c.given.Load(), c.older.Load()
	switch {
	case !ok || given == nil:
	case answer.ID == *given:
		if answer.Error == nil && !c.of.late.Swap(true) {
			close(c.late)
		}
	case older != nil && answer.ID == *older && answer.Error != nil:
		c.refused.Store(true)
	}
}

// overtaken is how long a server's late answer to the first question may come behind its refusal
// of the older revision's: both are on their way then.
const overtaken = time.Second

// Close ends the connection.
func (c *probingConn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		if c.refused.Load() && !c.of.late.Load() {
			timer := time.NewTimer(overtaken)
			defer timer.Stop()
			select {
			case <-c.late:
			case <-timer.C:
			}
		}
	})
	return c.Connection.Close()
}
