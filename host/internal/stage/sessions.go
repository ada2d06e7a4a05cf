package stage

import "github.com/toolquay/toolquay/host/internal/history"

// Sessions finds the sessions with a stage, in use or not, in the directory of all
// sessions' directories: those that changed last first.
func Sessions(parent string) ([]history.Session, error) { return history.SessionsWith(parent, Dir) }
