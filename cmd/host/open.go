package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/host/telemetry/otlp"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/grants"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// setup is what the flags, the user's files and the project's come to.
type setup struct {
	dirs    config.Dirs
	project config.Project
	trust   *config.Trust
	options host.Options
	session host.SessionOptions
	// sources are where the settings were loaded from, and loaded is what they
	// came to.
	sources settings.Options
	loaded  *settings.Loaded
	// own are the settings that tools may read and set; nil where there is no file for them.
	own *config.Own
	// calls says that calls are to be run, whose decisions are logged.
	calls bool
	// servers says that MCP servers are used, also where no calls are run.
	servers bool
	// onlyServer is the only one to start; empty is all. With quietServers the command itself
	// says what becomes of them, and not the log.
	onlyServer   string
	quietServers bool
	// sessionless says that sessions come later, one for each client.
	sessionless bool
	// message are the rules that came with a message.
	message []permissions.RuleSet
}

// setup reads settings and flags and opens nothing. With an error that is the
// settings' fault, the rest of the setup is there all the same, for doctor.
func (a *app) setup() (setup, error) {
	logger, err := a.logger()
	if err != nil {
		return setup{}, err
	}
	scheduling, err := a.flags.scheduling()
	if err := errors.Join(a.flags.checkIsolation(), a.flags.checkApproval(), err); err != nil {
		return setup{}, err
	}
	s := setup{dirs: userDirs()}
	if s.session, err = a.flags.sessionOptions(); err != nil {
		return s, err
	}
	trust, trustErr := config.OpenTrust(s.dirs.Trust())
	if trustErr == nil {
		s.trust = trust
	}
	if s.project, err = config.FindProject(s.session.Cwd, s.trust); err != nil {
		return s, hostError(err)
	}
	err = a.flags.userOptions(&s, logger, scheduling)
	return s, hostError(errors.Join(trustErr, err))
}

// sessionOptions are what the flags say of the session.
func (f *globalFlags) sessionOptions() (host.SessionOptions, error) {
	o := host.SessionOptions{ID: f.session}
	if err := checkSession(o.ID); err != nil {
		return o, err
	}
	if f.mode != "" {
		mode, err := permissions.ParseMode(f.mode)
		if err != nil {
			return o, usageError("--mode: %w", err)
		}
		o.Mode = mode
	}
	var err error
	if o.Cwd, err = filepath.Abs(f.cwd); err != nil {
		return o, hostError(fmt.Errorf("finding the working directory: %w", err))
	}
	if info, err := os.Stat(o.Cwd); err != nil || !info.IsDir() {
		return o, usageError("--cwd: %s is not a directory", o.Cwd)
	}
	for _, dir := range f.addDirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return o, usageError("--add-dir %s: %w", dir, err)
		}
		o.AdditionalDirs = append(o.AdditionalDirs, abs)
	}
	return o, nil
}

// userOptions are the user's and the project's options with the flags' on top.
func (f *globalFlags) userOptions(s *setup, logger *slog.Logger, scheduling settings.Scheduler) error {
	dirs, project := s.dirs, s.project
	if f.noUser {
		dirs.Config = ""
	}
	if f.noProject {
		project = config.Project{}
	}
	s.sources = config.UserSettings(dirs, project)
	if f.claude && s.dirs.Home != "" {
		s.sources.UserClaude = filepath.Join(s.dirs.Home, ".claude", "settings.json")
	}
	s.sources.CommandLine = &settings.File{
		Deny: settings.Rules(f.deny...), Ask: settings.Rules(f.ask...), Allow: settings.Rules(f.allow...),
		Scheduler: scheduling,
	}
	loaded, loadErr := settings.Load(s.sources)
	o, err := config.ForUser(dirs, project, loaded)
	err = errors.Join(loadErr, err)
	if f.noUser && s.dirs.Config != "" {
		o.Paths.Host = append(o.Paths.Host, s.dirs.Config) // guarded whether or not it is read
	}
	for _, dir := range f.plugins {
		o.Plugins.Sources = append(o.Plugins.Sources, plugins.Dir(plugins.OriginFlag, dir))
	}
	if s.trust != nil {
		o.Paths.TrustedProjects = s.trust.Roots
	}
	if s.dirs.State != "" {
		list, grantsErr := grants.Open(s.dirs.Grants())
		if grantsErr != nil {
			logger.Warn("what was granted beyond single calls does not count", "error", grantsErr)
		}
		o.Permissions.Grants = list
	}
	o.Plugins.Granted = f.grants
	o.Limits.CallTimeout = f.timeout
	o.Observe.Logger = logger
	policy := o.Plugins.Isolate && loaded.Isolation.Source.Kind == permissions.SourcePolicy
	if f.isolation != "" && !policy {
		o.Plugins.Isolate = f.isolation == string(abi.IsolationProcess)
	}
	o.Plugins.Workers = true
	if s.own = config.NewOwn(s.sources, loaded); s.own != nil {
		o.Settings = s.own
	}
	s.options, s.loaded = o, loaded
	return err
}

