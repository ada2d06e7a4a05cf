package host

import "github.com/toolquay/toolquay/host/internal/hooks"

// These types are hooks: commands and Go functions that run before and after calls.
type (
	// Hooks are the hooks of a host, see [PermissionOptions.Hooks] and [CompileHooks].
	Hooks = hooks.Set
	// Hook is one hook: a command, a shell line or a function.
	Hook = hooks.Hook
	// HookFunc is a hook written in Go.
	HookFunc = hooks.Func
	// HookOptions are what all hooks of a set share.
	HookOptions = hooks.Options
	// HookEvent is the moment of a call at which a hook runs.
	HookEvent = hooks.Event
	// HookInput is what a hook is told about a call.
	HookInput = hooks.Input
	// HookOutput is what a hook answers; the zero value is no opinion.
	HookOutput = hooks.Output
	// HookRecord describes one run of a hook.
	HookRecord = hooks.Record
)

// The events of hooks: before the permission of a call is decided, after a call that ran
// to its end, and after one that could not; before a task of the list that agents share comes
// to be, and before one is completed; when a worktree was made for a session, and when one is gone.
const (
	PreToolUse         = hooks.PreToolUse
	PostToolUse        = hooks.PostToolUse
	PostToolUseFailure = hooks.PostToolUseFailure
	TaskCreated        = hooks.TaskCreated
	TaskCompleted      = hooks.TaskCompleted
	WorktreeCreated    = hooks.WorktreeCreated
	WorktreeRemoved    = hooks.WorktreeRemoved
)

// CompileHooks makes a set of hooks, which keep their order. The error reports all faults,
// each with the source of its hook.
func CompileHooks(list []Hook, o HookOptions) (*Hooks, error) { return hooks.Compile(list, o) }
