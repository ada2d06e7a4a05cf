package host

import (
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/grants"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/scheduler"
)

// Options configure a [Host]. The zero value is a host without any tool.
type Options struct {
	// Builtins offers the tools that come with Toolquay.
	Builtins bool
	// Plugins are the places to look for further plugins.
	Plugins []plugins.Source
	// Runners run plugins of ABIs beyond the direct one, such as the one of
	// package plugins/extism; one of the direct ABI takes the place of the host's own.
	// The host closes them.
	Runners []plugins.Runner
	// Workers runs in child processes of this program what should not run in its own: the
	// compiling of modules that are not built in, where a hostile one can then be stopped,
	// and plugins that ask for a process of their own (isolation = "process"). The program
	// must call [Main], whose runners then run the plugins of their ABIs. Runners, Compiler
	// and Isolated take precedence over those of Workers.
	Workers bool
	// Compiler compiles the modules of plugins that are not built in, such as the
	// one of package plugins/worker does in child processes; nil compiles them in
	// this process, where a hostile one cannot be stopped.
	Compiler plugins.Compiler
	// Isolated run plugins in a process of their own, one runner for each ABI,
	// such as those of package plugins/worker. Without one, plugins that ask for
	// it (isolation = "process") are refused. The host closes them.
	Isolated []plugins.Runner
	// Isolate runs every plugin that is not built in so, whatever it asks for.
	Isolate bool
	// ConsentFile records which plugins a person granted what they ask for;
	// empty means that nobody granted anything.
	ConsentFile string
	// Granted names plugins whose capabilities are granted for this host's life.
	Granted []string
	// PluginConfig holds configuration values by plugin and key, each a JSON string,
	// number or boolean. See [Host.Configure].
	PluginConfig map[string]map[string]json.RawMessage
	// Ceilings bound what plugins may use; zero fields are
	// [plugins.DefaultCeilings].
	Ceilings plugins.Limits
	// CacheDir keeps compiled plugins between processes; empty keeps none.
	CacheDir string

	// Tools are the embedder's own tools.
	Tools []NativeTool
	// Documents says that models take PDF as it is: a PDF of which no pages are
	// named is then shown as a document block, where it is not over 32 MB.
	Documents bool

	// Shell has commands run: without it there is no Bash, and nothing runs in the
	// background.
	Shell *Shell
	// TrustedProjects returns the folders of the projects whose settings count: commands in
	// a sandbox can neither change nor make these. Nil is none.
	TrustedProjects func() []string

	// Capabilities are the embedder's own operations, offered to plugins that
	// declare them.
	Capabilities []capability.Capability
	// Clock and Random are where the capabilities clock.now and random.bytes have time
	// and random numbers from; nil is the system. Random must be safe for concurrent use.
	Clock  func() time.Time
	Random io.Reader

	// Rules, OnlyPolicyRules, ForbiddenModes and Hooks are as in [Settings], until
	// [Host.Apply] brings others.
	Rules           []permissions.RuleSet
	OnlyPolicyRules bool
	ForbiddenModes  []permissions.Mode
	Hooks           *Hooks
	// Grants are what people allowed beyond single calls; nil is none. They end
	// where they expire or are revoked, by whichever process.
	Grants *grants.List
	// Remember keeps an allow rule that a person gave, in the file of the offer
	// they took. Without it they are only offered to allow for the session.
	Remember func(Offer) error
	// Places are the settings files that Remember can write to, by scope.
	Places map[Scope]string
	// OnceOnly offers people nothing but to allow or deny a call.
	OnceOnly bool
	// ProjectRoot is the project that sessions work in: what grants for a project
	// are about. Empty is none.
	ProjectRoot string
	// Log takes every decision before it takes effect; nil takes none. Where it
	// fails and LogRequired is set, the call is refused, else the loss is logged.
	Log         DecisionLog
	LogRequired bool
	// Judge is asked in the mode auto about what the rules leave open, by each
	// session for itself; its zero value is no judge but the built-in one.
	Judge JudgeOptions
	// DenyEndsTurn says that a person's plain no is to end the turn. Askers that ask a
	// person go by it, as [Approval.DenyEndsTurn]; [Reply.EndTurn] is what counts.
	DenyEndsTurn bool
	// Home is the home directory that rules such as Read(~/notes) mean; empty
	// means that no rule can name it.
	Home string
	// HostFolders hold the host's own settings and plugins; changing anything
	// there asks, whatever the rules allow.
	HostFolders []string

	// MaxConcurrent bounds the calls of one turn that run at once, those that they
	// make in turn included; 0 is 10.
	MaxConcurrent int
	// MaxCalls bounds the calls of all sessions that run at once, and MaxPerPlugin
	// those of one plugin among them; 0 is no bound.
	MaxCalls     int
	MaxPerPlugin int
	// MaxHeldResults bounds the memory, in bytes, of a turn's results that wait to
	// be read; 0 is 64 MiB. Where they hold more, calls wait for their start.
	MaxHeldResults int64
	// Cascade is how far the failure of a call reaches whose tool has the trait.
	Cascade scheduler.Cascade
	// PlainBatches takes no notice of what calls lock: consecutive safe ones run
	// side by side, every other one alone.
	PlainBatches bool
	// Results bound what results may take of a model's context.
	Results ResultOptions
	// Sessions is the directory that holds the directories of sessions (see
	// [Session.Dir]); empty is none. KeepSessions is how long the directory of an
	// unused session is kept; 0 is 30 days.
	Sessions     string
	KeepSessions time.Duration
	// History bounds what is kept, in the directories of sessions, of files that tools
	// write over (see [Session.History]); its Make and Logger are the host's.
	// NoHistory keeps nothing.
	History   HistoryOptions
	NoHistory bool
	// Offer says which tools models are told of.
	Offer Offering
	// Observe, if not nil, is told of everything that happens, in all sessions, in
	// the order in which it happens in each turn. It must be quick, and safe for
	// concurrent use; [Event] says what it may rely on.
	Observe func(Event)
	// CallTimeout bounds one call, waiting included; 0 leaves it to the
	// plugins' own limits.
	CallTimeout time.Duration
	// ScanTimeout bounds how long one search, or one read of lines, goes through files.
	// Then it answers with what it has found, and says so. 0 is 20 s.
	ScanTimeout time.Duration
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// settings are those that the host begins with.
func (o *Options) settings() *rules.Settings {
	return &rules.Settings{Rules: o.Rules, OnlyPolicyRules: o.OnlyPolicyRules, ForbiddenModes: o.ForbiddenModes, Hooks: o.Hooks}
}

// folders are the host's own places. What is written there decides what runs
// later, compiled plugins above all.
func (o *Options) folders() []string {
	folders := slices.Clip(o.HostFolders)
	if o.CacheDir != "" {
		folders = append(folders, o.CacheDir)
	}
	if o.ConsentFile != "" {
		folders = append(folders, filepath.Dir(o.ConsentFile))
	}
	if o.Sessions != "" {
		folders = append(folders, o.Sessions)
	}
	return folders
}

// DecisionLog takes decisions, such as an [audit.Log]. It is safe for concurrent
// use.
type DecisionLog interface {
	// Append keeps a decision. When it returns nil the decision is not lost with
	// the process.
	Append(e audit.Entry) error
}