// alone has commands end with their calls, at their time limit at the latest: what went
// on in the background would end with this process, which stays no longer than they do.
func (s *setup) alone() {
	if s.options.Shell != nil {
		s.options.Shell.MaxBackground = -1
	}
}

// opened is a host with a session, ready to run calls. One that serves clients has none.
type opened struct {
	setup
	host    *host.Host
	session *host.Session
	log     *audit.Log
	live    following
	// servers are the MCP servers, and configs what they were opened with last.
	servers *servers.Set
	configs []servers.Config
	// telemetry is nil where none is sent.
	telemetry *otlp.Telemetry
}

// open starts the host. change, if not nil, has the last word on the setup.
func (a *app) open(ctx context.Context, change func(*setup)) (*opened, error) {
	s, err := a.setup()
	if err != nil {
		return nil, err
	}
	if more, err := offerNews(ctx, a, &s); err != nil {
		return nil, hostError(err)
	} else if more {
		if s, err = a.setup(); err != nil {
			return nil, err
		}
	}
	for _, w := range s.loaded.Warnings {
		s.options.Observe.Logger.Warn(w.String()) //nolint:sloglint // the warning is all there is to say
	}
	if change != nil {
		change(&s)
	}
	if err := s.checkState(); err != nil {
		return nil, hostError(err)
	}
	s.options.Permissions.Rules = append(s.options.Permissions.Rules, s.message...)
	o := &opened{}
	if s.calls {
		if o.log, err = s.openLog(); err != nil {
			return nil, hostError(err)
		}
		if o.log != nil {
			s.options.Observe.Decisions = o.log
		}
		if o.telemetry = s.openTelemetry(); o.telemetry != nil { //nolint:contextcheck // it sends in its own time
			s.options.Observe.Events = both(s.options.Observe.Events, o.telemetry.Observe)
		}
	}
	o.setup = s
	if o.host, err = host.Open(ctx, s.options); err == nil && !s.sessionless {
		o.session, err = o.host.NewSession(s.session)
	}
	if err != nil {
		o.close()
		return nil, hostError(err)
	}
	if s.calls || s.servers {
		o.openServers(a) //nolint:contextcheck // they end with the host
	}
	if s.calls {
		o.follow(ctx, a)
	}
	return o, nil
}

// both tells two observers, the first of which may be nil.
func both(first, second func(host.Event)) func(host.Event) {
	if first == nil {
		return second
	}
	return func(e host.Event) {
		first(e)
		second(e)
	}
}

// warnBroken tells of plugins that cannot be used, before calls that may have
// meant them.
func (o *opened) warnBroken() {
	for _, p := range o.host.Plugins().Plugins() {
		if p.Problem() != nil {
			o.options.Observe.Logger.Warn("a plugin cannot be used; toolquay plugins info says all of it",
				"plugin", p.Name, "path", p.Path, "problem", firstLine(p.Problem().Error()))
		}
	}
}

// closeTime is how long calls get to end after the command has: it has its
// results by then, or was interrupted.
const closeTime = 2 * time.Second

func (o *opened) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	o.live.end()
	var err error
	if o.servers != nil { // their calls end as those of a lost server do
		err = o.servers.Close(ctx)
	}
	if o.host != nil {
		err = errors.Join(err, o.host.Close(ctx))
	}
	if o.log != nil {
		err = errors.Join(err, o.log.Close())
	}
	if o.telemetry != nil {
		err = errors.Join(err, flush(ctx, o.telemetry))
	}
	if err != nil {
		o.options.Observe.Logger.Warn("closing the host", "error", err)
	}
}

// contract finds a tool's contract by its name, or returns nil.
func (o *opened) contract(name string) *abi.Tool {
	if tool, ok := o.host.Plugins().Tool(name); ok {
		return tool.Tool
	}
	return nil
}

// checkState says where state is kept if not in its usual place. Calls do not start where
// the settings require a sandbox whose state has no place; the log looks after itself.
func (s *setup) checkState() error {
	if s.dirs.StateError == nil || !s.calls {
		return nil
	}
	if required := s.options.Shell != nil && s.options.Shell.Sandbox.Mode == host.SandboxRequired; required && s.dirs.Spare == "" {
		if err := config.CheckWritable(os.TempDir()); err != nil {
			return fmt.Errorf("the settings require a sandbox for commands, and no directory for its state can be written: %w", s.dirs.StateError)
		}
	}
	if s.dirs.Spare != "" {
		s.options.Observe.Logger.Warn("state is kept in a spare directory, maybe only until the machine restarts",
			"dir", s.dirs.State, "spare", s.dirs.Spare, "error", s.dirs.StateError)
		return nil
	}
	s.options.Observe.Logger.Warn("no directory for state can be written: the log of decisions, the session and approvals are not kept, unless the settings name directories for them", "error", s.dirs.StateError)
	return nil
}

// userDirs are the user's directories, with a spare one where state cannot be written.
func userDirs() config.Dirs {
	dirs := config.UserDirs()
	dirs.Probe()
	return dirs
}
