package capability

import (
	"context"
	"regexp"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Tasks are the background tasks of a session. It is safe for concurrent use.
//
// An id that no task has is [abi.CodeNotFound], with a text that names those that run.
type Tasks interface {
	// Begin enters what goes on in the background. Where it fails nobody would learn how
	// that ended, and the caller ends it.
	Begin(t NewTask) (Task, error)
	// Wait waits until a task has ended, and no longer than so long; 0 does not wait. It
	// tells of the task as it then is, and fails where ctx is over before.
	Wait(ctx context.Context, id string, most time.Duration) (TaskInfo, error)
	// Read goes on reading a task's output where the last read ended.
	Read(ctx context.Context, id string, r TaskRead) (TaskText, error)
	// Stop ends a task and waits until it has, for a few seconds at most. One that had
	// ended by itself is no error: the reason says so.
	Stop(ctx context.Context, id string) (TaskInfo, error)
	// NextEnd waits until a task ends that nobody was told of, and no longer than so
	// long, and returns its id; empty is none. It fails where ctx is over before.
	NextEnd(ctx context.Context, most time.Duration) (id string, err error)
}

// NewTask is what is known of a task that begins.
type NewTask struct {
	// Kind is the letter that its id begins with, such as 'b' for a shell's.
	Kind byte
	Call Call
	// Title is one line for people, Command what runs.
	Title, Command string
	// Output is the file that its output is written to; empty is none. The model was
	// shown its first Shown bytes.
	Output string
	Shown  int64
	// Began is when it did, where that was before it became a task.
	Began time.Time
	// Stop ends it, and returns at once. It may be called more than once, before Begin
	// has returned, and when the task has ended.
	Stop func()
}

// Task is one task that was entered.
type Task interface {
	// ID names it.
	ID() string
	// End says how it ended, once: when all of its output is written and nothing of it
	// is left.
	End(o TaskOutcome)
}

// TaskOutcome is how a task ended.
type TaskOutcome struct {
	// Exit is the exit status; nil where there is none.
	Exit *int
	// Killed says that it was told to end; Reason says why it failed or was ended.
	Killed bool
	Reason string
	// Note is what is to be known of its work beside that, whether or not it failed.
	Note string
	// Left counts processes that were ended with it.
	Left int
}

// TaskInfo is what is known of a task. It is a value; what it points to is not changed.
type TaskInfo struct {
	ID string `json:"id"`
	// Kind is what it is, such as "bash", and State one of the states of [abi].
	Kind  string `json:"kind"`
	State string `json:"state"`
	// Call and Tool are the id of the call that it comes from, and the call's tool.
	Call string `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Plugin is the one that the tool is of; see [Call].
	Plugin string `json:"plugin,omitempty"`
	// Title is one line for people, Command the beginning of what runs.
	Title   string `json:"title,omitempty"`
	Command string `json:"command,omitempty"`
	// Output is the file of its output, absolute, Bytes how much that holds, and Shown
	// how much of it the session's model was shown.
	Output string `json:"output_file,omitempty"`
	Bytes  int64  `json:"bytes"`
	Shown  int64  `json:"shown"`
	// Began is when it did, and Ended when it did; zero where it has not, or nobody
	// knows.
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
	// Exit, Reason, Note and Left are as in [TaskOutcome].
	Exit   *int   `json:"exit,omitempty"`
	Reason string `json:"reason,omitempty"`
	Note   string `json:"note,omitempty"`
	Left   int    `json:"left,omitempty"`
}

// Over reports whether the state is a last one.
func (t *TaskInfo) Over() bool { return t.State != abi.TaskPending && t.State != abi.TaskRunning }

// Elapsed is how long it has run, or ran; 0 where nobody knows.
func (t *TaskInfo) Elapsed() time.Duration {
	switch {
	case !t.Over():
		return time.Since(t.Began)
	case t.Ended.IsZero():
		return 0
	}
	return max(0, t.Ended.Sub(t.Began))
}

// TaskRead says what of a task's output is wanted.
type TaskRead struct {
	// Filter chooses lines; nil takes all. Lines that it leaves out count as read.
	Filter *regexp.Regexp
	// Peek reads without counting anything as read.
	Peek bool
}

// TaskText is a piece of a task's output, and the task as it was before that was read:
// of one that has ended nothing is added.
type TaskText struct {
	Task TaskInfo
	// Text is the piece, as it was written.
	Text []byte
	// From and To are the bytes of the output that were gone through. Skipped counts the
	// lines that the filter left out.
	From, To, Skipped int64
}
