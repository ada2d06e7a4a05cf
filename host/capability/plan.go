package capability

import (
	"context"

	"github.com/toolquay/toolquay/permissions"
)

// PlanMode is the mode plan of a session. It is safe for concurrent use.
type PlanMode interface {
	// Mode is the session's mode now.
	Mode() permissions.Mode
	// Enter changes to the mode plan, and reports whether that was in force before. It fails
	// where a policy forbids the mode.
	Enter() (already bool, err error)
	// Into are the modes that a plan may be accepted into, that before plan first; none where
	// all are forbidden.
	Into() []permissions.Mode
	// Leave changes from the mode plan into one of Into, and adds allow rules that the person
	// gave to the session, all of it or nothing. It fails where the mode is another one by now.
	Leave(into permissions.Mode, rules []string) error
}

// PlanFile is the file that a session's plan lies in: the one that may be written in the mode
// plan. It is safe for concurrent use.
type PlanFile interface {
	// Path names it, and makes the directory that it lies in.
	Path() (string, error)
	// Read returns the plan, as the session sees it. It fails with abi.CodeNotFound where there
	// is no such file, and where it is no regular file, leads elsewhere, is not UTF-8 or is
	// larger than [MaxPlan].
	Read() (string, error)
	// Write replaces the plan: afterwards, and after a crash, the file has all of the former
	// content or all of the new.
	Write(ctx context.Context, plan string) error
}
