package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// kept writes the flags that a call is judged and run by, and the rules that came
// with its message, as a command line: for the call to be run again later.
func (f *globalFlags) kept(message []permissions.RuleSet) []string {
	var out []string
	list := func(name string, values []string) {
		for _, v := range values {
			out = append(out, "--"+name+"="+v)
		}
	}
	list("deny", f.deny)
	list("ask", f.ask)
	list("allow", f.allow)
	for _, set := range message {
		for _, r := range set.Deny {
			list("deny", []string{r.Text})
		}
		for _, r := range set.Ask {
			list("ask", []string{r.Text})
		}
	}
	for _, dir := range f.plugins {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		list("plugins", []string{dir})
	}
	list("grant", f.grants)
	if f.isolation != "" {
		list("isolation", []string{f.isolation})
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"no-user", f.noUser}, {"no-project", f.noProject}, {"no-mcp", f.noMCP}, {"claude-settings", f.claude}} {
		if flag.set {
			out = append(out, "--"+flag.name)
		}
	}
	return out
}

// restore adds the flags that kept wrote to those that are given now. Of those given
// now only what tightens counts.
func (f *globalFlags) restore(flags []string) error {
	given := *f
	cmd := &cobra.Command{}
	f.register(cmd)
	if err := cmd.PersistentFlags().Parse(flags); err != nil {
		return err
	}
	f.deny = append(given.deny, f.deny...)
	f.ask = append(given.ask, f.ask...)
	if given.isolation == string(abi.IsolationProcess) {
		f.isolation = given.isolation
	}
	f.approval, f.logLevel, f.timeout = given.approval, given.logLevel, given.timeout
	f.scheduler, f.session, f.mode = given.scheduler, given.session, given.mode
	return nil
}

// globalFlags are the flags that every subcommand takes.
type globalFlags struct {
	ruleFlags
	sourceFlags
	pluginFlags

	cwd       string
	addDirs   []string
	mode      string
	timeout   time.Duration
	approval  string
	scheduler string
	session   string
	logLevel  string
}

// ruleFlags are rules on top of those of the settings.
type ruleFlags struct{ allow, ask, deny []string }

// sourceFlags say whose settings, plugins and MCP servers count.
type sourceFlags struct{ noProject, noUser, noMCP, claude bool }

// pluginFlags say which plugins there are, and what they may.
type pluginFlags struct {
	plugins, grants []string
	isolation       string
}

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
	p.BoolVar(&f.noMCP, "no-mcp", false, "start no MCP servers, and use none")
	p.StringVar(&f.approval, "approval", approveAuto, "how to ask what the rules leave open: auto (at the terminal, if there is one), pipe (on standard error, answers from standard input), later (keep the question: toolquay approvals) or never (deny it)")
	p.StringVar(&f.scheduler, "scheduler", "", "what lets calls run side by side: locks (they touch different things) or batch (they are next to each other, and safe) (default: as the settings say, or locks)")
	p.StringVar(&f.session, "session", "", "go on in the session with this id, with what it keeps: long results, loaded tools (default: a new one)")
	p.StringVar(&f.logLevel, "log-level", "warn", "what to log on standard error: debug, info, warn or error")
}

// The values of --approval.
const (
	approveAuto  = "auto"
	approvePipe  = "pipe"
	approveLater = "later"
	approveNever = "never"
)

func (f *globalFlags) checkApproval() error {
	known := []string{approveAuto, approvePipe, approveLater, approveNever}
	if slices.Contains(known, f.approval) {
		return nil
	}
	return usageError("--approval %q: there are %s", f.approval, strings.Join(known, ", "))
}

// checkIsolation checks the flag --isolation, which is empty where it was not given.
func (f *globalFlags) checkIsolation() error {
	switch abi.Isolation(f.isolation) {
	case "", abi.IsolationSandbox, abi.IsolationProcess:
		return nil
	}
	return usageError("--isolation %q: write %s or %s", f.isolation, abi.IsolationSandbox, abi.IsolationProcess)
}

// maxConcurrency is the variable for how many calls of a turn run at once. It weighs
// as much as a flag.
const maxConcurrency = "TOOLQUAY_MAX_CONCURRENCY"

// fromCommandLine is where a setting stands that a flag makes, or a variable like it.
var fromCommandLine = permissions.Source{Kind: permissions.SourceCommandLine}

// scheduling is what the command line and its environment say of the scheduler.
func (f *globalFlags) scheduling() (s settings.Scheduler, err error) {
	if mode := f.scheduler; mode != "" {
		if !slices.Contains([]string{settings.ByLocks, settings.ByBatch}, mode) {
			return s, usageError("--scheduler %q: write %s or %s", mode, settings.ByLocks, settings.ByBatch)
		}
		s.Mode = settings.Key[string]{Value: mode, Set: true, Source: fromCommandLine}
	}
	if text := os.Getenv(maxConcurrency); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > settings.MaxConcurrent {
			return s, usageError("%s is %.40q: write how many calls may run at once, from 1 to %d", maxConcurrency, text, settings.MaxConcurrent)
		}
		s.MaxConcurrent = settings.Key[int]{Value: n, Set: true, Source: fromCommandLine}
	}
	return s, nil
}

// checkSession refuses ids that people could not tell apart, or type.
func checkSession(id string) error {
	const longest = 128
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	if len(id) > longest || slices.ContainsFunc([]rune(id), odd) {
		return usageError("--session %.140q: an id has at most %d letters, digits, dots, - and _", id, longest)
	}
	return nil
}
