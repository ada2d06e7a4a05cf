package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Event names a moment in a call.
type Event string

// The events.
const (
	// PreToolUse is before the permission of a call is decided.
	PreToolUse Event = "PreToolUse"
	// PostToolUse is after a call that ran to its end, whatever its result.
	PostToolUse Event = "PostToolUse"
	// PostToolUseFailure is after a call that could not: it trapped, ran out of
	// time, was cancelled, or the host failed.
	PostToolUseFailure Event = "PostToolUseFailure"
	// TaskCreated is before a task of the list that agents share comes to be, and
	// TaskCompleted before one is completed. Where a hook of theirs denies or fails, the call
	// that wanted it fails, and nothing has changed.
	TaskCreated   Event = "TaskCreated"
	TaskCompleted Event = "TaskCompleted"
	// WorktreeCreated is when a worktree was made for a session, which has not moved there yet, or
	// is to be made by a hook as there is no git repository. Where a hook denies or fails, the
	// worktree is removed. WorktreeRemoved is when one is gone, whatever hooks say.
	WorktreeCreated Event = "WorktreeCreated"
	WorktreeRemoved Event = "WorktreeRemoved"
)

// Events lists the events.
func Events() []Event {
	return []Event{PreToolUse, PostToolUse, PostToolUseFailure, TaskCreated, TaskCompleted, WorktreeCreated, WorktreeRemoved}
}

// during reports whether an event comes while a call runs.
func (e Event) during() bool { return e.ofTask() || e == WorktreeCreated || e == WorktreeRemoved }

// ofTask reports whether an event is about a task.
func (e Event) ofTask() bool { return e == TaskCreated || e == TaskCompleted }

// DefaultTimeout is how long a hook may run that does not say.
const DefaultTimeout = 60 * time.Second

// Func is a hook written in Go. It must return soon after ctx is done: one that
// does not is left behind, as nothing can end it, and counts as failed. A panic
// counts as a failure. It may be called from several goroutines at once, and must
// change nothing that it reaches through the Input.
type Func func(ctx context.Context, in Input) (Output, error)

// Hook is one hook as it is configured: exactly one of Command, Shell and Func.
type Hook struct {
	Event Event
	// Matcher says for which tools, by their names or aliases: a name, several
	// with | between them, each with any number of * for any characters. Empty
	// is all tools.
	Matcher string

	// Command is a program with its arguments. A program without a slash is
	// looked up in the host's PATH; a relative one needs a Dir.
	Command []string
	// Shell is a line that is run by sh -c.
	Shell string
	Func  Func

	// Name is for messages and records. Without it commands are named by their
	// first word or line.
	Name string
	// Timeout is how long it may run; 0 is [DefaultTimeout].
	Timeout time.Duration
	// Dir is where a command starts, absolute. Without it that is
	// [Options.Project], or else the session's working directory, which the model
	// may have changed.
	Dir string
	// Env names variables of [Options.Environ] that the command gets besides those
	// that all get.
	Env []string
	// Source is where the hook is configured.
	Source permissions.Source
}

// Options are what the hooks of a set share.
type Options struct {
	// Environ is the environment that commands get their part of, in the form of
	// os.Environ. No variable of this process's own is passed on unless it is here.
	Environ []string
	// Project is the project's root, absolute; empty where there is none.
	Project string
}

