package direct

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// explain turns what ended a guest into an error that says whose doing it was.
// The context is the one that the call came with: its end is not the plugin's.
func (m *module) explain(ctx context.Context, limit time.Duration, lastLog string, err error) error {
	cause := context.Cause(ctx)
	var known *abi.Error
	var exit *sys.ExitError
	switch {
	case errors.Is(err, engine.ErrOutOfTime):
		return abi.Errorf(abi.CodeTimeout, "plugin %s ran longer than its limit of %s (limit time)", m.name, limit)
	case cause != nil:
		if errors.As(cause, &known) {
			return known
		}
		if errors.Is(cause, context.DeadlineExceeded) {
			return abi.Errorf(abi.CodeTimeout, "the call ran into its time limit in plugin %s: %w", m.name, cause)
		}
		return abi.Errorf(abi.CodeCancelled, "the call was cancelled in plugin %s: %w", m.name, cause)
	case errors.As(err, &known):
		return &abi.Error{Code: known.Code, Message: fmt.Sprintf("plugin %s: %s", m.name, engine.Told(known.Message)), Err: known}
	case errors.Is(err, engine.ErrOutOfStack):
		return abi.Errorf(abi.CodeTrap, "plugin %s used up its stack: it recursed too deep%s", m.name, engine.Said(lastLog))
	case errors.As(err, &exit):
		return abi.Errorf(abi.CodeTrap, "plugin %s exited with code %d before it answered%s", m.name, exit.ExitCode(), engine.Said(lastLog))
	}
	return abi.Errorf(abi.CodeTrap, "plugin %s trapped: %s%s", m.name, engine.FirstLine(err), engine.Said(lastLog))
}
