package main

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/message/stream"
	"github.com/toolquay/toolquay/permissions"
)

// steer does to the session what the person who writes the stream says, at once. Where that
// fails, an error line says why.
func (d *streamDriver) steer(ctx context.Context, item stream.Item) {
	switch item.Kind {
	case stream.KindMode:
		item.Err = d.changeMode(item.Mode)
	case stream.KindBackground:
		if !d.turns.session.MoveToBackground(item.ID) {
			item.Err = abi.Errorf(abi.CodeNotFound, "no command can be moved to the background that a call %.100q waits for", item.ID)
		}
	case stream.KindStop:
		d.stops.Go(func() { // it may take seconds, and an interrupt may stand behind it
			if _, item.Err = d.turns.session.StopTask(ctx, item.ID); item.Err != nil {
				d.fault(item)
			}
		})
		return
	}
	if item.Err != nil {
		d.fault(item)
	}
}

// tightens reports whether the change to a mode allows nothing more. From plan to dontAsk it may:
// there rules allow edits.
func tightens(from, to permissions.Mode) bool {
	return to == permissions.ModePlan || to == permissions.ModeDontAsk && from != permissions.ModePlan
}

// changeMode changes the mode, or leaves plan where m is empty. Where nothing is asked over the
// stream, its writer is nobody who could allow something: then the mode can only be tightened.
func (d *streamDriver) changeMode(m permissions.Mode) error {
	s := d.turns.session
	if d.asker == nil && !tightens(s.Mode(), m) {
		return abi.Errorf(abi.CodeDenied, "nothing is asked over this stream (see --approval), so that the mode can only be tightened: to plan, or from another mode than plan to dontAsk")
	}
	change := func() error { return s.SetMode(m) }
	if m == "" {
		change = s.LeavePlan
	}
	if err := change(); err != nil {
		return abi.Errorf(abi.CodeDenied, "the mode stays %s: %w", s.Mode(), err)
	}
	return nil
}
