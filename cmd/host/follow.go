package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/settings"
)

// followAfter is how long a command runs before it follows its settings. What changed
// until then counts from there on. Most commands are done by then, and need not look.
const followAfter = 50 * time.Millisecond

// following is settings that are followed, some time after the beginning. The zero value
// is none.
type following struct {
	mu    sync.Mutex
	timer *time.Timer
	live  *settings.Live
	ended bool
}

// begin begins to follow later.
func (f *following) begin(follow func() *settings.Live) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timer = time.AfterFunc(followAfter, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.ended {
			f.live = follow()
		}
	})
}

// end ends it, and waits until nothing is put into force any more.
func (f *following) end() {
	f.mu.Lock()
	f.ended = true
	timer, live := f.timer, f.live
	f.mu.Unlock()
	if timer != nil {
		timer.Stop()
	}
	if live != nil {
		live.Close()
	}
}

// follow puts changed settings into force while calls run.
func (o *opened) follow(ctx context.Context, a *app) {
	withheld := o.loaded.Withheld // as told last
	configured := o.loaded.PluginConfig
	tune := o.tuner()
	take := func(loaded *settings.Loaded) error {
		if !slices.Equal(loaded.Withheld, withheld) {
			withheld = loaded.Withheld
			o.warnWithheld(withheld)
		}
		in, err := config.SettingsOf(loaded, o.options.Paths.Project)
		if err != nil {
			return err
		}
		in.Rules = append(in.Rules, o.message...)
		if in.Tuning, err = tune(loaded); err != nil {
			return err
		}
		if err := o.host.Apply(in); err != nil {
			return err
		}
		o.configureServers(a, loaded) //nolint:contextcheck // servers outlive the change of settings
		return o.configure(ctx, loaded, &configured)
	}
	failed := func(err error) {
		o.options.Observe.Logger.Warn("the settings have changed and cannot be used; the older ones stay in force", "error", err)
	}
	if o.own != nil {
		o.own.Applies(take)
		take = o.own.Take
	}
	o.live.begin(func() *settings.Live { return settings.Follow(ctx, o.sources, o.loaded, take, failed) })
}

// tuner returns what makes the tuning of a host of other settings. What the flags say of tools
// stays.
func (o *opened) tuner() func(*settings.Loaded) (*host.Tuning, error) {
	environ := os.Environ()
	opened := o.options.Tuning()
	read, _ := config.TuningOf(o.dirs, o.loaded, environ) // without the flags; the host was opened with these settings
	return func(loaded *settings.Loaded) (*host.Tuning, error) {
		next, err := config.TuningOf(o.dirs, loaded, environ)
		if err != nil {
			return nil, err
		}
		tools := &next.Toolset
		tools.Strict, tools.Examples = opened.Toolset.Strict, opened.Toolset.Examples
		if !slices.Equal(opened.Toolset.Only, read.Toolset.Only) {
			tools.Only = opened.Toolset.Only
		}
		if opened.Toolset.Defer != read.Toolset.Defer {
			tools.Defer = opened.Toolset.Defer
		}
		return &next, nil
	}
}

// configure has plugins take up other configuration, if it is another one.
func (o *opened) configure(ctx context.Context, loaded *settings.Loaded, last *settings.PluginConfig) error {
	if reflect.DeepEqual(loaded.PluginConfig, *last) {
		return nil
	}
	*last = loaded.PluginConfig
	_, err := o.host.Configure(ctx, config.PluginConfigOf(loaded))
	return err
}

// warnWithheld tells of what a project brings that has no effect, as it came while
// calls run and nobody was shown it.
func (o *opened) warnWithheld(list []settings.Brought) {
	for _, b := range list {
		o.options.Observe.Logger.Warn("the project's settings changed; this has no effect before toolquay trust has shown it to you", "brings", b.String())
	}
}

// logDir is where decisions are logged.
func (s *setup) logDir() string { return cmp.Or(s.loaded.Log.Directory.Value, s.dirs.Decisions()) }

// openLog opens the log of decisions. One that is not required and cannot be
// opened is done without.
func (s *setup) openLog() (*audit.Log, error) {
	dir := s.logDir()
	if dir == "" && s.options.Observe.DecisionsRequired {
		return nil, fmt.Errorf("the settings require the log of decisions, and there is no place for it: %w", s.dirs.StateError)
	}
	if dir == "" {
		return nil, nil
	}
	log, err := audit.Open(dir, config.LogOptions(s.loaded))
	if err == nil {
		return log, nil
	}
	if s.options.Observe.DecisionsRequired {
		return nil, fmt.Errorf("the settings require the log of decisions: %w", err)
	}
	s.options.Observe.Logger.Warn("decisions are not logged", "error", err)
	return nil, nil
}
