package capability

import (
	"context"

	"github.com/toolquay/toolquay/abi"
)

// Worktrees has a session work in a worktree of git of its own. It is safe for concurrent use.
// Errors have the codes [abi.CodeInvalidInput] for a name that cannot be taken and for a session
// that is in a worktree, or in none, [abi.CodeUnsupported] where there is no repository or git
// cannot work in it, [abi.CodeDenied] where something would be lost or still runs, and
// [abi.CodeChanged] where it is not known what would be lost.
type Worktrees interface {
	// Check returns why Do would fail whatever a person said, or nil, and changes nothing.
	Check(ctx context.Context, args abi.WorktreeArgs) error
	// Do enters a worktree or leaves it. With an error the session is where it was.
	Do(ctx context.Context, args abi.WorktreeArgs) (abi.WorktreeOK, error)
}
