package host

import "github.com/toolquay/toolquay/host/internal/stage"

// These types are the stage of a session: what its tools wrote and nobody applied yet.
type (
	// Stage lists what is staged, writes it as a patch, applies and discards it. See
	// [Session.Stage] and [OpenStage].
	Stage = stage.Store
	// StageOptions configure a stage.
	StageOptions = stage.Options
	// StageSelection selects files of a stage by path; the zero value selects all.
	StageSelection = stage.Selection
	// StagedFile is one file that is staged.
	StagedFile = stage.Entry
	// StageNote is what there is to say about a file beside a patch.
	StageNote = stage.Note
	// Applied is a file that was written as it was staged.
	Applied = stage.Applied
	// ApplyConflict says why a file cannot be applied.
	ApplyConflict = stage.Conflict
	// ApplyConflictError lists the files that cannot be applied. No file was.
	ApplyConflictError = stage.ConflictError
)

// ErrNotStaged means that a selection selects no staged file.
var ErrNotStaged = stage.ErrNothing

// Stages lists the sessions with a stage below [StorageOptions.Sessions], those that changed
// last first.
func Stages(sessions string) ([]HistorySession, error) { return stage.Sessions(sessions) }

// OpenStage returns the stage in a directory, also while its session goes on in another
// process.
func OpenStage(dir string, o StageOptions) *Stage { return stage.Open(dir, o) }
