package toolquay

import (
	"bytes"
	"io"

	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Submit starts any capability operation of the host, for those that this
// package has no methods for. The arguments are a JSON object, or nil; parts
// are the request's bulk.
func (c *Call) Submit(capability string, args []byte, parts ...wire.Part) *Pending[wire.Raw] {
	return &Pending[wire.Raw]{
		operation: c.submit(capability, args, parts...),
		decode: func(raw wire.Raw, ok *wire.Raw) error {
			*ok = raw
			return nil
		},
	}
}

func (c *Call) submit(capability string, args []byte, parts ...wire.Part) operation {
	head := wire.RequestHead{Capability: capability, Args: args}
	message, err := wire.Append(nil, head.AppendJSON, parts...)
	if err != nil {
		return operation{call: c, err: err}
	}
	return operation{call: c, id: c.host.Submit(message)}
}

// start submits an operation whose arguments and answer are wire types.
func start[T any, P interface {
	*T
	DecodeJSON(d *wire.Decoder)
}](c *Call, capability string, args interface{ AppendJSON(dst []byte) []byte }, parts ...wire.Part) *Pending[T] {
	return &Pending[T]{
		operation: c.submit(capability, args.AppendJSON(nil), parts...),
		decode:    func(raw wire.Raw, ok *T) error { return wire.Unmarshal(raw, P(ok)) },
	}
}

// operation is a capability call that was submitted, or why it could not be.
type operation struct {
	call *Call
	id   uint32
	err  error
}

func (o *operation) submitted() (uint32, error) { return o.id, o.err }

// Pending is a capability call under way. Wait for it or cancel it; what is
// left under way ends with the tool's call.
type Pending[T any] struct {
	operation
	decode func(raw wire.Raw, ok *T) error
}

// Wait waits for the answer. The host's refusals and failures are errors that
// carry a [Code].
func (p *Pending[T]) Wait() (*Answer[T], error) {
	raw, body, err := p.answer()
	if err != nil {
		return nil, err
	}
	a := &Answer[T]{Body: body}
	if err := p.decode(raw, &a.OK); err != nil {
		body.drop()
		return nil, err
	}
	return a, nil
}

// Cancel gives the call up. Cancelling one that was answered frees the answer.
func (p *Pending[T]) Cancel() {
	if p.err == nil {
		p.call.host.Cancel(p.id)
	}
}

// Waiter is a [Pending] of any type.
type Waiter interface{ submitted() (uint32, error) }

// WaitAny waits until one of the pending calls is answered and returns its
// index; its Wait then returns without waiting. At most 1,024 can be named;
// naming none is a mistake and panics.
func (c *Call) WaitAny(pending ...Waiter) int {
	ids := make([]uint32, len(pending))
	for i, p := range pending {
		id, err := p.submitted()
		if err != nil {
			return i
		}
		ids[i] = id
	}
	if len(ids) == 0 || len(ids) > wire.MaxWait {
		panic("toolquay: WaitAny needs 1 to 1024 pending calls")
	}
	index, _ := c.host.Wait(ids)
	return index
}

// answer reads the answer's head and, where it has a body, the header of that:
// never a byte more, so that the body can be passed on whole.
func (o *operation) answer() (wire.Raw, *Body, error) {
	if o.err != nil {
		return nil, nil, o.err
	}
	body := &Body{call: o.call, id: o.id}
	var header [wire.HeaderSize]byte
	if err := body.fill(header[:]); err != nil {
		return nil, nil, body.abandon(err)
	}
	size, err := wire.HeadSize(header[:])
	if err != nil {
		return nil, nil, body.abandon(err)
	}
	head := make([]byte, size)
	if err := body.fill(head); err != nil {
		return nil, nil, body.abandon(err)
	}
	ok, failure, err := wire.DecodeAnswerHead(head)
	if failure != nil {
		err = failure
	}
	if err == nil {
		err = body.open()
	}
	if err != nil {
		return nil, nil, body.abandon(err)
	}
	return ok, body, nil
}

// Answer is what a capability call came to: its head, and a body that is read
// as a stream. It ends with the call; Close frees it sooner.
type Answer[T any] struct {
	OK T
	*Body
}

// Body is the bulk of an answer, still with the host. It is an io.ReadCloser.
type Body struct {
	call *Call
	id   uint32
	// left is how many bytes follow, -1 where the answer's end will tell.
	left int64
	done bool
	// given says that the rest is part of the result, or that pieces of it are and
	// more may become so.
	given, pieces bool
}

var _ io.ReadCloser = (*Body)(nil)

// Read reads the next bytes. It waits where the host has none yet.
func (b *Body) Read(p []byte) (int, error) {
	switch {
	case b.given:
		return 0, &Error{Code: CodeProtocol, Message: "the answer was passed into the result; its rest cannot be read"}
	case b.done || b.left == 0:
		b.drop()
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n := b.call.host.Read(b.id, p)
	switch {
	case n < 0 || n == 0 && b.left > 0:
		b.done = true
		return 0, &Error{Code: CodeIO, Message: "the answer broke off before its end"}
	case n == 0:
		b.done = true
		return 0, io.EOF
	}
	if b.left > 0 {
		b.left -= int64(n)
	}
	return n, nil
}

// Size returns how many bytes are left, or -1 where that is not known yet.
func (b *Body) Size() int64 { return b.left }

// Bytes reads what is left.
func (b *Body) Bytes() ([]byte, error) {
	if b.left >= 0 && !b.given && !b.done {
		all := make([]byte, b.left)
		_, err := io.ReadFull(b, all)
		b.drop()
		return all, err
	}
	var all bytes.Buffer
	_, err := all.ReadFrom(b)
	return all.Bytes(), err
}

// Text reads what is left as text.
func (b *Body) Text() (string, error) {
	all, err := b.Bytes()
	return string(all), err
}

// Piece is the next bytes of the answer, so many of them or fewer where there are no
// more, to be put into the result by themselves: so one answer becomes several blocks.
// Pieces take theirs in the order in which they stand in the result. What is left after
// them can still be put there, and no longer be read.
func (b *Body) Piece(size int64) Piece { return bodyPiece{b, size} }

// Close frees the answer. Closing one that was passed into the result does
// nothing, so it may be deferred in any case.
func (b *Body) Close() error {
	if !b.given {
		b.drop()
	}
	return nil
}

func (b *Body) drop() {
	if !b.done {
		b.done = true
		b.call.host.Cancel(b.id)
	}
}

func (b *Body) abandon(err error) error {
	b.drop()
	return err
}

// open reads the body's header, if there is a body.
func (b *Body) open() error {
	var header [wire.PartHeaderSize]byte
	first := b.call.host.Read(b.id, header[:])
	if first == 0 {
		b.done = true
		return nil
	}
	if first < 0 {
		return &Error{Code: CodeIO, Message: "the answer broke off before its end"}
	}
	if err := b.fill(header[first:]); err != nil {
		return err
	}
	_, left, err := wire.PartHeader(header[:])
	b.left = left
	return err
}

// fill reads exactly len(p) bytes.
func (b *Body) fill(p []byte) error {
	for len(p) > 0 {
		n := b.call.host.Read(b.id, p)
		if n <= 0 {
			b.done = true
			return &Error{Code: CodeIO, Message: "the answer broke off before its end"}
		}
		p = p[n:]
	}
	return nil
}
