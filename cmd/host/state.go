package main

import (
	"fmt"
	"os"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
)

// userDirs are the user's directories, with a spare one where state cannot be written.
func userDirs() config.Dirs {
	dirs := config.UserDirs()
	dirs.Probe()
	return dirs
}

// checkState says where state is kept if not in its usual place. Calls do not start where
// the settings require a sandbox whose state has no place; the log looks after itself.
func (s *setup) checkState() error {
	if s.dirs.StateError == nil || !s.calls {
		return nil
	}
	if required := s.options.Shell != nil && s.options.Shell.Sandbox.Mode == host.SandboxRequired; required && s.dirs.Spare == "" {
		if err := config.CheckWritable(os.TempDir()); err != nil {
			return fmt.Errorf("the settings require a sandbox for commands, and no directory for its state can be written: %w", s.dirs.StateError)
		}
	}
	if s.dirs.Spare != "" {
		s.options.Observe.Logger.Warn("state is kept in a spare directory, maybe only until the machine restarts",
			"dir", s.dirs.State, "spare", s.dirs.Spare, "error", s.dirs.StateError)
		return nil
	}
	s.options.Observe.Logger.Warn("no directory for state can be written: the log of decisions, the session and approvals are not kept, unless the settings name directories for them", "error", s.dirs.StateError)
	return nil
}
