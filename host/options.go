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
	// Tools are the embedder's own tools.
	Tools []NativeTool
	// Capabilities are the embedder's own operations, offered to plugins that declare them.
	Capabilities []capability.Capability
	// Model says what models are offered and can take.
	Model ModelOptions
	// Settings are those that the tool Config reads and sets; nil is none, and then Config is
	// not offered. Like others that are off by default it must be turned on, see
	// [ToolsetOptions].Also.
	Settings capability.Settings
	// Plugins are the plugins beyond the built-in ones, and what runs them.
	Plugins PluginOptions
	// Skills are instructions that models load when they need them.
	Skills SkillOptions
	// Permissions say what calls may do.
	Permissions PermissionOptions
	// Paths are the directories that permissions mean.
	Paths PathOptions
	// Shell runs commands; without it there is no Bash, and nothing runs in the background.
	Shell *Shell
	// Results bound what results may take of a model's context.
	Results ResultOptions
	// Storage says what is kept on disk.
	Storage StorageOptions
	// Limits bound what runs at once, and for how long.
	Limits LimitOptions
	// Observe says who is told about what happens.
	Observe ObserveOptions
}

// ModelOptions say what models are offered and can take.
type ModelOptions struct {
	// Toolset says which tools models are told of.
	Toolset ToolsetOptions
	// Testing offers TestingPermission, a tool that does nothing but ask for a permission.
	Testing bool
	// Todos offers models TodoWrite in place of the tools for tasks that agents share:
	// TaskCreate, TaskGet, TaskUpdate and TaskList. Never are both offered.
	Todos bool
	// Documents says that models take PDF as it is. A PDF of at most 32 MB is then shown as
	// a document block, unless pages of it are named.
	Documents bool
}

// PluginOptions configure plugins: where they are, what they may use, and what runs them.
type PluginOptions struct {
	// Sources are the places to look for plugins besides the built-in ones.
	Sources []plugins.Source
	// Config holds configuration values by plugin and key, each a JSON string, number or
	// boolean. See [Host.Configure].
	Config map[string]map[string]json.RawMessage
	// GrantsFile records which plugins a person granted their capabilities; empty means that
	// nobody granted anything. Granted names plugins that are granted theirs for this host's
	// life.
	GrantsFile string
	Granted    []string
	// Ceilings bound what plugins may use; zero fields are [plugins.DefaultCeilings].
	Ceilings plugins.Limits
	// Workers runs in child processes of this program what should not run in its own: the
	// compiling of modules that are not built in, where a hostile one can then be stopped,
	// and plugins that ask for a process of their own (isolation = "process"). The program
	// must call [Main], whose runners then run the plugins of their ABIs. Runners, Compiler
	// and Isolated take precedence over those of Workers.
	Workers bool
	// Isolate runs every plugin that is not built in in a process of its own.
	Isolate bool
	// Isolated run plugins in a process of their own, one runner for each ABI, such as those
	// of package plugins/worker. Without one, plugins that ask for it are refused. The host
	// closes them.
	Isolated []plugins.Runner
	// Runners run plugins of ABIs beyond the direct one, such as the one of package
	// plugins/extism; one of the direct ABI replaces the host's own. The host closes them.
	Runners []plugins.Runner
	// Compiler compiles the modules of plugins that are not built in, such as the one of
	// package plugins/worker does in child processes; nil compiles them in this process,
	// where a hostile one cannot be stopped.
	Compiler plugins.Compiler
	// Clock and Random answer the capabilities clock.now and random.bytes; nil is the
	// system's. Random must be safe for concurrent use.
	Clock  func() time.Time
	Random io.Reader
}

// PermissionOptions say what calls may do, and how people and judges are asked.
type PermissionOptions struct {
	// Rules, OnlyPolicyRules, ForbiddenModes and Hooks are as in [Settings], until
	// [Host.Apply] replaces them.
	Rules           []permissions.RuleSet
	OnlyPolicyRules bool
	ForbiddenModes  []permissions.Mode
	Hooks           *Hooks
	// Grants are what people allowed beyond single calls; nil is none. They end when they
	// expire or are revoked, by whichever process.
	Grants *grants.List
	// Judge is asked in the mode auto about what the rules leave open, by each session for
	// itself; its zero value is no judge but the built-in one.
	Judge JudgeOptions
	// Remember writes an allow rule that a person gave to the file of the option they took.
	// Without it, rules are only offered for the session.
	Remember func(RememberOption) error
	// RuleTargets are the settings files that Remember can write to.
	RuleTargets map[RuleTarget]string
	// OnceOnly offers people nothing but to allow or deny a call, and to accept or refuse a plan
	// without rules of theirs.
	OnceOnly bool
	// DenyEndsTurn says that a person's plain no is to end the turn. Askers that ask a person
	// go by it, as [Approval.DenyEndsTurn]; [Reply.EndTurn] is what counts.
	DenyEndsTurn bool
}

