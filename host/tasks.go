package host

import (
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// ErrSessionInUse means that another session, of this process or another, uses the
// directory of a session.
var ErrSessionInUse = sessiondir.ErrInUse

// SessionDir is where the directory of a session lies below [StorageOptions.Sessions], whether
// or not it exists.
func SessionDir(sessions, id string) string { return sessiondir.Locate(sessions, id) }

// ReadTasks lists the background tasks of a session from its directory, also while the
// session goes on in another process.
func ReadTasks(sessionDir string) ([]capability.TaskInfo, error) { return tasks.Read(sessionDir) }
