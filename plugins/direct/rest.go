package direct

import (
	"context"
	"errors"
	"io"

	"github.com/toolquay/toolquay/abi"
)

// rest is what the guest left of an answer's body, which its result names.
type rest struct {
	*handle
	ctx context.Context //nolint:containedctx // io.Reader has no other way to it
	// heed stops heeding the end of ctx.
	heed func() bool
}

// open opens the body of an answer that a result names. It waits for the answer
// where it has to.
func (c *call) open(ctx context.Context, id uint32) (io.ReadCloser, error) {
	h := c.find(id)
	if h == nil {
		return nil, abi.Errorf(abi.CodeProtocol, "the result names the capability call %d, which was never made or is freed", id)
	}
	r := &rest{handle: h, ctx: ctx}
	if err := r.begin(); err != nil {
		c.drop(id)
		return nil, err
	}
	return r, nil
}

func (r *rest) begin() error {
	if err := r.settle(r.ctx); err != nil {
		return err
	}
	if r.reader == nil {
		return abi.Errorf(abi.CodeProtocol, "the result names the answer of a call that was given up")
	}
	if err := r.reader.SkipHead(); err != nil {
		return err
	}
	if !r.inMemory {
		r.heed = context.AfterFunc(r.ctx, r.free)
	}
	return nil
}

// Left tells how many bytes will come, or is negative.
func (r *rest) Left() int64 { return r.reader.Left() }

// Read reads the next bytes, until the call's context ends.
func (r *rest) Read(p []byte) (int, error) {
	n, err := r.next(p)
	switch {
	case r.ctx.Err() != nil:
		return 0, context.Cause(r.ctx)
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	}
	return n, abi.Errorf(abi.CodeOf(err), "reading a capability's answer: %w", err)
}

// Close gives back what is left.
func (r *rest) Close() error {
	if r.heed != nil {
		r.heed()
	}
	r.call.drop(r.id)
	return nil
}
