package abi

// CapShellRun runs a command in a shell. It takes [ShellArgs].
//
// The command runs with a small environment, nothing to read, no terminal, and in the
// session's working directory; of what it changes in its shell only that directory is
// kept, by the tool, with [ChangeCwd]. Where it ends with a failure of its own the
// request is answered all the same: see [ShellOK].
//
// The answer's head is [ShellOK]; its body the output as UTF-8 text, or the bytes of an
// image. With Separate the body is standard output, and after [ShellOK.OutSize] bytes
// of it come those of standard error.
const CapShellRun = "shell.run"

// The shells that run commands.
const (
	ShellBash       = "bash"
	ShellPowerShell = "powershell"
)

// ShellArgs are the arguments of shell.run.
type ShellArgs struct {
	// Command is what runs, byte for byte.
	Command string `json:"command"`
	// Shell is one of the shells; empty is [ShellBash].
	Shell string `json:"shell,omitempty"`
	// Timeout is in milliseconds; 0 is the host's usual one, and the host's most bounds it.
	Timeout int64 `json:"timeout_ms,omitempty"`
	// Description says in a few words what the command does, for people.
	Description string `json:"description,omitempty"`
	// Background starts the command as a task and answers at once.
	Background bool `json:"background,omitempty"`
	// Unsandboxed asks to run outside the sandbox, which rules and a person decide.
	Unsandboxed bool `json:"unsandboxed,omitempty"`
	// Separate keeps standard error apart. Without it both are one text, as they came.
	Separate bool `json:"separate,omitempty"`
}

// Why a command is a task in the background now.
const (
	// BackgroundAsked is that the call said so.
	BackgroundAsked = "asked"
	// BackgroundTimeout is that it reached its time limit.
	BackgroundTimeout = "timeout"
	// BackgroundBudget is that it held the conversation up for as long as it may.
	BackgroundBudget = "budget"
	// BackgroundPerson is that a person moved it.
	BackgroundPerson = "person"
)

// ShellOK is the answer to shell.run.
type ShellOK struct {
	// Exit is the exit status, 128 and the signal's number where a signal ended the
	// command; it says nothing where Task is set.
	Exit int `json:"exit"`
	// Signal is the name of the signal that ended it, such as SIGKILL.
	Signal string `json:"signal,omitempty"`
	// TimedOut says that it was ended at its time limit, of Timeout milliseconds.
	TimedOut bool  `json:"timed_out,omitempty"`
	Timeout  int64 `json:"timeout_ms,omitempty"`
	// Limit names what it was ended for using too much of: "memory", "processes",
	// "output" or "cpu"; LimitText says it with the figure.
	Limit     string `json:"limit,omitempty"`
	LimitText string `json:"limit_text,omitempty"`
	// Program is the one whose exit status this is, where that can be told without
	// running the command.
	Program string `json:"program,omitempty"`
	// Task is the id of the background task that the command is, and Background why.
	Task       string `json:"task,omitempty"`
	Background string `json:"background,omitempty"`
	// OutputFile holds the bytes of the output as they came, absolute; it is empty where
	// the body tells them all and nothing of them is kept.
	OutputFile string `json:"output_file,omitempty"`
	// Kept counts the bytes that OutputFile holds where these are not all: the first ones
	// of an output that was too long to be kept, or too long for the disk.
	Kept int64 `json:"kept,omitempty"`
	// OutSize and ErrSize count the bytes of the body. ErrSize is 0 without Separate.
	OutSize int64 `json:"out_size"`
	ErrSize int64 `json:"err_size,omitempty"`
	// Bytes counts the bytes that the command wrote, Lines its line ends, Invalid the
	// bytes that are no UTF-8 and stand as U+FFFD in the body.
	Bytes   int64 `json:"bytes"`
	Lines   int64 `json:"lines"`
	Invalid int64 `json:"invalid,omitempty"`
	// MediaType is that of an image, where the output is one.
	MediaType string `json:"media_type,omitempty"`
	// Cwd is the shell's directory at the end where it is another than before, and
	// lies in the session's directories; Refused is it where it lies elsewhere.
	Cwd     string `json:"cwd,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Left counts processes that the command had left behind, and that were ended.
	Left int `json:"left,omitempty"`
	// Sandboxed says that it ran in a sandbox. Note is for the model where it matters
	// how, such as that what failed may have failed for the sandbox.
	Sandboxed bool   `json:"sandboxed,omitempty"`
	Note      string `json:"note,omitempty"`
	// Duration is in milliseconds.
	Duration int64 `json:"duration_ms"`
}
