package tool

import (
	"context"

	"github.com/toolquay/toolquay/permissions"
)

// Edit is one file that a call is about to change.
type Edit struct {
	// Session is the id of the session, and Policy what its calls are judged by.
	Session string
	Policy  *permissions.Policy
	// File is the file as the call names it, absolute.
	File string
}

// EditWatch looks at a file before it is edited, and returns what looks at it once that was done
// and may note something for the model; nil looks no more, and an empty note is none. The edit
// waits for both, so they should return soon, and must when ctx ends.
type EditWatch func(ctx context.Context, e Edit) (after func(ctx context.Context) (note string))
