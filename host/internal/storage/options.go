package storage

import (
	"log/slog"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// Options say what is kept of a session. The zero value keeps nothing on the disk.
type Options struct {
	// Parent is the directory that holds the directories of all sessions, absolute. With
	// an empty one the session has no directory.
	Parent string
	// ID names the session.
	ID string
	// Results bound the results of the session's tools.
	Results results.Options
	// History bounds the history of files; Open sets its Make and Logger. NoHistory keeps
	// none.
	History   history.Options
	NoHistory bool
	// Stage has writes staged. It needs a directory.
	Stage bool
	// Tasks bound the background tasks; nil is a session that runs no commands.
	Tasks *TaskOptions
	// Team names the team whose tasks the session shares, in the directory Teams, absolute.
	// Where either is empty, the session has tasks of its own.
	Team, Teams string
	// Logger takes what could not be kept. It is required.
	Logger *slog.Logger
}

// TaskOptions bound the background tasks of a session.
type TaskOptions struct {
	// Begin says that tasks may begin. Without it, those of earlier processes can still be
	// read.
	Begin bool
	// MaxRunning is how many run at once at most; 0 is the default.
	MaxRunning int
	// Notify, if not nil, is told of each task that begins or ends. It must return soon.
	Notify func(tasks.Info)
}
