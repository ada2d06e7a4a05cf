package main

import (
	"context"
	"errors"
	"iter"

	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
)

// read takes what comes in, until it ends or ctx does.
func (d *streamDriver) read(ctx context.Context, items iter.Seq[stream.Item]) {
	defer close(d.turns.queue)
	if d.asker != nil {
		defer d.asker.close()
	}
	for item := range items {
		if ctx.Err() != nil {
			break
		}
		d.take(ctx, item)
	}
	d.turns.close("")
	d.stops.Wait()
}

func (d *streamDriver) take(ctx context.Context, item stream.Item) {
	switch item.Kind {
	case stream.KindCall:
		if err := d.turns.add(ctx, item.Call); err != nil {
			d.refuse(ctx, stream.Item{Line: item.Line, Call: item.Call, Err: err})
		}
	case stream.KindAnswer:
		if err := d.answer(item.Answer); err != nil {
			item.Err = err
			d.fault(item)
		}
	case stream.KindInterrupt:
		d.turns.interrupt()
	case stream.KindDiscard:
		if item.Err != nil {
			d.fault(item)
		}
		d.turns.discard()
	case stream.KindEnd:
		d.turns.turn(ctx)
		d.turns.close(item.Stop)
	case stream.KindMode, stream.KindBackground, stream.KindStop:
		d.steer(ctx, item)
	case stream.KindFault:
		d.refuse(ctx, item)
	}
}

// refuse tells of a fault. A call that it cost has a result in the reply, if that is
// what goes out: the APIs take no reply that answers only some of the calls.
func (d *streamDriver) refuse(ctx context.Context, item stream.Item) {
	d.fault(item)
	if d.output == message.List || item.Call.ID == "" {
		return
	}
	d.turns.refuse(ctx, item)
}

// fault reports input that could not be read: as a line of the stream, and on standard error
// if the lines are not all that is shown.
func (d *streamDriver) fault(item stream.Item) {
	if d.timed() {
		d.app.err.Printf("toolquay: %s, line %d: %v\n", d.file, item.Line, item.Err)
	}
	d.out.fault(item)
}

func (d *streamDriver) answer(a stream.Answer) error {
	if d.asker == nil {
		return errors.New("nothing is asked over this stream: see --approval")
	}
	return d.asker.answer(a)
}
