// Package capability is the interface between the host's gate and capabilities, which do
// natively what tools want done to the world. Each of the host's own is a package below
// host/internal/capability and knows no other; an embedder may add more.
//
// A capability answers a request with a plan: the accesses that it would make, and the
// action that makes exactly those. The gate judges the accesses and then does that same
// plan, so nothing is looked up twice between judging and doing.
package capability

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Capability is one operation, or a family of them, done natively by the host.
type Capability interface {
	// Names lists the operations answered, such as "fs.read".
	Names() []string
	// Plan reads the request's arguments and finds out what doing it would
	// touch, without touching it: it may resolve names and hold handles, but
	// reads no content and has no effect. Faults of the request, and files that
	// may not be opened whatever the rules say, are *abi.Error.
	//
	// Where a file is missing Plan still succeeds, with the access that asking
	// about it is; Do then answers abi.CodeNotFound, so that a rule that denies
	// a path also hides whether it exists.
	Plan(ctx context.Context, scope Scope, req abi.Request) (Plan, error)
}

// Scope is what of the session a capability needs to know. It is a value.
type Scope struct {
	// Cwd is the session's working directory: absolute, clean.
	Cwd string
	// Report tells of progress, as a guest would; it does not block, and is never
	// nil. It may be called until Do has returned.
	Report func(abi.Progress)
	// Tell tells those who follow the session what the call did to it; it is never nil.
	Tell func(News)
	// Unheard says that nobody shows the person what is told, so that no message reaches them.
	Unheard bool
	// Tools lists the tools of the session; nil where there is no session.
	Tools Catalog
	// Call is the tool call that the request is made for.
	Call Call
	// Rehearse has Do answer what it would, without any effect: nothing is written,
	// and the session learns nothing. A capability that cannot do without effects
	// fails with [abi.CodeUnsupported].
	Rehearse bool
	// Files is what the session's model has seen of files; nil where nobody keeps
	// it, and then files may be written that were not read.
	Files Knowledge
	// Own is what the call itself has read of files, whether or not the model is shown
	// it: a write that expects the hash of content in it needs nothing else. It is nil
	// where writes stand on what the model has seen alone, as those of the tools in the
	// box do.
	Own Knowledge
	// History keeps what files were before they are written; nil keeps nothing.
	History History
	// Stage holds what is written until a person applies it; nil is none, and then
	// writes change the disk.
	Stage Stage
	// Shell runs commands for the session; nil is none.
	Shell Shell
	// Person is asked what the call cannot go on without, by [Plan].Do alone; nil in a
	// rehearsal, and where there is no session.
	Person Person
	// PlanMode is the mode plan of the session, and PlanFile what its plan lies in; nil where
	// there is no session.
	PlanMode PlanMode
	PlanFile PlanFile
	// Worktrees has the session work in a worktree of its own; nil where there is no session.
	Worktrees Worktrees
	// Lists are the lists of work that the call has; nil is none.
	Lists Lists
	// Cron are the prompts that come by the clock; nil where nothing takes them.
	Cron Cron
	// Tasks are those of the session in the background; nil is none, and then commands
	// end at their time limit.
	Tasks Tasks
	// Output takes the structured output that the session was begun for; nil where it was
	// begun for none.
	Output Output
	// Settings are those that calls may read and set; nil is none.
	Settings Settings
	// Skills are those that may be loaded; nil is none.
	Skills Skills
}

// Catalog knows which tools a session offers its model.
type Catalog interface {
	// List lists them in the order in which they are offered.
	List() (ToolList, error)
}

// ToolList is what a [Catalog] offers a model at one moment.
type ToolList struct {
	// Deferred are the tools that the model knows by name alone, and Ready the names of
	// the others.
	Deferred []abi.DeferredTool
	Ready    []string
	// Pending are the names of the MCP servers whose tools are still to come, sorted.
	Pending []string
}

// Plan is a capability call that is understood and not yet done.
type Plan interface {
	// Accesses lists everything that Do would touch, resolved.
	Accesses() []permissions.Access
	// Do does it. Where a plan finds out on the way what it touches, as a
	// search does, it asks judge about each and leaves out what is refused;
	// judge is safe for concurrent use. Do is called at most once.
	Do(ctx context.Context, judge Judge) (abi.Answer, error)
	// Close frees what Plan took hold of. It is called once, after Do or
	// instead of it.
	Close() error
}

// Described is a plan that says in words what a person is asked about, beside the input.
type Described interface {
	Plan
	// Describe is the text, of any length; empty is none.
	Describe() string
}

// Walker is a plan that goes through directories and would ask about many files of
// one.
type Walker interface {
	Plan
	// Through gives it the judgement of directories. It is called before Do, or not at
	// all: then the plan asks about each file.
	Through(judge JudgeDir)
}

// JudgeDir reports whether a plan may go through a directory, which is an access with
// Tree, and prepares the judgement of the files in it: plain is true of names that are
// allowed like the directory. About others, and about all where plain is nil, the plan
// asks its [Judge]. Both functions are safe for concurrent use.
type JudgeDir func(dir permissions.Access) (ok bool, plain func(name string) bool)

// Judge reports whether one more access of a running plan is allowed. It never
// asks a person: what would need one is refused.
type Judge func(permissions.Access) bool
