package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// reply is what a child answers to its setup.
type reply struct {
	kind    kind
	payload []byte
	err     error
}

// handshake sends a child its setup and waits for the answer, no longer than
// limit. Where it returns an error the child is being killed or has ended.
func (o *Options) handshake(ctx context.Context, c *child, in *reader, what string, s *setup, wasm []byte) ([]byte, error) {
	message, err := appendSetup(newMessage(kindSetup, 0, 0, len(wasm)+4<<10), s, wasm)
	if err != nil {
		return nil, err
	}
	answered := make(chan reply, 1)
	go func() {
		w := writer{file: c.in}
		if err := w.send(message); err != nil {
			answered <- reply{err: err}
			return
		}
		h, payload, err := in.next()
		answered <- reply{h.kind, payload, err}
	}()
	r := o.attend(ctx, c, what, answered, s.Limits.Memory)
	if r.err == nil && r.kind == kindReady {
		return r.payload, nil
	}
	return nil, c.refusal(r, what, s.Limits.Memory)
}

// attend waits for the answer and kills the child where it must not be waited
// for any longer.
func (o *Options) attend(ctx context.Context, c *child, what string, answered <-chan reply, memory int64) reply {
	late := time.NewTimer(o.CompileTime)
	defer late.Stop()
	look := time.NewTicker(tick / 2)
	defer look.Stop()
	done := ctx.Done()
	for {
		select {
		case r := <-answered:
			return r
		case <-late.C:
			c.kill(abi.Errorf(abi.CodeLoad, "%s took longer than %s", what, o.CompileTime))
		case <-done:
			cause := context.Cause(ctx)
			c.kill(&abi.Error{Code: abi.CodeOfEnd(ctx), Message: fmt.Sprintf("%s was given up: %v", what, cause), Err: cause})
			done = nil
		case <-look.C:
			if c.tooLarge(memory) {
				c.kill(abi.Errorf(abi.CodeLoad, "%s needed more than %s of memory", what, abi.Size(memory)))
			}
		}
	}
}

// refusal makes an error of anything but a child that is ready.
func (c *child) refusal(r reply, what string, memory int64) *abi.Error {
	if r.err == nil && r.kind == kindFailed {
		if e := workerError(r.payload); e != nil {
			return e
		}
	}
	c.kill(nil)
	<-c.exited
	e := c.why(abi.CodeLoad, what, memory)
	if _, broke := errors.AsType[violation](r.err); broke || c.status == nil {
		e.Message += fmt.Sprintf("; %s does not answer as a worker does, and may not call worker.Main", c.command)
	}
	return e
}
