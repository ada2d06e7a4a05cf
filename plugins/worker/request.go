package worker

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// request is one capability call of a worker's guest, while it is done and its
// answer is sent.
type request struct {
	call    *call
	process *process
	id      uint32
	size    int // of the message
	cancel  context.CancelFunc
	wake    chan struct{} // told when there is something new below

	mu      sync.Mutex
	allowed int64 // bytes of the body that may be sent
	over    bool
	body    io.Closer // nil once it is being closed
}

// serve does the capability call and sends what came of it.
func (r *request) serve(ctx context.Context, asked abi.Request) {
	defer r.cancel()
	defer r.call.requests.done(r)
	answer, err := r.ask(ctx, asked)
	if r.call.ctx.Err() != nil {
		// What ended the capability ended the call: the guest is told of that
		// alone, lest it answers first.
		giveUp(&answer)
		return
	}
	body := answer.Body
	message, encoded := r.encode(answer, err)
	if err != nil || !encoded {
		giveUp(&answer)
		body = nil
	}
	if body == nil {
		_ = r.process.out.send(message) // fails with the worker, and then the call ends
		return
	}
	if !r.hold(body) {
		giveUp(body)
		return
	}
	defer r.close()
	if answer.Size >= 0 && answer.Size <= small {
		r.sendWhole(message, body, int(answer.Size))
	} else if r.process.out.send(message) == nil {
		r.pump(ctx, body, answer.Size)
	}
}

// ask does the capability call. One that ends the goroutine is answered for here:
// nothing more of serve is run.
func (r *request) ask(ctx context.Context, asked abi.Request) (abi.Answer, error) {
	r.call.watch.serving.Add(1)
	returned := false
	defer func() {
		r.call.watch.serving.Add(-1)
		if !returned && r.call.ctx.Err() == nil {
			message, _ := r.encode(abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability ended its goroutine"))
			_ = r.process.out.send(message) // fails with the worker, and then the call ends
		}
	}()
	answer, err := guarded(ctx, r.call.requests.do, asked)
	returned = true
	return answer, err
}

// sendWhole sends an answer and its small body at once.
func (r *request) sendWhole(message []byte, body io.Reader, size int) {
	seal(message)
	head := len(message)
	message = append(message, make([]byte, headerSize+size)...)
	data := message[head+headerSize:]
	var n int
	var err error
	for n < size && err == nil {
		var more int
		more, err = r.read(body, data[n:])
		n += more
	}
	broke := err != nil && !errors.Is(err, io.EOF)
	piece := message[head : head+headerSize+n]
	flags := uint8(flagEnd)
	if broke {
		flags = 0
	}
	putHeader(piece, kindData, flags, r.call.id, r.id)
	seal(piece)
	if r.process.out.sendSealed(message[:head+len(piece)]) == nil && broke {
		r.finish(message[:headerSize], err)
	}
}

// guarded turns a panic of a capability, which is a defect of the host or its
// embedder, into this one call's failure.
func guarded(ctx context.Context, do func(context.Context, abi.Request) (abi.Answer, error), asked abi.Request) (a abi.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability panicked: %v", p)
		}
	}()
	return do(ctx, asked)
}

// encode makes the message of an answer without its body. Encoding may run code
// of an embedder's, which may panic.
func (r *request) encode(a abi.Answer, err error) (message []byte, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			e := abi.Errorf(abi.CodeInternal, "the capability's answer panicked: %v", p)
			message, ok = r.message(abi.Answer{}, e)
		}
	}()
	return r.message(a, err)
}

func (r *request) message(a abi.Answer, err error) ([]byte, bool) {
	b := newMessage(kindAnswer, r.call.id, r.id, 512)
	b = putAnswerHead(b, a.Body != nil && err == nil, a.BodyType, a.Size)
	a.Body = nil
	head := abi.NewAnswerReader(a, err)
	size := head.Buffered() // all of it, without a body
	b = slices.Grow(b, size)
	n, _ := io.ReadFull(head, b[len(b):len(b)+size])
	b = b[:len(b)+n]
	if failed := head.SkipHead(); failed != nil {
		b[headerSize] = 0 // no body follows an error
		return b, false
	}
	return b, true
}

