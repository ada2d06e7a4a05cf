package worker

import (
	"context"

	"github.com/toolquay/toolquay/abi"
)

// remote is a spill in the worker: the text goes to the host, piece by piece.
type remote struct {
	call *served
	ctx  context.Context //nolint:containedctx // a writer has no other way to it
	id   uint32
	// room holds a token for each piece that may be sent.
	room chan struct{}
	// ended is told once what became of the text: nil where the host has all of it.
	ended chan error
}

// spill begins a text that the host holds.
func (c *served) spill(ctx context.Context) (abi.Spill, error) {
	r := &remote{call: c, ctx: ctx, room: make(chan struct{}, maxPieces), ended: make(chan error, 1)}
	for range maxPieces {
		r.room <- struct{}{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spills = append(c.spills, r)
	r.id = uint32(len(c.spills))
	return r, nil
}

// Write sends bytes on, as the host takes them.
func (r *remote) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		select {
		case <-r.room:
		case err := <-r.ended:
			return sent, err
		case <-r.ctx.Done():
			return sent, context.Cause(r.ctx)
		}
		n := min(len(p)-sent, chunk)
		r.send(p[sent:sent+n], 0)
		sent += n
	}
	return sent, nil
}

func (r *remote) send(piece []byte, flags uint8) {
	buffer, _ := buffers.Get().(*[headerSize + chunk]byte)
	defer buffers.Put(buffer)
	b := buffer[:headerSize+len(piece)]
	putHeader(b, kindSpill, flags, r.call.id, r.id)
	copy(b[headerSize:], piece)
	r.call.send(b)
}

// Done waits until the host has the whole text. It tells no more than that there
// is one.
func (r *remote) Done() (*abi.Spilled, error) {
	r.send(nil, flagEnd)
	select {
	case err := <-r.ended:
		if err != nil {
			return nil, err
		}
		return &abi.Spilled{}, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// Discard does nothing: with the call's failure the host discards its texts.
func (*remote) Discard() {}

// spilled takes the host's word on a text.
func (c *served) spilled(h header, payload []byte) {
	c.mu.Lock()
	r := c.spills[h.request-1]
	c.mu.Unlock()
	switch {
	case h.flags&flagFailed != 0:
		r.ended <- decodeError(payload)
	case h.flags&flagEnd != 0:
		r.ended <- nil
	default:
		r.room <- struct{}{}
	}
}
