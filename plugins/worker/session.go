package worker

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// keeper is what the host holds of an instance that a worker keeps for a session.
// Calls take turns.
type keeper struct {
	module *module
	id     uint64
	turn   chan struct{} // holds one token while no call is under way
	in     *process      // where the state is, nil where there is none
}

// exchangeKept has a worker serve a call in the instance of a session.
func (m *module) exchangeKept(ctx context.Context, c *call, s *plugins.Session) reply {
	if c.chain.parent.has(m) {
		return reply{err: abi.Errorf(abi.CodeReentry, "plugin %s keeps one instance (instance = \"kept\") and cannot be called by itself", m.name)}
	}
	k, err := m.keeper(s)
	if err != nil {
		return reply{err: err}
	}
	select {
	case <-k.turn:
	case <-ctx.Done():
		return reply{err: m.explain(ctx)}
	}
	defer func() { k.turn <- struct{}{} }()
	c.keeper = k
	was := k.in
	r := m.exchange(ctx, c)
	if (was != nil && was.gone()) || (c.process != nil && c.process.gone()) {
		c.lost()
	}
	if c.process != nil {
		was = c.process
	}
	k.moved(was)
	return r
}

func (m *module) keeper(s *plugins.Session) (*keeper, error) {
	kept, err := s.Keep(m, func() plugins.Keeper {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sessions++
		k := &keeper{module: m, id: m.sessions, turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		return k
	})
	if err != nil {
		return nil, abi.Errorf(abi.CodeCancelled, "plugin %s: %w", m.name, err)
	}
	k, ok := kept.(*keeper)
	if !ok {
		return nil, abi.Errorf(abi.CodeInternal, "plugin %s: the session keeps a %T for it", m.name, kept)
	}
	return k, nil
}

// lost tells the call that state is gone.
func (c *call) lost() {
	if c.report != nil {
		c.report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(
			"plugin %s lost the state it kept for this session: its worker process ended", c.module.name)}})
	}
}

// gone reports whether the worker has ended.
func (p *process) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// moved notes where the state is after a call.
func (k *keeper) moved(to *process) {
	if to != nil && to.gone() {
		to = nil
	}
	if k.in == to {
		return
	}
	count := func(p *process, n int) {
		if p != nil {
			p.mu.Lock()
			p.sessions += n
			p.mu.Unlock()
		}
	}
	count(k.in, -1)
	count(to, +1)
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
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		close(ended)
		return ended
	}
	p.lastCall++
	number := p.lastCall
	p.endings[number] = ended
	p.mu.Unlock()
	message := binary.LittleEndian.AppendUint64(newMessage(kindEndSession, number, 0, 8), id)
	go func() {
		// Whoever closes a session waits no longer than their context, and a worker
		// may have ceased to read. It fails with the worker.
		_ = p.out.send(message)
		select {
		case <-ended:
			return
		case <-p.turn:
		}
		defer func() { p.turn <- struct{}{} }()
		p.receiveAll(func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
	}()
	return ended
}

func (p *process) sessionEnded(number uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended, ok := p.endings[number]
	if !ok {
		return violate("ended a session that nobody asked it to end")
	}
	delete(p.endings, number)
	close(ended)
	return nil
}