// PathOptions are the directories that permissions mean.
type PathOptions struct {
	// Home is the home directory in rules such as Read(~/notes), and where the protected paths
	// of a home lie, such as ~/.ssh. Of all homes below /home, and of /root, it is also the one
	// that commands in a sandbox on Linux see, as far as nothing in it is hidden. Empty means
	// that no rule can name a home, that the protected paths of none are known, and that these
	// commands see nothing below /home but the directories that they may write in.
	Home string
	// Project is the project that sessions work in: what grants for a project are about.
	// Empty is none.
	Project string
	// Host are the directories of the host's own settings and plugins; changing anything
	// there asks, whatever the rules allow.
	Host []string
	// TrustedProjects returns the directories of the projects whose settings count. Commands
	// in a sandbox can neither change nor create these settings. Nil is none.
	TrustedProjects func() []string
}

// StorageOptions say what is kept on disk.
type StorageOptions struct {
	// Sessions is the directory that holds the directories of sessions (see [Session.Dir]);
	// empty is none. KeepSessions is how long the directory of an unused session is kept; 0 is
	// 30 days.
	Sessions     string
	KeepSessions time.Duration
	// Keep is how long everything else is kept that nobody uses, such as caches and results,
	// and sessions where KeepSessions is 0. Where it is 0, caches are kept for 30 days, and
	// what is in sessions as long as they. Max bounds the bytes of sessions, and
	// those of caches; 0 is no bound. A host forgets once a day, beside its calls; see package
	// retention.
	Keep time.Duration
	Max  int64
	// History bounds what is kept, in the directories of sessions, of files that tools write
	// over (see [Session.History]); its Make and Logger are the host's. NoHistory keeps
	// nothing.
	History   HistoryOptions
	NoHistory bool
	// Teams is the directory that holds what the agents of a team share (see Caller.Team), such
	// as their tasks; with an empty one each session has tasks of its own.
	Teams string
	// Cron is the directory that holds the durable scheduled prompts of projects; with an empty
	// one, or without [PathOptions].Project, there are none.
	Cron string
	// Worktrees is the directory for the worktrees that sessions make for themselves, of
	// repositories of git (EnterWorktree); with an empty one there are none. They stay when a
	// session ends: see package retention.
	Worktrees string
	// CacheDir keeps compiled plugins between processes; empty keeps none.
	CacheDir string
}

// LimitOptions bound what runs at once, and for how long.
type LimitOptions struct {
	// MaxConcurrent bounds the calls of one turn that run at once, those that they make in
	// turn included; 0 is 10.
	MaxConcurrent int
	// MaxCalls bounds the calls of all sessions that run at once, and MaxPerPlugin those of
	// one plugin among them; 0 is no bound.
	MaxCalls     int
	MaxPerPlugin int
	// MaxHeldResults bounds the memory, in bytes, of a turn's results that wait to be read;
	// 0 is 64 MiB. Beyond it, no further call starts.
	MaxHeldResults int64
	// CallTimeout bounds one call, waiting included; 0 leaves it to the plugins' own limits.
	CallTimeout time.Duration
	// ScanTimeout bounds how long one search, or one read of lines, goes through files. Then
	// it answers with what it has found, and says so. 0 is 20 s.
	ScanTimeout time.Duration
	// Cascade is how far the failure of a call reaches whose tool has the trait.
	Cascade scheduler.Cascade
	// PlainBatches ignores what calls lock: consecutive safe ones run in parallel, every other
	// one alone.
	PlainBatches bool
}

// ObserveOptions say who is told about what happens.
type ObserveOptions struct {
	// Events, if not nil, is told of everything that happens, in all sessions, in the order
	// in which it happens in each turn. It must be quick, and safe for concurrent use;
	// [Event] says what it may rely on.
	Events func(Event)
	// Decisions takes every decision before it takes effect; nil takes none. If it fails, the
	// loss is logged, or with DecisionsRequired the call refused.
	Decisions         DecisionLog
	DecisionsRequired bool
	// DecisionInputs is how much of the inputs of calls the decisions about them carry.
	DecisionInputs audit.Inputs
	// Logger takes what an operator should know; nil discards it.
	Logger *slog.Logger
}

// settings are those that the host begins with.
func (o *Options) settings() *rules.Settings {
	return &rules.Settings{Rules: o.Permissions.Rules, OnlyPolicyRules: o.Permissions.OnlyPolicyRules, ForbiddenModes: o.Permissions.ForbiddenModes, Hooks: o.Permissions.Hooks}
}

// folders are the host's own places. What is written there decides what runs
// later, compiled plugins above all.
func (o *Options) folders() []string {
	folders := slices.Clip(o.Paths.Host)
	if o.Storage.CacheDir != "" {
		folders = append(folders, o.Storage.CacheDir)
	}
	if o.Plugins.GrantsFile != "" {
		folders = append(folders, filepath.Dir(o.Plugins.GrantsFile))
	}
	for _, dir := range []string{o.Storage.Sessions, o.Storage.Teams, o.Storage.Cron, o.Storage.Worktrees} {
		if dir != "" {
			folders = append(folders, dir)
		}
	}
	if o.Settings != nil {
		folders = append(folders, filepath.Dir(o.Settings.File()))
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
