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
	// Check tells a person in words what Do would do, such as what would be lost, or fails where
	// Do would whatever they said. It changes nothing.
	Check(ctx context.Context, args abi.WorktreeArgs) (words string, err error)
	// Do enters a worktree or leaves it. It removes none with which something else would be lost
	// than the words of Check said. With an error the session is where it was.
	Do(ctx context.Context, args abi.WorktreeArgs, words string) (abi.WorktreeOK, error)
}
