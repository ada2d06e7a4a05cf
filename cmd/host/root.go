package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
)

// app is what every subcommand has: the three streams and the flags that all
// of them take.
type app struct {
	in       *os.File
	out, err *ui.Printer
	signals  *signals
	flags    globalFlags
}

// globalFlags are the flags that every subcommand takes.
type globalFlags struct {
	cwd              string
	addDirs          []string
	mode             string
	allow, ask, deny []string
	plugins          []string
	grants           []string
	timeout          time.Duration
	isolation        string
	noProject        bool
	noUser           bool
	approval         string
	scheduler        string
	session          string
	claude           bool
	logLevel         string
}

func rootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolquay",
		Short: "Run the tool calls of language models through WebAssembly plugins",
		Long: `Toolquay runs the tool calls that a language model asks for. Every tool is a
WebAssembly plugin; whatever one does to the world passes permission rules.

    toolquay run turn.json                      the calls of a model's message
    toolquay call Read '{"file_path": "go.mod"}'  one call
    toolquay tools --format anthropic           what to tell the model
    toolquay doctor                             what is found where, and wrong`,
		Args:          cobra.NoArgs,
		RunE:          help,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetOut(a.out)
	root.SetErr(a.err)
	a.flags.register(root)
	root.AddCommand(
		runCommand(a), callCommand(a), toolsCommand(a), pluginsCommand(a), trustCommand(a),
		permissionsCommand(a), approvalsCommand(a), tasksCommand(a), historyCommand(a), stageCommand(a), doctorCommand(a), versionCommand(a), workerCommand(), exitCodesHelp(),
	)
	return root
}

// help is what a command does that only has subcommands. Without it a misspelt
// subcommand would be taken for an argument and pass in silence.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func (f *globalFlags) register(root *cobra.Command) {
	p := root.PersistentFlags()
	p.StringVar(&f.cwd, "cwd", "", "work in this directory instead of the current one")
	p.StringArrayVar(&f.addDirs, "add-dir", nil, "a further directory to work in (repeatable)")
	p.StringVar(&f.mode, "mode", "", "permission mode: default, plan, acceptEdits, auto, bypassPermissions or dontAsk")
	p.StringArrayVar(&f.allow, "allow", nil, "an allow rule, such as 'Read(~/notes/**)' (repeatable)")
	p.StringArrayVar(&f.ask, "ask", nil, "an ask rule (repeatable)")
	p.StringArrayVar(&f.deny, "deny", nil, "a deny rule, such as 'Read(.env)' (repeatable)")
	p.StringArrayVar(&f.plugins, "plugins", nil, "a plugin (a folder or a .wasm file), or a directory of plugins, for this run; they shadow others of the same name (repeatable)")
	p.StringArrayVar(&f.grants, "grant", nil, "grant a plugin what it asks for, for this run (repeatable)")
	p.DurationVar(&f.timeout, "timeout", 0, "the longest one call may take, such as 30s (default: what its plugin may)")
	p.StringVar(&f.isolation, "isolation", "", "what walls plugins that are not built in run behind: sandbox (as each plugin asks) or process (every one in a process of its own) (default: as the settings say, or sandbox)")
	p.BoolVar(&f.claude, "claude-settings", false, "read the permission lists of ~/.claude/settings.json too; those of a project are read in any case")
	p.BoolVar(&f.noProject, "no-project", false, "ignore the project's settings and plugins")
	p.BoolVar(&f.noUser, "no-user", false, "ignore the user's settings and plugins")
	p.StringVar(&f.approval, "approval", approveAuto, "how to ask what the rules leave open: auto (at the terminal, if there is one), pipe (on standard error, answers from standard input), later (keep the question: toolquay approvals) or never (deny it)")
	p.StringVar(&f.scheduler, "scheduler", "", "what lets calls run side by side: locks (they touch different things) or batch (they are next to each other, and safe) (default: as the settings say, or locks)")
	p.StringVar(&f.session, "session", "", "go on in the session with this id, with what it keeps: long results, loaded tools (default: a new one)")
	p.StringVar(&f.logLevel, "log-level", "warn", "what to log on standard error: debug, info, warn or error")
}

// logger logs to standard error. The handler quotes what does not print.
func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.flags.logLevel)); err != nil {
		return nil, usageError("--log-level %q: write debug, info, warn or error", a.flags.logLevel)
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime})), nil
}

func withoutTime(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attr
}
