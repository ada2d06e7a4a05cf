package shell

import (
	"context"

	"github.com/toolquay/toolquay/host/internal/process"
)

// guard ends a confined command from whose sandbox a mask or a protection was lost. A
// file that is saved by an editor is another file, which no mount lies on.
func (l *launch) guard(p *process.Process) {
	if l.box == nil {
		return
	}
	go func() {
		lost, err := l.box.Watch(context.Background()) // until the box is closed
		if err != nil {
			l.p.c.opts.Logger.Warn("it cannot be told whether what is hidden from a command stays so", "call", l.p.scope.Call.ID, "error", err)
		}
		if lost != "" {
			text := lost + ", which is closed to commands, was replaced, moved or removed by another program while the command ran, so that it would have been open to it: the command was ended. It can be run again."
			l.replaced.Store(&text)
			p.Stop(0)
		}
	}()
}

// interrupted says why the command was ended, if it was because of what it could have
// come to see; empty is nothing.
func (l *launch) interrupted() string {
	if text := l.replaced.Load(); text != nil {
		return *text
	}
	return ""
}
