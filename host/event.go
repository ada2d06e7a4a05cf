package host

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/permissions"
)

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of event; see [Event] for the order in which they come.
const (
	// EventQueued: the call was submitted.
	EventQueued EventKind = "queued"
	// EventDecided: a permission decision was made, at either gate.
	EventDecided EventKind = "decided"
	// EventQuestion: a person is asked, for an approval or more, and has not answered yet.
	EventQuestion EventKind = "question"
	// EventAnswered: a question that is no approval is over, with an answer or without. It is
	// not told where the call has ended before. What comes of an approval is an EventDecided.
	EventAnswered EventKind = "answered"
	// EventHook: a hook was run.
	EventHook EventKind = "hook"
	// EventRewritten: a hook or the person wrote another input.
	EventRewritten EventKind = "rewritten"
	// EventStarted: the tool runs.
	EventStarted EventKind = "started"
	// EventGit: a command did something worth knowing, such as a commit. If it did that in
	// the background, after its call had ended, the event is of no turn, as an EventTask.
	EventGit EventKind = "deed"
	// EventCapability: a capability call ended.
	EventCapability EventKind = "capability"
	// EventProgress and EventLog: the tool reports.
	EventProgress EventKind = "progress"
	EventLog      EventKind = "log"
	// EventFinished: the call ended; its result waits for those before it.
	EventFinished EventKind = "finished"
	// EventResult: the call's one result. Results come in call order.
	EventResult EventKind = "result"
	// EventChanged: the call changed the session or, with an Err, was refused to. Results
	// name the changes that were made only; those of [EventFinished] may still be refused.
	EventChanged EventKind = "changed"
	// EventMessage: a hook or, with Said, the model has something to say to the person.
	EventMessage EventKind = "message"
	// EventTodos: an agent's list of todos has changed.
	EventTodos EventKind = "todos"
	// EventWork: one of the work items that agents share has changed. Like EventTodos and
	// EventOutput it is of no turn where its call has its result.
	EventWork EventKind = "work"
	// EventOutput: the session has the structured output that it was begun for, or another one.
	EventOutput EventKind = "output"
	// EventWorktree: the session has entered a worktree of git, or left it.
	EventWorktree EventKind = "worktree"
	// EventMode: the session's permission mode has changed. It is of no turn.
	EventMode EventKind = "mode"
	// EventCron: a scheduled prompt came due, and is about to be taken. It is of no turn.
	EventCron EventKind = "cron"
	// EventStop: the model is not to go on after this turn.
	EventStop EventKind = "stop"
	// EventPersisted: a result was over its limit and lies in the session's directory.
	EventPersisted EventKind = "persisted"
	// EventReplaced: the results of the turn are too much together, and this one's
	// place is taken by a shorter one. These come when the last result has left.
	EventReplaced EventKind = "replaced"
	// EventInterruptible: whether an interrupt would end all that runs has changed.
	EventInterruptible EventKind = "interruptible"
	// EventDiscarded: the call's turn was discarded, and it has no result.
	EventDiscarded EventKind = "discarded"
	// EventAbandoned: what a call left behind did not end in its time.
	EventAbandoned EventKind = "abandoned"
	// EventTools: other tools are offered from the next turn on. It is of no turn, and of
	// every session unless it names one.
	EventTools EventKind = "tools"
	// EventPlugin: a plugin that was added or changed cannot be used. It is of no turn.
	EventPlugin EventKind = "plugin"
	// EventTask: a background task of a session began or ended. It is of no turn, but
	// says in CallID and Tool which call the task comes from.
	EventTask EventKind = "task"
	// EventTurn and EventTurnEnded: a turn began, or ended with its last result.
	EventTurn      EventKind = "turn"
	EventTurnEnded EventKind = "turn_ended"
)

