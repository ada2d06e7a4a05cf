package worker

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// call is one call, or question, to a worker, as the host sees it.
type call struct {
	module *module
	chain  *link
	do     plugins.CapabilityFunc
	report func(abi.ProgressHead)
	// makeSpill is nil where the host takes no texts in pieces.
	makeSpill func() (abi.Spill, error)
	most      time.Duration // the guest's time, and then some
	message   []byte
	keeper    *keeper // where the call is to a kept instance

	// These are set when the call is entered.
	id      uint32
	process *process
	ctx     context.Context
	entered time.Time
	reply   chan reply
	// start begins to do a capability call.
	start func(*request, abi.Request)

	// serving counts the capability work that the worker waits for: its time is
	// not the guest's.
	serving atomic.Int32
	// spilled are the bytes of texts that came in pieces.
	spilled atomic.Int64
	// The next belong to look.
	ran       time.Duration
	cancelled time.Duration

	// These belong to who receives.
	lastRequest uint32
	asked       int
	reports     int

	mu       sync.Mutex
	requests map[uint32]*request
	// requested are the bytes of those requests.
	requested int
	spills    []*spill
	work      sync.WaitGroup
	working   atomic.Int32
}

// wants is the kind of message that answers this one.
func (c *call) wants() kind {
	if kind(c.message[4]) == kindAssess {
		return kindAssessment
	}
	return kindResult
}

// overdue counts one tick, and says why the worker must be killed, if it must.
func (c *call) overdue() *abi.Error {
	if c.ctx.Err() != nil {
		if c.cancelled += tick; c.cancelled > grace {
			return abi.Errorf(abi.CodeTrap, "the worker process of plugin %s was ended: a call in it did not end when it was cancelled", c.module.name)
		}
	}
	if c.serving.Load() == 0 {
		if c.ran += tick; c.ran > c.most+c.spillTime() {
			return abi.Errorf(abi.CodeTimeout, "the worker process of plugin %s was ended: a call in it ran on after its limit of %s (limit time)",
				c.module.name, c.module.source.Limits.Time)
		}
	}
	return nil
}

// maxRequests bounds the answers of one call that are under way or unread. The
// runners hold guests to 32.
const maxRequests = 64

// maxRequested bounds the bytes of the requests of one call that are under way.
// The runners hold guests to 64 MiB; an answer and the next request may cross.
const maxRequested = 128 << 20

// request takes a capability request.
func (c *call) request(p *process, id uint32, payload []byte) error {
	limit := c.module.source.Limits.CapabilityCalls
	switch c.asked++; {
	case c.do == nil:
		return violate("made a capability call where none is offered")
	case id <= c.lastRequest:
		return violate("numbered a capability call %d after %d", id, c.lastRequest)
	case c.asked > limit:
		return violate("passed on more than %d capability calls (limit capability_calls)", limit)
	}
	c.lastRequest = id
	r, err := abi.DecodeRequest(payload)
	if err != nil {
		return violate("sent a broken capability request: %v", err)
	}
	req := &request{call: c, process: p, id: id, size: len(payload), allowed: window, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.requests) >= maxRequests {
		return violate("has more than %d capability calls under way", maxRequests)
	}
	if c.requested += req.size; c.requested > maxRequested {
		return violate("has capability calls of over %d bytes under way", maxRequested)
	}
	if c.requests == nil {
		c.requests = make(map[uint32]*request, 4)
	}
	c.requests[id] = req
	c.start(req, r)
	return nil
}

// enter sets up a call that was made with ctx, and under whatever its chain
// holds.
func (c *call) enter(ctx context.Context) {
	c.ctx, c.entered = ctx, time.Now()
	c.reply = make(chan reply, 1)
	within := context.WithValue(ctx, linkKey{}, c.chain)
	c.start = func(r *request, asked abi.Request) {
		ctx, cancel := context.WithCancel(within)
		r.cancel = cancel
		c.working.Add(1)
		c.work.Go(func() {
			defer c.working.Add(-1)
			r.serve(ctx, asked)
		})
	}
}

// find returns a request that is under way. One that is over is nil, and no
// fault: its end and what the worker sends may cross.
func (c *call) find(id uint32) (*request, error) {
	if id == 0 || id > c.lastRequest {
		return nil, violate("named the capability call %d, which was never made", id)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[id], nil
}

// credit lets more of a body be sent.
func (c *call) credit(id uint32, payload []byte) error {
	if len(payload) != 4 {
		return violate("sent a credit of %d bytes", len(payload))
	}
	r, err := c.find(id)
	if err != nil || r == nil {
		return err
	}
	return r.allow(int64(binary.LittleEndian.Uint32(payload)))
}

// drop gives a request up.
func (c *call) drop(id uint32) error {
	r, err := c.find(id)
	if err != nil || r == nil {
		return err
	}
	c.done(r)
	r.giveUp()
	return nil
}

// progress passes on a report. The worker's runner cuts them to the limit, and
// says how many it dropped.
func (c *call) progress(payload []byte) error {
	const own = 8 // what runners themselves have to say
	late := int(time.Since(c.entered) / plugins.ReportEvery)
	if c.reports++; c.reports > c.module.source.Limits.LogLines+own+late {
		return violate("passed on more than %d log lines and reports (limit log_lines)", c.module.source.Limits.LogLines)
	}
	head, err := abi.DecodeProgress(payload)
	if err != nil {
		return violate("reported broken progress: %v", err)
	}
	if c.report != nil {
		c.report(head)
	}
	return nil
}

// endWait is how long the end of a call waits for capability calls that it
// cancels, so that what they do is over before the next call begins.
const endWait = 50 * time.Millisecond

// end gives up the requests and texts that are left.
func (c *call) end() {
	c.mu.Lock()
	left := c.requests
	c.requests = nil
	spills := c.spills
	c.mu.Unlock()
	for _, r := range left {
		r.giveUp()
	}
	for _, s := range spills {
		s.giveUp()
	}
	if c.working.Load() == 0 {
		return
	}
	ended := make(chan struct{})
	go func() {
		c.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(endWait):
	}
}
