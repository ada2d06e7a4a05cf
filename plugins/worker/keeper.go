package worker

import (
	"context"
	"encoding/binary"

	"github.com/toolquay/toolquay/abi"
)

// keeper is what the host holds of an instance that a worker keeps for a session.
// Calls take turns.
type keeper struct {
	module *module
	id     uint64
	turn   chan struct{} // holds one token while no call is under way
	in     *process      // where the state is, nil where there is none
}

// moved notes where the state is after a call.
func (k *keeper) moved(to *process) {
	if to != nil && to.gone() {
		to = nil
	}
	if k.in == to {
		return
	}
	if k.in != nil {
		k.in.count(-1)
	}
	if to != nil {
		to.count(+1)
	}
	k.in = to
}

// Close ends the instance once the call in it has ended.
func (k *keeper) Close(ctx context.Context) error {
	select {
	case <-k.turn:
	case <-ctx.Done():
		return k.late(ctx)
	}
	p := k.in
	if p == nil {
		return nil
	}
	k.moved(nil)
	ended := p.endSession(k.id)
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return k.late(ctx)
	}
}

func (k *keeper) late(ctx context.Context) error {
	return abi.Errorf(abi.CodeTimeout, "plugin %s: a kept instance is still in a call: %w", k.module.name, context.Cause(ctx))
}

// endSession tells the worker to end what it keeps. The channel is closed when
// that is done, or the worker gone.
func (p *process) endSession(id uint64) <-chan struct{} {
	ended := make(chan struct{})
	number := p.ending(ended)
	if number == 0 {
		return ended
	}
	message := binary.LittleEndian.AppendUint64(newMessage(kindEndSession, number, 0, 8), id)
	go func() {
		// Whoever closes a session waits no longer than their context, and a worker
		// may have ceased to read. It fails with the worker.
		_ = p.out.send(message)
		_, _ = await(&p.feed, ended)
	}()
	return ended
}
