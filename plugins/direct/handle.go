package direct

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// handle is one capability call of a guest and, once it is answered, the bytes
// of its answer. The guest's side is used by the guest's goroutine alone.
type handle struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	freed  bool
	reader *abi.AnswerReader
	failed error // came with the last bytes; a reader need not repeat it
}

// run does the capability call and keeps its answer, unless nobody wants it any
// more.
func (h *handle) run(ctx context.Context, do func(context.Context) (abi.Answer, error)) {
	reader := answerReader(guarded(ctx, do))
	h.mu.Lock()
	freed := h.freed
	if !freed {
		h.reader = reader
	}
	h.mu.Unlock()
	if freed {
		giveUp(reader)
	}
	close(h.done)
}

// guarded turns a panic of a capability, which is a defect of the host or its
// embedder, into this one call's failure.
func guarded(ctx context.Context, do func(context.Context) (abi.Answer, error)) (a abi.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			a, err = abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability panicked: %v", r)
		}
	}()
	return do(ctx)
}

// answerReader makes the message of an answer. Encoding it may run code of an
// embedder's, which may panic.
func answerReader(answer abi.Answer, err error) (r *abi.AnswerReader) {
	defer func() {
		if p := recover(); p != nil {
			giveUp(&answer)
			r = abi.NewAnswerReader(abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability's answer panicked: %v", p))
		}
	}()
	return abi.NewAnswerReader(answer, err)
}

// guardedRead turns a panic of a body, which is not the guest's fault, into an
// error.
func guardedRead(read func() (int, error)) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, abi.Errorf(abi.CodeInternal, "the capability's answer panicked: %v", p)
		}
	}()
	return read()
}

// giveUp closes what nobody reads any more. Nobody is left to tell of a failure,
// nor of a panic, which may come on a goroutine of the host's own.
func giveUp(c io.Closer) {
	defer func() { _ = recover() }()
	_ = c.Close()
}

// ready reports how many bytes can be read without waiting, once answered.
func (h *handle) ready() int64 {
	if h.reader == nil {
		return 0
	}
	return max(h.reader.Left(), int64(h.reader.Buffered()))
}

// read takes bytes of the answer. It returns io.EOF at the end.
func (h *handle) read(p []byte) (int, error) {
	if h.reader == nil {
		return 0, io.EOF
	}
	for h.failed == nil {
		n, err := guardedRead(func() (int, error) { return h.reader.Read(p) })
		h.failed = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, h.failed
}

// free gives the call up or its answer back. It may be called from any
// goroutine, and more than once.
func (h *handle) free() {
	h.mu.Lock()
	first := !h.freed
	h.freed = true
	reader := h.reader
	h.mu.Unlock()
	if !first {
		return
	}
	h.cancel()
	if reader != nil {
		giveUp(reader)
	}
}

// rest reads what the guest left of the answer's body, up to limit bytes. It
// waits for the answer where it has to.
func (h *handle) rest(ctx context.Context, limit int64) ([]byte, error) {
	select {
	case <-h.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if h.reader == nil {
		return nil, abi.Errorf(abi.CodeProtocol, "the result names the answer of a call that was given up")
	}
	defer context.AfterFunc(ctx, h.free)()
	if err := h.reader.SkipHead(); err != nil {
		return nil, err
	}
	if h.failed != nil && !errors.Is(h.failed, io.EOF) {
		return nil, abi.Errorf(abi.CodeOf(h.failed), "reading a capability's answer: %w", h.failed)
	}
	var body bytes.Buffer
	if left := h.reader.Left(); left > 0 {
		body.Grow(int(min(left, limit+1)) + bytes.MinRead)
	}
	_, err := guardedRead(func() (int, error) {
		n, err := body.ReadFrom(io.LimitReader(h.reader, limit+1))
		return int(n), err
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeOf(err), "reading a capability's answer: %w", err)
	}
	if int64(body.Len()) > limit {
		return nil, abi.Errorf(abi.CodeLimit, "the body of a capability's answer does not fit into the %s that the result has left (limit output)", abi.Size(limit))
	}
	return body.Bytes(), nil
}