// hold makes the body known to who gives the request up; false means that this
// has happened.
func (r *request) hold(body io.Closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.body = body
	return true
}

// giveUp ends the request. Closing the body ends a read that waits for it; it is
// not waited for, because it is an embedder's.
func (r *request) giveUp() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.cancel()
	r.poke()
	go r.close()
}

// close closes the body, once.
func (r *request) close() {
	r.mu.Lock()
	body := r.body
	r.body = nil
	r.mu.Unlock()
	if body != nil {
		giveUp(body)
	}
}

func (r *request) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// allow adds to what may be sent. Nobody asks for more than the window, of which
// no more than was sent can be used up.
func (r *request) allow(n int64) error {
	r.mu.Lock()
	r.allowed += n
	over := r.allowed > window
	r.mu.Unlock()
	if over {
		return violate("asked for more of a body than its window of %d bytes", window)
	}
	r.poke()
	return nil
}

// take waits until something may be sent, and takes up to n bytes of that. It
// returns 0 once the request is given up.
func (r *request) take(ctx context.Context, n int64) int64 {
	for {
		r.mu.Lock()
		n := min(n, r.allowed)
		if r.over {
			n = 0
		}
		r.allowed -= n
		over := r.over
		r.mu.Unlock()
		if n > 0 || over {
			return n
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return 0
		}
	}
}

// buffers are those that bodies are sent from.
var buffers = sync.Pool{New: func() any { return new([headerSize + chunk]byte) }}

// pump sends a body, piece by piece, as the worker asks for it.
func (r *request) pump(ctx context.Context, body io.Reader, size int64) {
	buffer, _ := buffers.Get().(*[headerSize + chunk]byte)
	defer buffers.Put(buffer)
	for ended := false; !ended; {
		most := int64(chunk)
		if size > 0 {
			most = min(most, size)
		}
		room := r.take(ctx, most)
		if room == 0 {
			return
		}
		n, err := r.read(body, buffer[headerSize:headerSize+room])
		if err != nil && r.call.ctx.Err() != nil {
			return // as in serve: the body may have ended with the call
		}
		if size > 0 {
			size -= int64(n)
		}
		r.refund(room - int64(n))
		ended = err != nil || size == 0
		if n > 0 {
			message := buffer[:headerSize+n]
			flags := uint8(0)
			if ended && (err == nil || errors.Is(err, io.EOF)) {
				flags = flagEnd
			}
			putHeader(message, kindData, flags, r.call.id, r.id)
			if r.process.out.send(message) != nil || flags == flagEnd {
				return
			}
		}
		if ended {
			r.finish(buffer[:headerSize], err)
		}
	}
}

func (r *request) refund(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowed += n
}

// finish says that a body ends here, or that it broke off.
func (r *request) finish(b []byte, err error) {
	flags := uint8(flagEnd)
	if err != nil && !errors.Is(err, io.EOF) {
		flags = flagFailed
		b = appendError(b[:headerSize:headerSize], err)
	}
	putHeader(b, kindData, flags, r.call.id, r.id)
	_ = r.process.out.send(b)
}

// read reads from a body. A panic in it is not the guest's fault.
func (r *request) read(body io.Reader, p []byte) (n int, err error) {
	r.call.watch.serving.Add(1)
	defer r.call.watch.serving.Add(-1)
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, abi.Errorf(abi.CodeInternal, "the capability's answer panicked: %v", p)
		}
	}()
	return body.Read(p)
}

// giveUp closes what nobody reads any more. Nobody is left to tell of a failure,
// nor of a panic.
func giveUp(c io.Closer) {
	defer func() { _ = recover() }()
	_ = c.Close()
}
