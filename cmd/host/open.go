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
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// setup is what the flags, the user's files and the project's come to.
type setup struct {
	dirs    host.Dirs
	project host.Project
	trust   *host.Trust
	options host.Options
	session host.SessionOptions
	// warnings are about settings that do not take effect.
	warnings []permissions.Warning
}

// setup reads settings and flags and opens nothing. With an error that is the
// settings' fault, the rest of the setup is there all the same, for doctor.
func (a *app) setup() (setup, error) {
	logger, err := a.logger()
	if err != nil {
		return setup{}, err
	}
	if err := a.checkIsolation(); err != nil {
		return setup{}, err
	}
	s := setup{dirs: host.UserDirs()}
	if s.session, err = a.sessionOptions(); err != nil {
		return s, err
	}
	trust, trustErr := host.OpenTrust(s.dirs.Trust())
	if trustErr == nil {
		s.trust = trust
	}
	if s.project, err = host.FindProject(s.session.Cwd, s.trust); err != nil {
		return s, hostError(err)
	}
	err = a.userOptions(&s, logger)
	return s, hostError(errors.Join(trustErr, err))
}

// sessionOptions are what the flags say of the session.
func (a *app) sessionOptions() (host.SessionOptions, error) {
	var o host.SessionOptions
	if a.flags.mode != "" {
		mode, err := permissions.ParseMode(a.flags.mode)
		if err != nil {
			return o, usageError("--mode: %w", err)
		}
		o.Mode = mode
	}
	var err error
	if o.Cwd, err = filepath.Abs(a.flags.cwd); err != nil {
		return o, hostError(fmt.Errorf("finding the working directory: %w", err))
	}
	if info, err := os.Stat(o.Cwd); err != nil || !info.IsDir() {
		return o, usageError("--cwd: %s is not a directory", o.Cwd)
	}
	for _, dir := range a.flags.addDirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return o, usageError("--add-dir %s: %w", dir, err)
		}
		o.AdditionalDirs = append(o.AdditionalDirs, abs)
	}
	return o, nil
}

// userOptions are the user's and the project's options with the flags' on top.
func (a *app) userOptions(s *setup, logger *slog.Logger) error {
	dirs, project := s.dirs, s.project
	if a.flags.noUser {
		dirs.Config = ""
	}
	if a.flags.noProject {
		project = host.Project{}
	}
	o, warnings, err := host.ForUser(dirs, project)
	if a.flags.noUser && s.dirs.Config != "" {
		o.HostFolders = append(o.HostFolders, s.dirs.Config) // guarded whether or not it is read
	}
	for _, dir := range a.flags.plugins {
		o.Plugins = append(o.Plugins, plugins.Dir(plugins.OriginFlag, dir))
	}
	o.Rules = append(o.Rules, permissions.RuleSet{
		Source: permissions.SourceCommandLine,
		Deny:   permissions.RuleTexts(a.flags.deny...),
		Ask:    permissions.RuleTexts(a.flags.ask...),
		Allow:  permissions.RuleTexts(a.flags.allow...),
	})
	o.Granted = a.flags.grants
	o.CallTimeout = a.flags.timeout
	o.Logger = logger
	if a.flags.isolation != "" {
		o.Isolate = a.flags.isolation == string(abi.IsolationProcess)
	}
	equip(&o)
	s.options, s.warnings = o, warnings
	return err
}

// opened is a host with a session, ready to run calls.
type opened struct {
	setup
	host    *host.Host
	session *host.Session
}

// open starts the host. change, if not nil, has the last word on the setup.
func (a *app) open(ctx context.Context, change func(*setup)) (*opened, error) {
	s, err := a.setup()
	if err != nil {
		return nil, err
	}
	for _, w := range s.warnings {
		s.options.Logger.Warn(w.String()) //nolint:sloglint // the warning is all there is to say
	}
	if change != nil {
		change(&s)
	}
	h, err := host.Open(ctx, s.options)
	if err != nil {
		return nil, hostError(err)
	}
	session, err := h.NewSession(s.session)
	if err != nil {
		return nil, hostError(errors.Join(err, h.Close(ctx)))
	}
	return &opened{setup: s, host: h, session: session}, nil
}

// warnBroken tells of plugins that cannot be used, before calls that may have
// meant them.
func (o *opened) warnBroken() {
	for _, p := range o.host.Plugins().Plugins() {
		if p.Problem() != nil {
			o.options.Logger.Warn("a plugin cannot be used; toolquay plugins info says all of it",
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
	if err := o.host.Close(ctx); err != nil {
		o.options.Logger.Warn("closing the host", "error", err)
	}
}

// asker asks at the terminal, or is nil where there is none or nobody wants to
// be asked.
func (a *app) asker() host.Asker {
	if asker := a.person(); asker != nil && !a.flags.noAsk {
		return asker
	}
	return nil
}

// person is who sits at the terminal, or nil.
func (a *app) person() *ui.Asker {
	if !a.err.Terminal || !ui.IsTerminal(a.in) {
		return nil
	}
	return ui.NewAsker(a.err, a.in)
}
