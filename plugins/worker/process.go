package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// process is one worker that runs a plugin, as the host sees it.
type process struct {
	underway
	feed   feed
	module *module
	child  *child
	out    writer
	memory int64
	logged int           // lines for the operator
	dead   chan struct{} // closed when the module knows that it is gone

	// answered says that it has answered a call, wanted that its end is.
	answered, wanted atomic.Bool
}

// grace is how long a worker may take for what it is told, and a guest beyond
// its time, before the worker is killed. It is a backstop: the worker's own
// runner holds guests to their limits.
const grace = time.Second

// limit bounds what a worker may send that is ready.
func (p *process) limit(k kind) int {
	switch k {
	case kindFailed:
		return maxErrorText + 256
	case kindResult:
		return resultLimit(p.module.source.Limits.Output)
	case kindAssessment, kindProgress, kindLog:
		return 1 << 20
	case kindRequest:
		return requestLimit
	case kindSpill:
		return chunk
	case kindCredit:
		return 4
	case kindDrop, kindSessionEnded:
		return 0
	}
	return -1
}

// requestLimit bounds a capability request: the direct ABI allows 16 MiB.
const requestLimit = 17 << 20

// resultLimit bounds the message of a result: its content, and room for the
// heads around it.
func resultLimit(output int64) int { return int(min(output, 1<<30)) + 2*abi.MaxHead }

// serve begins to look after the worker.
func (p *process) serve() {
	p.feed.turn <- struct{}{}
	p.timer = time.AfterFunc(p.module.runner.opts.Idle, p.look)
	go func() {
		defer p.module.ended.Done()
		<-p.child.exited
		<-p.feed.turn // and it stays taken: there is nothing more to receive
		p.feed.receive(func() bool { return false })
	}()
}

// take takes one message. An error means that the worker must not be listened
// to any more.
func (p *process) take(h header, payload []byte) error {
	switch h.kind {
	case kindLog:
		return p.log(payload)
	case kindSessionEnded:
		return p.sessionEnded(h.call)
	}
	c := p.find(h.call)
	if c == nil {
		return violate("named the call %d, which is not under way", h.call)
	}
	switch h.kind {
	case kindResult, kindAssessment, kindFailed:
		return p.complete(c, h, payload)
	case kindRequest:
		return c.request(p, h.request, payload)
	case kindCredit:
		return c.credit(h.request, payload)
	case kindDrop:
		return c.drop(h.request)
	case kindProgress:
		return c.reports.pass(payload, p.module.source.Limits.LogLines)
	case kindSpill:
		return c.texts.piece(c, p, h, payload)
	}
	return violate("sent a message of kind %d after it was ready", h.kind)
}

// complete ends a call with what the worker says of it.
func (p *process) complete(c *call, h header, payload []byte) error {
	r := reply{kind: h.kind, payload: payload}
	want := kindResult
	if kind(c.message[4]) == kindAssess {
		want = kindAssessment
	}
	if h.kind == kindFailed {
		e := workerError(payload)
		if e == nil {
			return violate("sent an error that is not one")
		}
		r.err = e
	} else if h.kind != want {
		return violate("answered a message of kind %d with one of kind %d", c.message[4], h.kind)
	}
	if !p.answered.Load() {
		p.answered.Store(true)
	}
	p.forget(c)
	c.reply <- r
	return nil
}

// maxLogged bounds the lines for the operator that one worker may write.
const maxLogged = 100

// log passes on a line of the worker's runner.
func (p *process) log(payload []byte) error {
	if len(payload) == 0 {
		return violate("sent a log line of 0 bytes")
	}
	if p.logged++; p.logged > maxLogged {
		return violate("sent more than %d log lines", maxLogged)
	}
	write := p.module.runner.opts.Logger.Warn
	if slog.Level(int8(payload[0])) >= slog.LevelError {
		write = p.module.runner.opts.Logger.Error
	}
	write("from a worker process", "plugin", p.module.name, "message", engine.Told(string(payload[1:])))
	return nil
}

// exchange sends a call and waits for its end, which always comes: where the
// worker does not give it, look kills the worker.
func (p *process) exchange(c *call) reply {
	if c.keeper != nil {
		binary.LittleEndian.PutUint64(c.message[headerSize:], c.keeper.id)
	}
	// A write fails when the worker is gone, and then end ends the call.
	_ = p.out.send(c.message)
	stop := context.AfterFunc(c.ctx, func() { _ = p.out.send(newMessage(kindCancel, c.id, 0, 0)) })
	r, come := await(&p.feed, c.reply)
	if !come {
		r = <-c.reply // the worker is gone, and every call was told
	}
	stop()
	if r.err != nil && c.ctx.Err() != nil {
		r.err = p.module.explain(c.ctx)
	}
	c.end()
	return r
}

// look sees after the worker, every tick while there are calls, and ends it when
// there was none for long.
func (p *process) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	o := &p.module.runner.opts
	if len(p.calls) == 0 {
		p.looking = false
		if idle := time.Since(p.used); idle < o.Idle || p.sessions > 0 {
			p.timer.Reset(max(o.Idle-idle, tick))
			return
		}
		p.over = true
		p.wanted.Store(true)
		p.child.kill(nil)
		return
	}
	p.timer.Reset(tick)
	if p.child.tooLarge(p.memory) {
		p.child.kill(abi.Errorf(abi.CodeLimit, "the worker process of plugin %s took more than %s of memory, which is what %d of its calls may take at once (limit memory = %s)",
			p.module.name, abi.Size(p.memory), o.Parallel, abi.Size(p.module.source.Limits.Memory)))
		return
	}
	for _, c := range p.calls {
		if reason := c.overdue(); reason != nil {
			p.child.kill(reason)
			return
		}
	}
}

// end ends the worker and every call in it.
func (p *process) end(err error) {
	if broke, ok := errors.AsType[violation](err); ok {
		p.child.kill(abi.Errorf(abi.CodeProtocol, "the worker process of plugin %s was ended: it %s", p.module.name, broke.text))
	}
	calls, endings := p.close()
	p.child.end()
	what := fmt.Sprintf("plugin %s", p.module.name)
	reason := p.child.why(abi.CodeTrap, what, p.memory)
	p.module.gone(p, p.answered.Load(), p.wanted.Load() || reason.Code == abi.CodeCancelled)
	close(p.dead)
	for _, c := range calls {
		c.reply <- reply{err: reason}
	}
	for _, ended := range endings {
		close(ended)
	}
}
