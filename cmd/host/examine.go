package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/internal/tempdir"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// examine looks at everything a run depends on, as far as it gets.
func examine(ctx context.Context, a *app, d *diagnosis) error {
	s, err := a.setup()
	if s.session.Cwd == "" {
		return err // the command line is wrong
	}
	examineSystem(d, runtime.GOOS)
	examineDirs(d, s.dirs)
	if err != nil {
		d.add("settings", wrong, err.Error())
	}
	examineProject(d, &s)
	examineRules(d, &s)
	examineChain(d, &s)
	examineSkills(a, d, &s)
	examineRunning(d, &s)
	examineShell(ctx, d, &s)
	examineServers(a, d, &s)
	examineStorage(ctx, d, &s)
	examineCron(d, &s)
	log := &collector{}
	s.options.Observe.Logger = slog.New(log)
	examineHost(ctx, d, &s, log)
	examineEngine(ctx, d, s.dirs)
	examineWorkers(d)
	examineTerminal(a, d)
	return nil
}

func examineDirs(d *diagnosis, dirs config.Dirs) {
	const settings = "settings and plugins"
	info, err := os.Stat(dirs.Config)
	switch {
	case dirs.Config == "":
		d.add("place", note, "there is no place for "+settings+": neither HOME nor its XDG variable is set")
	case errors.Is(err, fs.ErrNotExist):
		d.add("place", fine, fmt.Sprintf("%s: %s (not there yet)", settings, dirs.Config))
	case err != nil:
		d.add("place", wrong, fmt.Sprintf("%s: %v", settings, err))
	case !info.IsDir():
		d.add("place", wrong, fmt.Sprintf("%s: %s is not a directory", settings, dirs.Config))
	default:
		d.add("place", fine, fmt.Sprintf("%s: %s", settings, dirs.Config))
	}
	examineState(d, dirs)
	examineWritten(d, "place", "compiled plugins: "+dirs.Cache, dirs.Cache)
}

// examineState tells where grants, trust, the log and sessions are kept.
func examineState(d *diagnosis, dirs config.Dirs) {
	switch {
	case dirs.StateError == nil:
		d.add("place", fine, "grants and trust: "+dirs.State)
	case dirs.Spare != "":
		d.add("place", note, fmt.Sprintf("grants and trust: %s cannot be written: %v; the log, sessions, approvals and the sandbox's state are kept in %s, maybe only until the machine restarts",
			cmp.Or(dirs.State, "no directory"), dirs.StateError, dirs.Spare))
	default:
		d.add("place", wrong, fmt.Sprintf("grants and trust: %s cannot be written, so the log, sessions and approvals are not kept: %v",
			cmp.Or(dirs.State, "no directory"), dirs.StateError))
	}
}

func examineProject(d *diagnosis, s *setup) {
	p := s.project
	if p.Root == "" {
		return
	}
	state := "not trusted: its deny and ask rules count, and that it demands isolation"
	if p.Trusted {
		state = "trusted with what was shown of it"
	}
	d.add("project", fine, fmt.Sprintf("%s (%s)", p.Root, state))
	if _, err := os.Stat(p.Plugins()); err == nil && !p.Trusted {
		d.add("project", note, fmt.Sprintf("the plugins in %s are left alone; toolquay trust shows and trusts them", p.Plugins()))
	}
}

// examineSkills tells how many skills there are, and which cannot be used.
func examineSkills(a *app, d *diagnosis, s *setup) {
	found, problems := host.FindSkills(s.options.Skills.Sources)
	offered := 0
	for _, skill := range found {
		if problem := skill.Problem(); problem != nil {
			d.add("skills", note, fmt.Sprintf("%s is not offered: %s", ui.Line(skill.Path), ui.Line(problem.Error())))
			continue
		}
		offered++
	}
	for i := range problems {
		d.add("skills", note, problemOfSkills(&problems[i]))
	}
	if offered > 0 {
		d.add("skills", fine, fmt.Sprintf("%d; toolquay skills lists them", offered))
	}
	if left := untrustedSkills(a, s); len(left) > 0 {
		d.add("skills", note, fmt.Sprintf("those of the project are left alone (%d), as it is not trusted; toolquay trust shows and trusts them", len(left)))
	}
}

// examineRules lists the rules in force with where they stand.
func examineRules(d *diagnosis, s *setup) {
	for _, w := range s.loaded.Warnings {
		d.add("rules", note, w.String())
	}
	for _, set := range s.options.Permissions.Rules {
		for _, list := range []struct {
			verdict permissions.Verdict
			rules   []permissions.RuleText
		}{{permissions.Deny, set.Deny}, {permissions.Ask, set.Ask}, {permissions.Allow, set.Allow}} {
			for _, rule := range list.rules {
				place := permissions.Source{Kind: set.Source, File: set.File, Line: rule.Line}
				d.add("rules", fine, fmt.Sprintf("%s %s (%s)", list.verdict, rule.Text, place))
			}
		}
	}
}

// examineChain tells of what has a say in calls beside rules.
func examineChain(d *diagnosis, s *setup) {
	for _, f := range s.loaded.Files {
		if f.There {
			d.add("settings", fine, fmt.Sprintf("%s (%s)", f.Path, f.Kind))
		}
	}
	for _, event := range settings.Events() {
		for i := range s.loaded.Hooks[event] {
			h := &s.loaded.Hooks[event][i]
			d.add("hooks", fine, fmt.Sprintf("%s (%s)", h, h.Source))
		}
	}
	if j := s.loaded.Judge; j != nil {
		d.add("judge", fine, fmt.Sprintf("%s (%s)", j, j.Source))
	}
	switch dir := s.logDir(); {
	case dir == "" && s.options.Observe.DecisionsRequired:
		d.add("log", wrong, "the settings require the log of decisions, and there is no place for it; no call is run")
	case dir == "":
		d.add("log", note, "decisions are not logged: there is no place for them")
	default:
		examineWritten(d, "log", "decisions are logged in "+dir, dir)
	}
}

