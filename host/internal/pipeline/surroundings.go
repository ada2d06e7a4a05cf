package pipeline

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/cron"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/host/internal/worktree"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/plugins"
)

// Host is what the calls of all sessions share.
type Host struct {
	Capabilities map[string]capability.Capability
	// Commands runs commands where Shell is set; Writable are the directories that its
	// sandbox leaves writable beyond a session's own.
	Commands *commands.Runner
	Shell    bool
	Writable []string
	// Past knows what git's history holds, and MaxSearched bounds how many names searches
	// are looked through for.
	Past        *searches.Past
	MaxSearched int
	Rehearsals  *Rehearsals
	// Log takes decisions; nil takes none. With LogRequired, what cannot be logged is
	// refused. LogInputs is how much of the inputs of calls it takes.
	Log         DecisionLog
	LogRequired bool
	LogInputs   audit.Inputs
	Logger      *slog.Logger
	// CallTimeout bounds one call; 0 is no bound.
	CallTimeout time.Duration
	// NoLocks says that calls have no locks.
	NoLocks atomic.Bool
}

// DecisionLog takes decisions. It is safe for concurrent use.
type DecisionLog interface{ Append(e audit.Entry) error }

// Session is what calls need of their session.
type Session struct {
	ID      string
	Host    *Host
	Rules   *rules.State
	Storage *storage.Session
	Files   *filestate.Files
	// Kept are the instances that plugins keep for the session.
	Kept *plugins.Session
	// Worktree is the worktree that the session is in.
	Worktree worktree.Session
	// Notice is what the model is told once, behind the next result.
	Notice atomic.Pointer[string]
	// Walked remembers the hidden and protected paths that were found.
	Walked protected.Memory
	// Declined are hosts that a person did not open to a command when that was offered, by
	// their names. It is not offered again.
	Declined sync.Map
	// Distrust are tools whose claims about themselves were found false.
	Distrust traits.Distrust
	// Cron are the prompts that come by the clock; nil where nothing takes them.
	Cron *cron.Jobs
	// Judge is asked what rules leave open; nil is none.
	Judge gate.Judge
	// Headless reports whether there is nobody to ask for an approval now.
	Headless func() bool
	// Stage says that writes are staged. Unstaged returns why the changes of commands cannot be
	// staged, or nil.
	Stage    bool
	Unstaged func() error
	staged   sync.Once // see showStaged
	// Output, Settings and Unheard are as in [capability.Scope].
	Output   capability.Output
	Settings capability.Settings
	Unheard  bool
	Life     Life
}

// Life is how long a session goes on.
type Life struct {
	// Context ends with the session.
	Context context.Context //nolint:containedctx // it outlasts the calls
	// After runs something that goes on after its call. The session's end ends it.
	After func(ctx context.Context, do func(ctx context.Context))
	// Backgrounds reports whether background tasks may begin.
	Backgrounds func() bool
	// Reachable has others of this user reach the network of the session's commands by dial.
	Reachable func(dial func(ctx context.Context, port int) (net.Conn, error))
}

// Catalog is the tools that a turn finds. It implements [capability.Catalog].
type Catalog interface {
	capability.Catalog
	// Find returns the tool with a name or alias. A call that the model makes must also
	// know how to call it.
	Find(name string, byModel bool) (tool.Tool, error)
	// Skills are those that the session's model may load; nil is none.
	Skills() capability.Skills
	// Unloaded adds to an error in an input how to load the tool's definition, where the
	// model may lack it.
	Unloaded(contract *abi.Tool, err error) error
	// Refer resolves the tool references in a result.
	Refer(content []abi.Block) []abi.Block
}

// Turn is the turn that a call belongs to.
type Turn interface {
	Session() *Session
	Catalog() Catalog
	Files() *filestate.Turn
	// Telling begins what a call tells.
	Telling(index int, use *abi.ToolUse) Teller
	// Ask puts a question about a call to the person. The channel brings one answer,
	// unless ctx ends first.
	Ask(ctx context.Context, callID string, tell Teller, q *gate.Question) <-chan gate.Answer
	// Question puts one of a running call to the person, and waits for the answer or for the
	// end of ctx.
	Question(ctx context.Context, q *Question) (capability.Reply, error)
	// OnInterrupt has do called once the user interrupts the turn, at once if they have,
	// unless stop is called before.
	OnInterrupt(do func()) (stop func())
	// ByModel reports whether the model makes the calls, and not a running call of the
	// session. Above are those, the nearest first.
	ByModel() bool
	Above() []traits.Held
	// ID names the turn, and Caller says who makes its calls.
	ID() string
	Caller() permissions.Caller
	// Claim refuses the id of a call that results could not be matched to.
	Claim(id string) error
	// Ended counts the calls whose effects are applied, and Altered those among them that
	// may have changed anything, such as where paths lead, whatever they locked.
	Ended() *atomic.Int64
	Altered() *atomic.Int64
	// Stopped returns why nothing more of the turn begins; nil while it does.
	Stopped() *string
	// Holds reports whether results wait for a reader, and take memory meanwhile.
	Holds() bool
	// NoteLeftovers says that something of a call goes on after its result.
	NoteLeftovers()
	// Leave takes the result of a call that leaves. It may wait for the reader.
	Leave(l Leaving)
}

// Leaving is the result of a call as it leaves. Fitted is what was done to its size; nil
// where it is short.
type Leaving struct {
	Tell   Teller
	Result *abi.ToolResult
	Fitted *results.Fitted
}

// Teller takes what a call tells about itself. It is safe for concurrent use.
type Teller interface {
	// Listens reports whether anybody listens.
	Listens() bool
	// About sets what the call is called from here on, whose tool it is, and how it is shown,
	// which is nil as long as that is not known.
	About(name, title string, of tool.Server, shown *display.Call)
	// Clocks measure where the call's time goes; nil measures nothing.
	Clocks() *turn.Stopwatch
	Queued(input json.RawMessage)
	// Decided is about the call, or with an operation about a capability call.
	Decided(operation string, d permissions.Decision)
	Hooks(o *hooks.Outcome)
	Rewritten(input json.RawMessage)
	Started()
	Report(p abi.ProgressHead)
	Capability(name string, err error)
	// GitEvent is what a command did, such as a commit, perhaps after the call has ended.
	GitEvent(d capability.GitEvent)
	// News is what a capability call did to the session, perhaps after the call has ended.
	News(n capability.News)
	Persisted(stored *results.Stored)
	// Changed is a change of the session; err says why it was refused.
	Changed(change *abi.Change, err error)
	// Finished is told once. Ran says that the call had its slot.
	Finished(r abi.ToolResult, ran bool)
	Discarded(effects []permissions.Access)
	// Left is the result as it leaves, and Replaced what takes its place in the end, with the
	// file that holds the whole.
	Left(r abi.ToolResult)
	Replaced(r abi.ToolResult, stored *results.Stored)
	// Stopped says why nothing more of the turn begins.
	Stopped(reason string)
	// Abandoned says that what the call left behind did not end in its time.
	Abandoned()
}
