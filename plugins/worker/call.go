package worker

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// call is one call, or question, to a worker, as the host sees it.
type call struct {
	link     // the module, and what the call was made through
	message  []byte
	keeper   *keeper // where the call is to a kept instance
	watch    watch
	reports  reports
	requests requests
	texts    texts

	// These are set when the call is entered.
	id      uint32
	process *process
	ctx     context.Context // of its capability calls too
	reply   chan reply
	work    background
}

// link is what a call leaves in the context of its capability calls: the chain
// of isolated plugins that it was made through.
type link struct {
	module *module
	parent *link
}

type linkKey struct{}

func linkOf(ctx context.Context) *link {
	l, _ := ctx.Value(linkKey{}).(*link)
	return l
}

func (l *link) has(m *module) bool {
	for ; l != nil; l = l.parent {
		if l.module == m {
			return true
		}
	}
	return false
}

// overdue counts one tick, and says why the worker must be killed, if it must.
func (c *call) overdue() *abi.Error {
	if c.ctx.Err() != nil && c.watch.stuck() {
		return abi.Errorf(abi.CodeTrap, "the worker process of plugin %s was ended: a call in it did not end when it was cancelled", c.module.name)
	}
	if c.watch.late(c.texts.time()) {
		return abi.Errorf(abi.CodeTimeout, "the worker process of plugin %s was ended: a call in it ran on after its limit of %s (limit time)",
			c.module.name, c.module.source.Limits.Time)
	}
	return nil
}

// request takes a capability request.
func (c *call) request(p *process, id uint32, payload []byte) error {
	if err := c.requests.next(id, c.module.source.Limits.CapabilityCalls); err != nil {
		return err
	}
	asked, err := abi.DecodeRequest(payload)
	if err != nil {
		return violate("sent a broken capability request: %v", err)
	}
	r := &request{call: c, process: p, id: id, size: len(payload), allowed: window, wake: make(chan struct{}, 1)}
	return c.requests.add(r, func() {
		ctx, cancel := context.WithCancel(c.ctx)
		r.cancel = cancel
		c.work.do(func() { r.serve(ctx, asked) })
	})
}

// enter sets up a call that was made with ctx.
func (c *call) enter(ctx context.Context) {
	c.ctx, c.reports.since = context.WithValue(ctx, linkKey{}, &c.link), time.Now()
	c.reply = make(chan reply, 1)
}

// credit lets more of a body be sent.
func (c *call) credit(id uint32, payload []byte) error {
	if len(payload) != 4 {
		return violate("sent a credit of %d bytes", len(payload))
	}
	r, err := c.requests.find(id)
	if err != nil || r == nil {
		return err
	}
	return r.allow(int64(binary.LittleEndian.Uint32(payload)))
}

// drop gives a request up.
func (c *call) drop(id uint32) error {
	r, err := c.requests.find(id)
	if err != nil || r == nil {
		return err
	}
	c.requests.done(r)
	r.giveUp()
	return nil
}

// end gives up the requests and texts that are left, and waits a moment for them.
func (c *call) end() {
	for _, r := range c.requests.take() {
		r.giveUp()
	}
	for _, s := range c.texts.all() {
		s.giveUp()
	}
	c.work.wait()
}