// examineHost opens the host as a run would.
func examineHost(ctx context.Context, d *diagnosis, s *setup, log *collector) {
	h, err := host.Open(ctx, s.options)
	if err != nil {
		d.add("host", wrong, err.Error())
		return
	}
	o := &opened{setup: *s, host: h}
	defer o.close()
	session, err := h.NewSession(s.session)
	for _, warning := range log.take() {
		d.add("rules", note, warning)
	}
	if err != nil {
		d.add("rules", wrong, err.Error())
	} else {
		d.add("rules", fine, fmt.Sprintf("mode %s", session.Mode()))
	}
	list := h.Plugins().Plugins()
	examineConfig(d, s, list)
	for i, faults := range checkAll(list) {
		examinePlugin(d, list[i], faults)
	}
}

// examineConfig tells of configuration for plugins that are not there.
func examineConfig(d *diagnosis, s *setup, list []*plugins.Plugin) {
	for _, name := range slices.Sorted(maps.Keys(s.loaded.PluginConfig)) {
		if !slices.ContainsFunc(list, func(p *plugins.Plugin) bool { return p.Name == name }) {
			d.add("setting", note, fmt.Sprintf("plugins.%s configures a plugin that was not found", ui.Line(name)))
		}
	}
}

func examinePlugin(d *diagnosis, p *plugins.Plugin, faults []plugins.Diagnostic) {
	place := ui.Line(fmt.Sprintf("%s (%s, %s)", p.Name, p.Origin, p.Path))
	p.Manifest() // whose reading may find a problem
	switch {
	case abi.CodeOf(p.Problem()) == abi.CodeNotGranted || isShadowed(p) || isUnconfigured(p, faults):
		d.add("plugin", note, place+": "+p.Problem().Error())
	case p.Problem() != nil:
		d.add("plugin", wrong, place+": "+p.Problem().Error())
	case plugins.Failed(faults):
		d.add("plugin", wrong, place+": it cannot be used as it is:\n"+found(faults))
	case p.GrantState() == plugins.GrantMissing || p.GrantState() == plugins.GrantChanged:
		d.add("plugin", note, place+": "+stateOf(p, faults)+"; run "+p.Command("plugins trust "+p.Name))
	default:
		d.add("plugin", fine, place)
	}
	if p.Problem() == nil && !plugins.Failed(faults) && len(faults) > 0 {
		d.add("plugin", note, place+":\n"+found(faults))
	}
}

// examineEngine runs a built-in tool, twice where there is a cache, and reports
// what the engine says of it.
func examineEngine(ctx context.Context, d *diagnosis, dirs config.Dirs) {
	dir, err := tempdir.Make()
	if err == nil {
		defer func() { _ = dir.Close() }() // the next start removes it then
		err = os.WriteFile(filepath.Join(dir.Path, "probe.txt"), []byte("probe\n"), 0o600)
	}
	if err != nil {
		d.add("engine", wrong, err.Error())
		return
	}
	log := &collector{}
	start := time.Now()
	err = probe(ctx, dir.Path, host.Options{Builtins: true, Storage: host.StorageOptions{CacheDir: dirs.Compiled()}, Observe: host.ObserveOptions{Logger: slog.New(log)}})
	warnings := log.take()
	for _, w := range warnings {
		d.add("cache", wrong, w)
	}
	switch {
	case err != nil:
		d.add("engine", wrong, err.Error())
		return
	case dirs.Compiled() == "":
		d.add("cache", note, "none: there is no place for it")
	case len(warnings) == 0:
		d.add("cache", fine, "in use: "+dirs.Compiled())
	}
	d.add("engine", fine, "the built-in Read answered in "+ui.Elapsed(time.Since(start)))
}

// probe reads a file the way a turn would.
func probe(ctx context.Context, dir string, options host.Options) error {
	h, err := host.Open(ctx, options)
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
	if err != nil {
		return err
	}
	use := abi.ToolUse{ID: "probe", Name: "Read", Input: []byte(`{"file_path":"probe.txt"}`)}
	if r := s.Results(ctx, []abi.ToolUse{use})[0]; r.IsError || !strings.Contains(r.Text(), "probe") {
		return fmt.Errorf("the built-in Read failed: %s", ui.Reason(&r))
	}
	return nil
}

func examineTerminal(a *app, d *diagnosis) {
	is := func(terminal bool) string {
		if terminal {
			return "a terminal"
		}
		return "no terminal"
	}
	d.add("terminal", fine, fmt.Sprintf("input is %s, output %s, errors %s (colours: %t, width: %d)",
		is(ui.IsTerminal(a.in)), is(a.out.Terminal), is(a.err.Terminal), a.err.Colour, a.err.Width))
}

// collector is a log handler that keeps warnings and errors for doctor.
type collector struct {
	mu    sync.Mutex
	lines []string
}

func (c *collector) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (c *collector) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(attr slog.Attr) bool {
		line += ", " + attr.Key + ": " + attr.Value.String()
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, line)
	return nil
}

// WithAttrs and WithGroup are not used by what is collected here.
func (c *collector) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup returns the collector itself.
func (c *collector) WithGroup(string) slog.Handler { return c }

func (c *collector) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}
