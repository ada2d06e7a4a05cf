package worktree

import (
	"errors"
	"os"
)

// interrupt is not known here.
func interrupt(*os.Process) error { return errors.ErrUnsupported }
