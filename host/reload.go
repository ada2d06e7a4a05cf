package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolquay/toolquay/host/internal/pluginset"
	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/plugins"
)

// Reload looks for plugins again, and reads again what people consented to. A
// host that was reloaded stands where one that was just opened would: a plugin
// whose new version is broken is broken, and one whose bytes changed needs a new
// consent to its capabilities. Plugins that are the same, byte for byte, stay
// loaded.
//
// It may be called while calls run, and by several at a time, who take turns. A
// turn that has begun keeps the plugins that it began with to its end, so that
// what was judged is what runs; to end a plugin's calls at once, close their
// sessions, or revoke its consent, which no further call of it passes. Sessions
// take up the newer plugins with their next turn. An older plugin is freed when
// the last turn that began with it has ended.
//
// With an error everything is as it was.
//
// Skills are looked for anew, too.
func (h *Host) Reload(ctx context.Context) (plugins.Changes, error) {
	changes, err := h.plugins.Reload(ctx)
	if err == nil {
		h.reloadSkills(true)
	}
	return changes, err
}

// Configure puts other configuration values of plugins into force, by plugin and key,
// and reloads the plugins. They count for turns that begin from then on. With an error
// the plugins stay as they were, and the values count from the next reload on.
func (h *Host) Configure(ctx context.Context, config map[string]map[string]json.RawMessage) (plugins.Changes, error) {
	set := h.plugins.Hold()
	set.Configure(config)
	set.Release()
	return h.Reload(ctx)
}

// Follow keeps the plugins and skills up to date with their directories, which need not exist
// yet, and with what people consent to: after a change it calls [Host.Reload], which
// tells [ObserveOptions.Events] of tools that came or went. It returns at once; following
// ends with ctx, with the host, or with the function returned, which waits for a
// reload under way.
//
// Calls under way end with the plugin that they began with, and turns too; the next
// turn has the new one, if nothing has to be consented to anew.
func (h *Host) Follow(ctx context.Context) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(h.background.ctx, cancel) //nolint:contextcheck // it is the end of another one that counts
	follower := pluginset.NewFollower(ctx, func() []string {
		return append(pluginset.Files(h.options.Plugins.GrantsFile, h.options.Plugins.Sources), skills.Files(h.skillSources(h.plugins.Newest().Set))...)
	}, h.options.Observe.Logger)
	done := make(chan struct{})
	h.background.running.Go(func() {
		defer close(done)
		defer unlink()
		follower.Run(ctx, func(ctx context.Context) error {
			_, err := h.Reload(ctx)
			if errors.Is(err, ErrClosed) {
				cancel()
			}
			return err
		})
	})
	return func() {
		cancel()
		<-done
	}
}

// reloaded tells what a reload found.
func (h *Host) reloaded(r *pluginset.Reloaded) {
	if c := &r.Changes; !c.None() {
		h.options.Observe.Logger.Info("plugins were reloaded", "added", names(c.Added), "changed", names(c.Changed), "removed", names(c.Removed))
	}
	for _, p := range r.Problems {
		problem := p.Problem()
		h.options.Observe.Logger.Warn("a plugin cannot be used", "plugin", p.Name, "path", p.Path, "problem", problem)
		h.observe(Event{Kind: EventPlugin, Plugin: &PluginProblem{p.Name, p.Path, problem}})
	}
	if !r.Tools.None() {
		h.observe(Event{Kind: EventTools, Tools: (*ToolsChange)(&r.Tools)})
	}
}

func names(list []*plugins.Plugin) []string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = p.Name
	}
	return all
}
