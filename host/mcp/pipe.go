package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pipe is a transport of one message a line, such as standard input and output. It stands for
// the SDK's: a line that is no message, or longer than MaxMessage, is answered by an error and
// the next one is read; and where the input ends, requests that are under way have half
// a minute to be answered, so that a file of requests can be the input.
type Pipe struct {
	In  io.Reader
	Out io.Writer
	// MaxMessage is the longest line, in bytes; 0 is [DefaultMaxMessage].
	MaxMessage int64
	// Strange, if not nil, is told of lines that are no messages, instead of the other end: for
	// a client, whose server may print other things too. Of one that is too long (ErrTooLong)
	// the line is nil. An error ends the connection.
	Strange func(line []byte, why error) error
}

// maxUnderWay is how many requests of a client may wait for their answers: of one that reads
// none, no more than that are kept.
const maxUnderWay = 1000

// lingerTime is how long what is being written has after the end of the context.
const lingerTime = time.Second

// drainTime is how long requests have after the end of the input.
const drainTime = 30 * time.Second

// Connect begins to read. It implements [mcp.Transport]. When ctx ends, nothing more is sent: the
// client asked for the end, and some fail that get an answer after they closed their side, such
// as those with version 1 of the SDK for Python.
func (p *Pipe) Connect(ctx context.Context) (mcp.Connection, error) {
	most := p.MaxMessage
	setDefault(&most, DefaultMaxMessage)
	c := &pipeConn{
		out: p.Out, strange: p.Strange, over: ctx.Done(), most: most, lines: make(chan line), writes: make(chan writing), closed: make(chan struct{}),
		underWay: make(map[jsonrpc.ID]bool), drained: make(chan struct{}, 1),
	}
	go c.scan(bufio.NewReaderSize(p.In, 64<<10))
	go c.write()
	// A client that does not read holds no server up that is to end.
	context.AfterFunc(ctx, func() { time.AfterFunc(lingerTime, func() { _ = c.Close() }) })
	return c, nil
}

// pipeConn is a connection by a pipe.
type pipeConn struct {
	out     io.Writer
	strange func([]byte, error) error
	over    <-chan struct{}
	most    int64
	lines   chan line
	writes  chan writing
	closed  chan struct{}
	once    sync.Once

	mu sync.Mutex
	// underWay are the client's requests without an answer, and asked the server's.
	underWay map[jsonrpc.ID]bool
	asked    int
	drained  chan struct{} // holds a token when either may have changed
}

type line struct {
	text []byte
	err  error
}

// writing is a line of the output, and takes what comes of it.
type writing struct {
	text []byte
	done chan error
}

// write writes lines until the connection ends. A client that reads none leaves it where it
// waits.
func (c *pipeConn) write() {
	for {
		select {
		case w := <-c.writes:
			_, err := c.out.Write(append(w.text, '\n'))
			w.done <- err
		case <-c.closed:
			return
		}
	}
}

// put has a line written, and waits for that until the connection ends.
func (c *pipeConn) put(text []byte) error {
	w := writing{text, make(chan error, 1)}
	select {
	case c.writes <- w:
	case <-c.closed:
		return io.ErrClosedPipe
	}
	select {
	case err := <-w.done:
		return err
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

// ErrTooLong is that a message is longer than [Pipe].MaxMessage.
var ErrTooLong = errors.New("the message is too long")

// scan reads lines until the input or the connection ends.
func (c *pipeConn) scan(in *bufio.Reader) {
	for {
		text, err := readLine(in, c.most)
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, ErrTooLong) {
			return
		}
	}
}

// readLine reads one line. Of one that is too long the rest is passed over.
func readLine(in *bufio.Reader, most int64) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || int64(len(text)+len(part)) > most; !long {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, ErrTooLong
		case err != nil && len(text) > 0: // the next one reports it again
			return text, nil
		}
		return text, err
	}
}

// Read returns the next message. What is none is answered and passed over.
func (c *pipeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case l := <-c.lines:
			if l.err != nil && !errors.Is(l.err, ErrTooLong) {
				if !c.drain(ctx) {
					_ = c.Close()
				}
				return nil, l.err
			}
			m, err := c.message(l)
			if m != nil || err != nil {
				return m, err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.closed:
			return nil, io.EOF
		}
	}
}

// message is the message of a line, or nil if there is none. The error is one of the output.
func (c *pipeConn) message(l line) (jsonrpc.Message, error) {
	if l.err != nil {
		return nil, c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Errorf("%w: at most %d bytes", l.err, c.most), nil)
	}
	text := bytes.TrimSpace(l.text)
	if len(text) == 0 {
		return nil, nil
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, c.refuse(idOf(text), jsonrpc.CodeParseError, fmt.Errorf("not a JSON-RPC message: %w", err), text)
	}
	if err := c.came(m); err != nil {
		return nil, c.refuse(idOf(text), jsonrpc.CodeInvalidRequest, err, text)
	}
	return m, nil
}

var (
	errSameID   = errors.New("a request with this id is under way: give each an id of its own")
	errUnderWay = fmt.Errorf("%d requests are under way, which is the most at once: read the answers", maxUnderWay)
)

// came notes a message that came. The error is that of a request that may not be read: it has
// the id of another one, or there are too many.
func (c *pipeConn) came(m jsonrpc.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		switch {
		case !m.IsCall():
			return nil
		case c.underWay[m.ID]:
			return errSameID
		case len(c.underWay) >= maxUnderWay:
			return errUnderWay
		}
		c.underWay[m.ID] = true
	case *jsonrpc.Response:
		c.asked--
	}
	return nil
}

// Write sends a message.
func (c *pipeConn) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	c.goes(m)
	select {
	case <-c.over:
		return nil
	default:
		return c.put(text)
	}
}

// goes notes a message that is to be sent: once a client has an answer, it may use the id again.
func (c *pipeConn) goes(m jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			c.asked++
		}
	case *jsonrpc.Response:
		delete(c.underWay, m.ID)
	}
	select {
	case c.drained <- struct{}{}:
	default:
	}
}

// refuse answers what is no message, or tells of it.
func (c *pipeConn) refuse(id json.RawMessage, code int64, why error, line []byte) error {
	if c.strange != nil {
		return c.strange(line, why)
	}
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why.Error()},
	})
	if err != nil {
		return err
	}
	return c.put(text)
}

// idOf is the id of what may be a broken message, or nil.
func idOf(text []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m.ID
}

// drain waits, after the end of the input, for the answers to what is under way, and reports
// whether they were given in time. A request that itself waits for the client has none.
func (c *pipeConn) drain(ctx context.Context) bool {
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	for {
		c.mu.Lock()
		over := len(c.underWay) == 0 || c.asked > 0
		c.mu.Unlock()
		if over {
			return true
		}
		select {
		case <-c.drained:
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		case <-c.closed:
			return false
		}
	}
}

// Close ends the connection. What reads the input is left where it waits.
func (c *pipeConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: a pipe is one session.
func (c *pipeConn) SessionID() string { return "" }
