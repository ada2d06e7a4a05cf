package extism

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// explain turns what ended a guest into an error that says whose doing it was.
func (m *module) explain(run *engine.Run, lastLog string, err error) error {
	over := run.Over()
	var known *abi.Error
	switch {
	case errors.Is(over, engine.ErrOutOfTime):
		return abi.Errorf(abi.CodeTimeout, "plugin %s ran longer than its limit of %s (limit time)", m.name, m.limits.Time)
	case over != nil && errors.As(over, &known):
		return known
	case errors.Is(over, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeTimeout, "the call ran into its time limit in plugin %s: %w", m.name, over)
	case over != nil:
		return abi.Errorf(abi.CodeCancelled, "the call was cancelled in plugin %s: %w", m.name, over)
	case errors.As(err, &known):
		return &abi.Error{Code: known.Code, Message: fmt.Sprintf("plugin %s: %s", m.name, engine.Told(known.Message)), Err: known}
	case errors.Is(err, errNeedsCall):
		return abi.Errorf(abi.CodeProtocol, "plugin %s: %w", m.name, errNeedsCall)
	}
	if code, ok := exited(err); ok {
		return abi.Errorf(abi.CodeTrap, "plugin %s exited before it answered, with code %d%s", m.name, code, engine.Said(lastLog))
	}
	return abi.Errorf(abi.CodeTrap, "plugin %s trapped: %s%s", m.name, strings.TrimSuffix(engine.FirstLine(err), " (recovered by wazero)"), engine.Said(lastLog))
}
