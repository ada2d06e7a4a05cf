package worker

import (
	"context"
	"encoding/binary"
	"io"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// served is one call in the worker.
type served struct {
	server *server
	id     uint32
	cancel context.CancelFunc

	// mu orders what is sent for the call: nothing goes out after its end.
	mu          sync.Mutex
	ended       bool
	lastRequest uint32
	answers     map[uint32]*answer
	spills      []*remote
}

// answer is what the host answers to a capability request.
type answer struct {
	come chan struct{} // closed when the next are set
	head abi.Answer
	err  error
	body *stream // nil where there is none
}

// send sends a message of the call, unless the call is over.
func (c *served) send(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		_ = c.server.out.send(b) // without a host this process ends
	}
}

// finish ends the call with the message that answers it.
func (c *served) finish(message []byte) {
	c.server.mu.Lock()
	delete(c.server.calls, c.id)
	c.server.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	_ = c.server.out.send(message) // without a host this process ends
}

// report passes a report on.
func (c *served) report(head abi.ProgressHead) {
	message, err := abi.EncodeProgress(newMessage(kindProgress, c.id, 0, 256), head)
	if err == nil {
		c.send(message)
	}
}

// capability asks the host to do a capability call.
func (c *served) capability(ctx context.Context, r abi.Request) (abi.Answer, error) {
	message, err := abi.EncodeRequest(newMessage(kindRequest, c.id, 0, 256), r)
	if err == nil && len(message)-headerSize > requestLimit {
		err = abi.Errorf(abi.CodeLimit, "a capability request of %d bytes is over the limit of %d", len(message), requestLimit)
	}
	if err != nil {
		return abi.Answer{}, err
	}
	a := &answer{come: make(chan struct{})}
	id, err := c.ask(ctx, a, message)
	if err != nil {
		return abi.Answer{}, err
	}
	select {
	case <-a.come:
		return a.head, a.err
	case <-ctx.Done():
	}
	c.drop(id)
	select {
	case <-a.come: // it came all the same, and its body with it
		giveUp(&a.head)
	default:
	}
	return abi.Answer{}, context.Cause(ctx)
}

// ask numbers and sends a request.
func (c *served) ask(ctx context.Context, a *answer, message []byte) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if c.ended {
		return 0, context.Canceled
	}
	c.lastRequest++
	if c.answers == nil {
		c.answers = make(map[uint32]*answer, 4)
	}
	c.answers[c.lastRequest] = a
	putHeader(message, kindRequest, 0, c.id, c.lastRequest)
	return c.lastRequest, c.server.out.send(message)
}

// forget stops waiting for what the host sends to a request, and reports whether
// anything was waited for.
func (c *served) forget(id uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.answers[id]
	delete(c.answers, id)
	return ok
}

// drop tells the host that an answer, or what is left of it, is not wanted.
func (c *served) drop(id uint32) {
	if c.forget(id) {
		c.send(newMessage(kindDrop, c.id, id, 0))
	}
}

func (c *served) find(id uint32) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[id]
}

// answer takes the answer to a request.
func (c *served) answer(id uint32, payload []byte) error {
	a := c.find(id)
	if a == nil {
		return nil
	}
	if len(payload) < answerHead {
		return violate("sent an answer of %d bytes", len(payload))
	}
	head, _, err := abi.DecodeAnswer(payload[answerHead:])
	switch {
	case err != nil:
		a.err = err
	case head.Error != nil:
		a.err = head.Error
	default:
		a.head.OK = head.OK
	}
	if payload[0] != 0 && a.err == nil {
		a.body = newStream(c, id)
		a.head.Body, a.head.BodyType = a.body, abi.PartType(payload[1])
		a.head.Size = int64(binary.LittleEndian.Uint64(payload[8:]))
	} else {
		c.forget(id)
	}
	close(a.come)
	return nil
}

// data takes a piece of an answer's body.
func (c *served) data(h header, payload []byte) {
	a := c.find(h.request)
	if a == nil || a.body == nil {
		return
	}
	switch {
	case h.flags&flagFailed != 0:
		var end error = decodeError(payload)
		a.body.end(end)
	case h.flags&flagEnd != 0:
		a.body.add(payload)
		a.body.end(io.EOF)
	default:
		a.body.add(payload)
		return
	}
	c.forget(h.request)
}

// stream is the body of an answer as it comes in. Read and Close may be used
// from two goroutines.
type stream struct {
	call *served
	id   uint32

	mu     sync.Mutex
	change sync.Cond
	pieces [][]byte
	read   int   // bytes since the host was last told
	ended  error // after the pieces
	closed bool
}

func newStream(c *served, id uint32) *stream {
	s := &stream{call: c, id: id}
	s.change.L = &s.mu
	return s
}

func (s *stream) add(piece []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(piece) > 0 && !s.closed {
		s.pieces = append(s.pieces, piece)
		s.change.Broadcast()
	}
}

func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = err
	s.change.Broadcast()
}

// Read waits for the next bytes, or for Close.
func (s *stream) Read(p []byte) (int, error) {
	n, credit, err := s.take(p)
	if credit > 0 {
		b := newMessage(kindCredit, s.call.id, s.id, 4)
		s.call.send(binary.LittleEndian.AppendUint32(b, uint32(credit)))
	}
	return n, err
}

func (s *stream) take(p []byte) (n, credit int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pieces) == 0 && s.ended == nil && !s.closed {
		s.change.Wait()
	}
	switch {
	case s.closed:
		return 0, 0, io.ErrClosedPipe
	case len(s.pieces) == 0:
		return 0, 0, s.ended
	}
	n = copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	if s.read += n; s.read >= window/2 && s.ended == nil {
		credit, s.read = s.read, 0
	}
	return n, credit, nil
}

// Close ends a Read that waits, and tells the host where it has not sent all.
func (s *stream) Close() error {
	s.mu.Lock()
	s.closed, s.pieces = true, nil
	s.change.Broadcast()
	s.mu.Unlock()
	s.call.drop(s.id)
	return nil
}
