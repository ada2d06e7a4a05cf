package worker

import "context"

// exchange has a worker serve a call, once there is a slot for it. A call made
// under one that holds a slot needs none of its own.
func (m *module) exchange(ctx context.Context, c *call) reply {
	if !c.parent.has(m) {
		select {
		case m.slots <- struct{}{}:
			defer func() { <-m.slots }()
		case <-ctx.Done():
			return reply{err: m.explain(ctx)}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.enter(ctx)
	for {
		p, err := m.running(ctx)
		if err != nil {
			return reply{err: err}
		}
		if p.begin(c) {
			c.process = p
			if c.keeper != nil {
				c.keeper.moved(p) // before the worker can be idle again
			}
			return p.exchange(c)
		}
		// It is about to end, and has not seen the call.
		select {
		case <-p.dead:
		case <-ctx.Done():
			return reply{err: m.explain(ctx)}
		}
	}
}
