package main

import (
	"context"
	"errors"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
)

// read takes what comes in, until it ends or ctx does.
func (d *streamDriver) read(ctx context.Context, items iter.Seq[stream.Item]) {
	defer close(d.turns)
	if d.asker != nil {
		defer d.asker.close()
	}
	for item := range items {
		if ctx.Err() != nil {
			break
		}
		d.take(ctx, item)
	}
	d.close("")
}

func (d *streamDriver) take(ctx context.Context, item stream.Item) {
	switch item.Kind {
	case stream.KindCall:
		d.add(ctx, item.Line, item.Call)
	case stream.KindAnswer:
		if err := d.answer(item.Answer); err != nil {
			item.Err = err
			d.fault(item)
		}
	case stream.KindInterrupt:
		d.interrupt()
	case stream.KindDiscard:
		if item.Err != nil {
			d.fault(item)
		}
		d.discard()
	case stream.KindEnd:
		d.turn(ctx)
		d.close(item.Stop)
	case stream.KindFault:
		d.refuse(ctx, item)
	}
}

// turn is the turn that takes calls, which begins with the first of them.
func (d *streamDriver) turn(ctx context.Context) *streamTurn {
	d.mu.Lock()
	t := d.open
	d.mu.Unlock()
	if t != nil {
		return t
	}
	t = &streamTurn{Stream: d.session.Stream(ctx)}
	d.mu.Lock()
	d.begun++
	t.number = d.begun
	d.open = t
	d.unfinished = append(d.unfinished, t)
	d.mu.Unlock()
	select {
	case d.turns <- t:
	case <-ctx.Done():
	}
	return t
}

func (d *streamDriver) add(ctx context.Context, line int, use abi.ToolUse) {
	t := d.turn(ctx)
	d.mu.Lock()
	d.calls++
	t.uses = append(t.uses, abi.ToolUse{ID: use.ID, Name: use.Name})
	err := d.waiting.take(t, len(use.Input))
	d.mu.Unlock()
	if err != nil {
		d.refuse(ctx, stream.Item{Line: line, Call: use, Err: err})
		return
	}
	_ = t.Add(use) // it fails only where the command ends
}

// refuse tells of a fault. A call that it cost has a result in the reply, if that is
// what goes out: the APIs take no reply that answers only some of the calls.
func (d *streamDriver) refuse(ctx context.Context, item stream.Item) {
	d.fault(item)
	if d.output == message.List || item.Call.ID == "" {
		return
	}
	t := d.turn(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(t.refused) < maxWaiting {
		t.refused = append(t.refused, item)
	}
}

// close says that the message is complete, if there is one.
func (d *streamDriver) close(stopReason string) {
	d.mu.Lock()
	t := d.open
	d.open = nil
	if t != nil {
		t.stopReason = stopReason
	}
	d.mu.Unlock()
	if t != nil {
		t.Close()
	}
}

// interrupt ends what may be ended of the turns under way, and reports whether
// there was one that had not been interrupted before.
func (d *streamDriver) interrupt() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	news := false
	for _, t := range d.unfinished {
		news = !t.interrupted.Swap(true) || news
		t.Interrupt()
	}
	return news
}

// signalled is interrupt for SIGINT, which the exit code tells of.
func (d *streamDriver) signalled() bool {
	news := d.interrupt()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.interrupted = d.interrupted || news
	return news
}

// discard makes void the message that is being written, or else the last one if
// its turn has not ended.
func (d *streamDriver) discard() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.unfinished); n > 0 {
		d.unfinished[n-1].discarded = true
		d.unfinished[n-1].Discard()
	}
	d.open = nil
}

func (d *streamDriver) answer(a stream.Answer) error {
	if d.asker == nil {
		return errors.New("nothing is asked over this stream: see --approval")
	}
	return d.asker.answer(a)
}
