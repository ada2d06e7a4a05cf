package runnertest

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// The bodies of answers that tests have.

type panickyOK struct{}

// MarshalJSON panics.
func (panickyOK) MarshalJSON() ([]byte, error) { panic("a defect in MarshalJSON") }

type panickyRead struct{ io.Closer }

// Read panics.
func (panickyRead) Read([]byte) (int, error) { panic("a defect in Read") }

type panickyClose struct{ io.Reader }

// Close panics.
func (panickyClose) Close() error { panic("a defect in Close") }

// onceBody fails once, together with its last bytes, and then pretends to have
// ended well, as a reader may.
type onceBody struct {
	fails error
	reads int
}

// Read fails the first time, and gives bytes with it.
func (b *onceBody) Read(p []byte) (int, error) {
	if b.reads++; b.reads == 1 {
		return copy(p, "half"), b.fails
	}
	return 0, io.EOF
}

// Close does nothing.
func (b *onceBody) Close() error { return nil }

// countedBody gives a number of bytes, and counts what it is asked.
type countedBody struct {
	left         int64
	read, closed *atomic.Int64
}

// Read gives zeros.
func (b *countedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), b.left)
	clear(p[:n])
	b.left -= n
	b.read.Add(n)
	return int(n), nil
}

// Close is counted.
func (b *countedBody) Close() error {
	b.closed.Add(1)
	return nil
}

// blockedBody is a body whose bytes never come; closing it ends a read.
type blockedBody struct {
	reading, closed chan struct{}
	read, close     sync.Once
}

func newBlockedBody() *blockedBody {
	return &blockedBody{reading: make(chan struct{}), closed: make(chan struct{})}
}

// Read waits for Close.
func (b *blockedBody) Read([]byte) (int, error) {
	b.read.Do(func() { close(b.reading) })
	<-b.closed
	return 0, io.ErrClosedPipe
}

// Close ends every Read.
func (b *blockedBody) Close() error {
	b.close.Do(func() { close(b.closed) })
	return nil
}

// endingBody is a body that ends, as if it had ended well, when its context does.
type endingBody struct {
	ctx     context.Context //nolint:containedctx // it is what ends the body
	reading chan struct{}
	read    sync.Once
}

// Read waits for the context's end.
func (b *endingBody) Read([]byte) (int, error) {
	b.read.Do(func() { close(b.reading) })
	<-b.ctx.Done()
	return 0, io.EOF
}

// Close does nothing.
func (b *endingBody) Close() error { return nil }

// heldBody counts itself out when it is closed.
type heldBody struct {
	io.Reader
	held *atomic.Int64
	once sync.Once
}

// Close counts the body out.
func (b *heldBody) Close() error {
	b.once.Do(func() { b.held.Add(-1) })
	return nil
}