// Event is one thing that happened in a turn, or beside all turns. Fields that do not apply to its
// kind are zero.
//
// Who ranges over a turn and who observes the host ([ObserveOptions.Events]) are told the
// same of it, and may rely on this:
//
//   - The first event of a turn is EventTurn. The last is EventTurnEnded, which is
//     observed before Run, Results, or the loop over a stream's events returns. Only
//     the events of what a call left behind can follow: EventAbandoned, and, for
//     observers, the EventCapability of a capability call that did not stop.
//   - Each call has one EventQueued, one EventStarted if its tool runs, and at its end
//     EventFinished and one EventResult; where the turn was discarded, an EventDiscarded
//     takes the place of its EventResult.
//   - EventQueued comes first. Before EventStarted come EventDecided, EventQuestion,
//     EventHook and EventRewritten, as often as the input is rewritten. After it come
//     EventProgress, EventGit, the EventHook of hooks that are asked about a task, EventTodos,
//     EventWork, EventOutput, EventWorktree, EventMessage with Said, EventQuestion and
//     EventAnswered for what the tool asks, and of each capability call its EventDecided,
//     EventQuestion and EventCapability, in any number; then EventHook for the hooks after the
//     call, and EventPersisted. Then come EventFinished and EventResult, and last
//     EventReplaced. EventChanged comes after EventFinished, before EventResult or after it;
//     with an EventWorktree it comes before EventFinished. EventMessage and EventStop come with
//     the hook or the answer that caused them. EventLog comes at any time before EventFinished,
//     even before EventQueued.
//   - Results come in call order. Other events of different calls come as they happen,
//     in one order for the whole turn.
//   - Nothing is left out, but for progress and logs: at most ten of them a second and
//     call, and of those the oldest where a reader of the turn does not keep up.
//   - Calls made by calls are turns of their own, with Parent and Depth.
//
// What is of no turn has an empty Turn, and observers alone are told. EventPlugin, and
// EventTools where no session is named, are of the host. What goes on in a session's background comes at any time, in one order for
// the session: a task's EventTask when it began, its git events, and, when nothing of it is
// left, the EventTask of its end. Of a task that had ended before the session was opened
// there is none. All is told before [Session.Close] returns, which an observer
// therefore must not call.
//
// An observer is called for one event of a turn at a time, on the goroutine of
// whatever happened, and for different turns at once. It may use the turn, as to
// interrupt it, but must not wait for its end: while it does not return, the call at
// hand stands still and further events of the turn are kept for it. So it hands on what
// takes long, such as what goes over a network. If it panics the log is told, and calls
// and later events are as if it had not. If it ends its goroutine, later events come on
// another one, and the call that ended with it fails. What an event points to is shared with the
// host and is not to be changed.
type Event struct {
	Kind EventKind
	Time time.Time
	// Session and Turn name where it happened.
	Session string
	Turn    string
	// Caller says who made the calls of the turn. Of a session's background work, which is of
	// no turn, it is who makes the session's own calls.
	Caller
	// Index is the call's position in its turn, CallID its id, Tool its tool's
	// name.
	Index  int
	CallID string
	Tool   string
	// Server is the MCP server that the tool is of, and that server's name for it, with all
	// events of such a call from EventQueued on.
	Server ToolServer
	// Title is one line for people: what the call is about.
	Title string
	// Line is one line for people, to be shown behind the tool's name, as the tool has it (see
	// [abi.Lines]): what the call does or waits to do, with EventQueued, EventQuestion,
	// EventRewritten and EventStarted; how far it has come, with EventProgress; what came of
	// it, or why nothing did, with EventFinished and EventResult, where it may be empty. It is
	// safe to show: what does not show as itself is written as an escape.
	Line string
	// Input is the canonical input, with EventQueued and EventRewritten.
	Input json.RawMessage
	// Elapsed is the time since the call was queued, with EventStarted; since
	// it started, or was refused, with the events that follow.
	Elapsed time.Duration

	Decision *permissions.Decision
	// Question is what is asked, with EventQuestion and EventAnswered, and Answer what was
	// answered, with EventAnswered; empty is none, and Err says why.
	Question *Question
	Answer   Answer
	// Capability is the operation, and Err why it failed or nil, with
	// EventCapability.
	Capability string
	Err        error
	Progress   *Progress
	Log        *abi.Log
	Result     *abi.ToolResult
	Change     *abi.Change
	Hook       *HookRecord
	// Reason is for people, with EventMessage and EventStop. Said is where the model says it.
	Reason string
	Said   *capability.Said
	// Todos, Work, Output and Mode are the news, with the events of these names.
	Todos  *capability.TodosNews
	Work   *capability.WorkNews
	Output json.RawMessage
	Mode   *capability.ModeNews
	// Cron is the prompt, with EventCron.
	Cron *capability.DuePrompt
	// Worktree is the worktree, with EventWorktree.
	Worktree *capability.WorktreeNews
	// Stored is where the whole result lies, with EventPersisted and EventReplaced.
	Stored *StoredResult
	// Interruptible is the news, with EventInterruptible.
	Interruptible bool
	// Effects are what was done, reads left out, with EventDiscarded.
	Effects []permissions.Access
	// Clocks are where the time went, with EventFinished.
	Clocks *Clocks
	// Tools are what changed, with EventTools.
	Tools *ToolsChange
	// Plugin is what cannot be used, with EventPlugin.
	Plugin *PluginProblem
	// Git is what a command did, with EventGit.
	Git *capability.GitEvent
	// Task is the task as it then is, with EventTask.
	Task *capability.TaskInfo
	// Context is that of the turn, with EventTurn: it has the values of the one that the turn
	// was begun with, such as a span.
	Context context.Context //nolint:containedctx // it carries values, and ends nothing
}

// PluginProblem is a plugin that cannot be used, where it lies, and why.
type PluginProblem struct {
	Name, Path string
	Err        error
}

// Progress is how far a call has come: what it last told, and its output so far.
type Progress struct {
	abi.Progress
	// Tail is the end of the whole output so far, at most maxTail bytes of it; Lines
	// and Bytes count all of it.
	Tail  string
	Lines int64
	Bytes int64
}

// Clocks are where a call's time went. They need not add up: capabilities may run
// side by side with the guest.
type Clocks struct {
	// Queued is until its turn came, Person while a person was asked, Running in a
	// slot, with what follows.
	Queued, Person, Running time.Duration
	// Guest is in the tool itself, and Capability while at least one capability call
	// was under way, without asking.
	Guest, Capability time.Duration
}

// ToolsChange is how the offered tools changed, each list by name.
type ToolsChange struct {
	Added, Changed, Removed []string
}

// classify tells what an event means to a turn's feed.
func classify(e *Event) (turn.Kind, int64) {
	switch e.Kind {
	case EventProgress, EventLog:
		return turn.Report, 0
	case EventResult:
		return turn.Result, pipeline.HeldBy(e.Result)
	}
	return turn.Plain, 0
}

// observe passes one event on to the embedder. A panic of theirs does not fail the call
// that it is about.
func (h *Host) observe(e Event) {
	if h.options.Observe.Events == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			h.options.Observe.Logger.Error("the observer of events panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	h.options.Observe.Events(e)
}
