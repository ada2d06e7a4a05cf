package host

import "github.com/toolquay/toolquay/host/internal/history"

// These types are the history of a session: what files held before its tools wrote them.
type (
	// History keeps the former contents of files, lists them, writes them as a patch and
	// restores them. See [Session.History] and [OpenHistory].
	History = history.Store
	// HistoryOptions bound what a history keeps.
	HistoryOptions = history.Options
	// HistorySession is a session that has a history, and the directory it lies in.
	HistorySession = history.Session
	// HistorySelection selects writes of a session; the zero value selects all.
	HistorySelection = history.Selection
	// HistoryChange is one write of one file, and what became of it.
	HistoryChange = history.Change
	// HistoryContent describes what is at a path: a file with its size, hash and mode, a
	// directory, or a link.
	HistoryContent = history.Content
	// PatchOptions say how a patch names files.
	PatchOptions = history.PatchOptions
	// PatchOmission is a file that a patch leaves out, and why.
	PatchOmission = history.Left
	// RestoreOptions say how files are restored.
	RestoreOptions = history.RestoreOptions
	// Restored is a file that was restored.
	Restored = history.Restored
	// RestoreConflict says why a file cannot be restored.
	RestoreConflict = history.Conflict
	// RestoreConflictError lists the files that cannot be restored. No file was.
	RestoreConflictError = history.ConflictError
)

// HistoryDir is the name of a history's directory in the directory of its session.
const HistoryDir = history.Dir

// HistoryRestore is the kind of a change that restored a file, and HistoryCommand that of a change by
// a command. HistoryNotDone is the state of a change that was not made.
const (
	HistoryRestore = history.KindRestore
	HistoryCommand = history.KindCommand
	HistoryNotDone = history.StateNotDone
)

// ErrNoChange means that a selection selects no write of the history.
var ErrNoChange = history.ErrNothing

// Histories lists the sessions with a history below [StorageOptions.Sessions], those that
// changed last first.
func Histories(sessions string) ([]HistorySession, error) { return history.Sessions(sessions) }

// OpenHistory returns the history in a directory, also while its session goes on in
// another process. It is to be closed.
func OpenHistory(dir string, o HistoryOptions) *History { return history.Open(dir, o) }
