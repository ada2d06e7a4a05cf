package storage

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// StageDir is the name of a stage's directory in the directory of its session.
const StageDir = stage.Dir

// ErrStaged is returned for a session with staged files that was opened without
// Options.Stage: its tools would see files as they were before.
var ErrStaged = errors.New("the session has staged files")

// openStage returns the stage in a session's directory, which is made when the first file
// is staged, or nil where writes are not staged. A session must not go on without a stage
// that is in use.
func openStage(dir *sessiondir.Dir, former *history.Store, o *Options) (*stage.Store, error) {
	if dir == nil {
		if o.Stage {
			return nil, errors.New("its writes cannot be staged, since it has no directory; set Options.Sessions, and not Ephemeral")
		}
		return nil, nil
	}
	options := stage.Options{Logger: o.Logger, Make: func() error { return makeIn(dir, stage.Dir) }}
	if former != nil {
		options.History = former
	}
	store := stage.Open(filepath.Join(dir.Path(), stage.Dir), options)
	if o.Stage {
		return store, nil
	}
	return nil, nothingIn(store)
}

// NothingStaged fails with [ErrStaged] where files are staged in a session's directory that were
// neither applied nor discarded, and also where that is not known.
func NothingStaged(dir string) error {
	return nothingIn(stage.Open(filepath.Join(dir, stage.Dir), stage.Options{}))
}

func nothingIn(store *stage.Store) error {
	staged, err := store.List(stage.Selection{})
	if err == nil && len(staged) > 0 {
		err = fmt.Errorf("%w: %d, such as %s; go on with them (--stage), or apply or discard them first (toolquay stage --session ID)", ErrStaged, len(staged), staged[0].Path)
	}
	return err
}
