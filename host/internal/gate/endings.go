package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Rewritten is not a failure: the call is to begin anew with another input, which a hook
// or the person wrote.
type Rewritten struct {
	Input    json.RawMessage
	ByPerson bool
}

func (*Rewritten) Error() string { return "the input was rewritten" }

func isRewritten(err error) bool {
	_, ok := errors.AsType[*Rewritten](err)
	return ok
}

// Cancelled is the end of ctx as an error for the model.
func Cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if known, ok := errors.AsType[*abi.Error](cause); ok {
		return known
	}
	return abi.Errorf(abi.CodeCancelled, "the call was cancelled: %w", cause)
}

// DeniedByRule reports whether a decision is a denial that no person and no judge could
// have changed.
func DeniedByRule(d permissions.Decision) bool { return d.Verdict == permissions.Deny && !d.Headless }

// Refusal is a denial as an error for the model.
func Refusal(d permissions.Decision) error { return abi.Errorf(d.Code(), "%s", d.Message()) }