// Input is what a hook is told of a call. The set sets Event; the result or
// error are those of the event.
type Input struct {
	Event     Event
	SessionID string
	// TurnID is the turn's, and Caller says who makes the call.
	TurnID string
	permissions.Caller
	// Cwd is the session's working directory, absolute.
	Cwd  string
	Mode permissions.Mode
	// Tool is the tool's name, and Aliases its other names.
	Tool    string
	Aliases []string
	// ToolInput is the call's input, canonical.
	ToolInput json.RawMessage
	ToolUseID string
	// Plugin offers the tool; empty for a tool of the embedder's.
	Plugin string
	// Server is the MCP server that the tool is of, and ServerTool that server's name for
	// it; empty for tools of no server.
	Server, ServerTool string
	// Binding is the hash of the input and the tool's definition.
	Binding string
	// Result is what the call came to, with PostToolUse.
	Result *abi.ToolResult
	// Err is why the call could not run to its end, with PostToolUseFailure.
	Err error
	// Task is the task as it is to be, with TaskCreated and TaskCompleted.
	Task *abi.WorkItem
	// Worktree is the worktree, with WorktreeCreated and WorktreeRemoved.
	Worktree *Worktree
}

// Worktree is a worktree as hooks are told of it.
type Worktree struct {
	// Name is the one that the model gave it or that was made up, and Path where it lies.
	Name string `json:"worktree_name"`
	Path string `json:"worktree_path"`
	// Branch is its branch, and Main the main worktree of the repository.
	Branch string `json:"worktree_branch,omitempty"`
	Main   string `json:"main_worktree_path"`
}

// hook is a Hook that was found to be right.
type hook struct {
	Hook
	matcher matcher
	options *Options
}

// compile checks a hook. It finds all faults that can be told before it runs: a
// guard that never works is worse than one that is refused.
func compile(h Hook, o *Options) (*hook, error) {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !slices.Contains(Events(), h.Event) {
		fault("unknown event %q; there are %s", h.Event, strings.Trim(fmt.Sprint(Events()), "[]"))
	}
	m, err := parseMatcher(h.Matcher)
	if err != nil {
		fault("matcher %q: %w", h.Matcher, err)
	}
	if err := checkAction(&h, o); err != nil {
		errs = append(errs, err)
	}
	if h.Timeout < 0 {
		fault("a time limit of %v; it must be more than 0", h.Timeout)
	}
	if h.Dir != "" && !filepath.IsAbs(h.Dir) {
		fault("the directory %q is not absolute", h.Dir)
	}
	for _, name := range h.Env {
		if name == "" || strings.ContainsAny(name, "=\x00*") {
			fault("%q cannot be a variable's name; name the variables one by one", name)
		}
	}
	h.Timeout = cmp.Or(h.Timeout, DefaultTimeout)
	h.Name = cmp.Or(h.Name, nameOf(&h))
	return &hook{Hook: h, matcher: m, options: o}, errors.Join(errs...)
}

// checkAction checks what a hook does.
func checkAction(h *Hook, o *Options) error {
	actions := 0
	for _, has := range []bool{h.Command != nil, h.Shell != "", h.Func != nil} {
		if has {
			actions++
		}
	}
	if actions != 1 {
		return fmt.Errorf("it has %d of a command, a shell line and a function; it must have one", actions)
	}
	if h.Command == nil {
		return nil
	}
	if len(h.Command) == 0 || h.Command[0] == "" {
		return errors.New("the command has no program")
	}
	program := h.Command[0]
	if program != filepath.Base(program) && !filepath.IsAbs(program) && cmp.Or(h.Dir, o.Project) == "" {
		// The model could go where a program of that name lies.
		return fmt.Errorf("the program %q is relative to the session's working directory; write it absolute, or set a directory", program)
	}
	return nil
}

// maxName bounds a name taken from a command, in code points.
const maxName = 60

func nameOf(h *Hook) string {
	switch {
	case len(h.Command) > 0:
		return filepath.Base(h.Command[0])
	case h.Shell != "":
		line, _, _ := strings.Cut(strings.TrimSpace(h.Shell), "\n")
		if runes := []rune(line); len(runes) > maxName {
			return string(runes[:maxName]) + "..."
		}
		return line
	}
	return "function"
}

// String names the hook and, where it is known, where it is configured.
func (h *Hook) String() string {
	label := fmt.Sprintf("hook %q", h.Name)
	if h.Source.File != "" {
		label += " (" + h.Source.String() + ")"
	}
	return label
}
