package pipeline

import (
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/scheduler"
)

// ErrInterrupted is the cause of the end of calls that the user interrupted.
var ErrInterrupted = abi.Errorf(abi.CodeInterrupted, "the user interrupted")

// ending says to the model why a call was ended from outside, by the cause of its
// context's end, or by what the scheduler says. Begun says that its tool ran.
func (c *Call) ending(cause error, begun bool) error {
	if failed, ok := errors.AsType[*scheduler.CascadeError](cause); ok {
		return abi.Errorf(abi.CodeCancelled, "Cancelled: parallel tool call %s errored", nameOf(failed.Failed))
	}
	switch {
	case errors.Is(cause, ErrInterrupted) && begun:
		return abi.Errorf(abi.CodeInterrupted, "The user interrupted before %s had ended. What it had done by then stays as it is; do not run it again unasked.", c.short())
	case errors.Is(cause, ErrInterrupted):
		return abi.Errorf(abi.CodeInterrupted, "The user interrupted before %s began. Nothing of it was done.", c.short())
	}
	return abi.Errorf(abi.CodeCancelled, "%s was cancelled before it ended: %w", c.name(), cause)
}

func nameOf(j scheduler.Job) string {
	if c, ok := j.(*Call); ok {
		return c.short()
	}
	return "of this turn"
}
