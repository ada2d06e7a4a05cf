package abi

// The operations on background tasks, which sessions have of every kind. The tools in
// the box, and an embedder's own, may read and end them all. A plugin's tools may those
// that tools of the same plugin began: every other id is [CodeNotFound] to them.
const (
	// CapTaskOutput reads a task's output. It takes [TaskOutputArgs]; the answer's head
	// is [TaskOK], its body the text.
	CapTaskOutput = "task.output"
	// CapTaskStop ends a task, and waits until nothing of it is left. It takes
	// [TaskArgs]; the answer's head is [TaskOK]; it has no body.
	CapTaskStop = "task.stop"
	// CapTaskSleep waits. It takes [SleepArgs]; the answer's head is [SleepOK]; it has
	// no body.
	CapTaskSleep = "task.sleep"
)

// The states of a task.
const (
	TaskPending   = "pending"
	TaskRunning   = "running"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskKilled    = "killed"
	// TaskLost is one whose host ended before it did: nobody knows how it ended.
	TaskLost = "lost"
)

// TaskArgs name a task.
type TaskArgs struct {
	ID string `json:"id"`
}

// TaskOutputArgs are the arguments of task.output. What is read is what the session's
// model has not been shown: each read goes on where the one before ended.
type TaskOutputArgs struct {
	ID string `json:"id"`
	// Block waits for the task's end, for at most Timeout milliseconds.
	Block   bool  `json:"block,omitempty"`
	Timeout int64 `json:"timeout_ms,omitempty"`
	// Filter is a regular expression (RE2): only lines that it matches are returned. The
	// others count as read.
	Filter string `json:"filter,omitempty"`
}

// TaskOK is the answer to task.output and task.stop.
type TaskOK struct {
	ID string `json:"id"`
	// Kind is what it is, such as "bash".
	Kind string `json:"kind"`
	// State is one of the states, and Ended says that it is a last one.
	State string `json:"state"`
	Ended bool   `json:"ended,omitempty"`
	// Title is one line for people, such as the command.
	Title string `json:"title,omitempty"`
	// Exit is the exit status of a command that has ended, where it has one.
	Exit *int `json:"exit,omitempty"`
	// Reason says why it failed or was ended.
	Reason string `json:"reason,omitempty"`
	// OutputFile is where all of the output lies, absolute.
	OutputFile string `json:"output_file,omitempty"`
	// From and To are the bytes of the output that were read, and Bytes how many there
	// are. Skipped counts the lines that Filter left out.
	From    int64 `json:"from"`
	To      int64 `json:"to"`
	Bytes   int64 `json:"bytes"`
	Skipped int64 `json:"skipped,omitempty"`
	// TimedOut says that Timeout ended the wait, not the task.
	TimedOut bool `json:"timed_out,omitempty"`
	// Elapsed is how long it has run, or ran, in milliseconds.
	Elapsed int64 `json:"elapsed_ms"`
	// Left counts processes that were ended with it.
	Left int `json:"left,omitempty"`
}

// SleepArgs are the arguments of task.sleep.
type SleepArgs struct {
	// Duration is in milliseconds: 1 up to an hour.
	Duration int64 `json:"duration_ms"`
}

// SleepOK is the answer to task.sleep.
type SleepOK struct {
	// Slept is in milliseconds.
	Slept int64 `json:"slept_ms"`
	// Woken names a background task that ended meanwhile, which ends the wait.
	Woken string `json:"woken,omitempty"`
}
