package direct

import (
	"context"
	"io"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// handle is one capability call of a guest, the context that the capability runs
// under and, once it is answered, the bytes of its answer. The guest's side is used
// by the guest's goroutine alone.
type handle struct {
	id   uint32
	call *call
	// request is what is asked, of size bytes, until it has been.
	request abi.Request
	size    int64
	// done is closed once there is an answer; nil before the call is made, and
	// where none is made.
	done chan struct{}

	mu    sync.Mutex
	freed bool
	// own is the context that can be waited for, and cancel ends it. Most
	// capabilities only look at Err, which takes neither.
	own    context.Context //nolint:containedctx // the handle is a context
	cancel context.CancelFunc
	reader *abi.AnswerReader
	held   int64 // of call.held, for the answer
	// inMemory says that reading the body never waits.
	inMemory bool
	failed   error // came with the last bytes; a reader need not repeat it
}

// answered reports whether there is an answer. A call that is pending has none.
func (h *handle) answered() bool {
	if h.done == nil {
		return h.reader != nil
	}
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

// run does the capability call.
func (h *handle) run() {
	answer, err := guarded(h, h.call.do, h.request)
	h.release()
	h.answer(answer, err)
}

// release lets go of the request, once.
func (h *handle) release() {
	h.call.held.Add(-h.size)
	h.request, h.size = abi.Request{}, 0
}

// answer keeps what the capability call came to, unless nobody wants it any
// more.
func (h *handle) answer(answer abi.Answer, err error) {
	weight, inMemory, err := weigh(answer, err)
	if weight > 0 && !h.call.hold(weight) {
		giveUp(answer)
		weight = 0
		answer, err = abi.Answer{}, abi.Errorf(abi.CodeLimit, "the answers that the plugin has not read take %s of the host's memory; read or cancel some first", abi.Size(maxHeld))
	}
	reader := answerReader(answer, err)
	h.mu.Lock()
	freed := h.freed
	if !freed {
		h.reader, h.held, h.inMemory = reader, weight, inMemory
	}
	h.mu.Unlock()
	if freed {
		h.call.held.Add(-weight)
		giveUp(reader)
	}
}

// hold counts an answer in that the host keeps in memory, unless there are too
// many already.
func (c *call) hold(weight int64) bool {
	if held := c.held.Add(weight); held > maxHeld && held > weight {
		c.held.Add(-weight)
		return false
	}
	return true
}

// weigh returns what an answer holds of the host's memory, in bytes. A body is in
// memory if it can say how much of it is left, by a method Len as readers of
// bytes and strings have it. Reading others may have to wait.
func weigh(a abi.Answer, failed error) (held int64, inMemory bool, err error) {
	if failed != nil || a.Body == nil {
		return 0, true, failed
	}
	body, ok := a.Body.(interface{ Len() int })
	if !ok {
		return 0, false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			held, inMemory, err = 0, true, abi.Errorf(abi.CodeInternal, "the capability's answer panicked: %v", p)
		}
	}()
	return int64(body.Len()), true, nil
}

// refuse answers without making the call.
func (h *handle) refuse(format string, n int) {
	h.reader = answerReader(abi.Answer{}, abi.Errorf(abi.CodeLimit, format, n))
	h.inMemory = true
}

// guarded turns a panic of a capability, which is a defect of the host or its
// embedder, into this one call's failure.
func guarded(ctx context.Context, do func(context.Context, abi.Request) (abi.Answer, error), request abi.Request) (a abi.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			a, err = abi.Answer{}, abi.Errorf(abi.CodeInternal, "the capability panicked: %v", r)
		}
	}()
	return do(ctx, request)
}

// answerReader makes the message of an answer. Encoding it may run code of an
// embedder's, which may panic.
func answerReader(answer abi.Answer, err error) (r *abi.AnswerReader) {
	defer func() {
		if p := recover(); p != nil {
			giveUp(answer)
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

// read takes bytes of the answer. It returns io.EOF at the end. Where the body
// may have to be waited for, the guest's clock stands still.
func (h *handle) read(ctx context.Context, p []byte) (int, error) {
	if h.reader == nil {
		return 0, io.EOF
	}
	if h.inMemory || h.reader.Buffered() > 0 {
		return h.next(p)
	}
	h.call.Pause()
	defer h.call.Resume()
	defer context.AfterFunc(ctx, h.free)()
	return h.next(p)
}

func (h *handle) next(p []byte) (int, error) {
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
	reader, held, cancel := h.reader, h.held, h.cancel
	h.mu.Unlock()
	if !first {
		return
	}
	if cancel != nil {
		cancel()
	}
	h.call.held.Add(-held)
	if reader != nil {
		giveUp(reader)
	}
}
