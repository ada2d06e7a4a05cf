package fs

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

func invalid(req abi.Request, format string, args ...any) error {
	err := abi.Errorf(abi.CodeInvalidInput, format, args...)
	err.Message = req.Name + ": " + err.Message
	return err
}

// held is the part that all plans share: one node, as the session sees it.
type held struct {
	node *workspace.Overlaid
	tree bool
}

// Accesses names the node.
func (h held) Accesses() []permissions.Access {
	return []permissions.Access{h.node.Access(permissions.AccessRead, h.tree)}
}

// Close lets go of the node.
func (h held) Close() error { return h.node.Close() }

// hold resolves a path. What may not be opened whatever the rules say is refused
// when it would be: before that, it would tell what lies there.
func hold(scope capability.Scope, path string) (held, error) {
	n, err := workspace.Overlay(scope.Cwd, path, scope.Stage)
	if err != nil {
		return held{}, err
	}
	return held{node: n}, nil
}

// interrupted turns the end of a context into an error of its own code.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return abi.Errorf(abi.CodeTimeout, "the time was up before the file was read: %w", ctx.Err())
	}
	return abi.Errorf(abi.CodeCancelled, "cancelled: %w", ctx.Err())
}
