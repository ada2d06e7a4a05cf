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
}

// drainTime is how long requests have after the end of the input.
const drainTime = 30 * time.Second

// Connect begins to read. It implements [mcp.Transport].
func (p *Pipe) Connect(context.Context) (mcp.Connection, error) {
	most := p.MaxMessage
	setDefault(&most, DefaultMaxMessage)
	c := &pipeConn{
		out: p.Out, most: most, lines: make(chan line), closed: make(chan struct{}),
		underWay: make(map[jsonrpc.ID]bool), drained: make(chan struct{}, 1),
	}
	go c.scan(bufio.NewReaderSize(p.In, 64<<10))
	return c, nil
}

// pipeConn is a connection by a pipe.
type pipeConn struct {
	out    io.Writer
	most   int64
	lines  chan line
	closed chan struct{}
	once   sync.Once

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

var errTooLong = errors.New("the message is too long")

// scan reads lines until the input or the connection ends.
func (c *pipeConn) scan(in *bufio.Reader) {
	for {
		text, err := readLine(in, c.most)
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
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
			return nil, errTooLong
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
			if l.err != nil && !errors.Is(l.err, errTooLong) {
				c.drain(ctx)
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
		return nil, c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Errorf("%w: at most %d bytes", l.err, c.most))
	}
	text := bytes.TrimSpace(l.text)
	if len(text) == 0 {
		return nil, nil
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, c.refuse(idOf(text), jsonrpc.CodeParseError, fmt.Errorf("not a JSON-RPC message: %w", err))
	}
	if !c.came(m) {
		return nil, c.refuse(idOf(text), jsonrpc.CodeInvalidRequest, errors.New("a request with this id is under way: give each an id of its own"))
	}
	return m, nil
}

// came notes a message that came, and reports whether it may be read: a request with the id of
// another one may not.
func (c *pipeConn) came(m jsonrpc.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if !m.IsCall() {
			return true
		}
		if c.underWay[m.ID] {
			return false
		}
		c.underWay[m.ID] = true
	case *jsonrpc.Response:
		c.asked--
	}
	return true
}

// Write sends a message.
func (c *pipeConn) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
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
	_, err = c.out.Write(append(text, '\n'))
	return err
}

// refuse answers what is no message.
func (c *pipeConn) refuse(id json.RawMessage, code int64, why error) error {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why.Error()},
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(text, '\n'))
	return err
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

// drain waits, after the end of the input, for the answers to what is under way. A request
// that itself waits for the client has none.
func (c *pipeConn) drain(ctx context.Context) {
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	for {
		c.mu.Lock()
		over := len(c.underWay) == 0 || c.asked > 0
		c.mu.Unlock()
		if over {
			return
		}
		select {
		case <-c.drained:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		case <-c.closed:
			return
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
