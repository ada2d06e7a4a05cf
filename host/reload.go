package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/toolquay/toolquay/host/internal/rules"
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
func (h *Host) Reload(ctx context.Context) (plugins.Changes, error) {
	select {
	case h.reloads <- struct{}{}:
		defer func() { <-h.reloads }()
	case <-ctx.Done():
		return plugins.Changes{}, fmt.Errorf("waiting for another reload of plugins: %w", context.Cause(ctx))
	}
	older := h.hold()
	defer older.Release()
	before, known := usable(older), problems(older) // by the consents that counted until now
	newer, changes, err := older.Reload(ctx)
	if err != nil {
		return plugins.Changes{}, err
	}
	if changes.None() {
		newer.Release()
		h.announce(before, usable(older))
		return changes, nil
	}
	if err := h.replace(older, newer); err != nil {
		newer.Release()
		return plugins.Changes{}, fmt.Errorf("reloading plugins: %w", err)
	}
	h.tell(changes, known)
	h.announce(before, usable(newer))
	return changes, nil
}

// Configure puts other configuration values of plugins into force, by plugin and key,
// and reloads the plugins. They count for turns that begin from then on. With an error
// the plugins stay as they were, and the values count from the next reload on.
func (h *Host) Configure(ctx context.Context, config map[string]map[string]json.RawMessage) (plugins.Changes, error) {
	set := h.hold()
	set.Configure(config)
	set.Release()
	return h.Reload(ctx)
}

// announce tells the embedder how the tools differ that can be called. A tool is
// another one also where it says the same of itself and its plugin's files are not
// what they were.
func (h *Host) announce(before, after map[string]*plugins.Tool) {
	var c ToolsChange
	for name, t := range after {
		was, there := before[name]
		switch {
		case !there:
			c.Added = append(c.Added, name)
		case was.Plugin != t.Plugin:
			c.Changed = append(c.Changed, name)
		}
	}
	for name := range before {
		if after[name] == nil {
			c.Removed = append(c.Removed, name)
		}
	}
	if len(c.Added)+len(c.Changed)+len(c.Removed) == 0 {
		return
	}
	for _, list := range [][]string{c.Added, c.Changed, c.Removed} {
		slices.Sort(list)
	}
	h.observe(Event{Kind: EventTools, Tools: &c})
}

// usable are the tools that can be called, by name.
func usable(set *plugins.Set) map[string]*plugins.Tool {
	tools := make(map[string]*plugins.Tool)
	for _, t := range set.Tools() {
		if t.Available() == nil {
			tools[t.Name] = t
		}
	}
	return tools
}

// replace makes newer the set of plugins that turns begin with.
func (h *Host) replace(older, newer *plugins.Set) error {
	if err := h.clash(newer); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.plugins = newer
	older.Release()
	return nil
}

// clash refuses plugins that take the name of one of the embedder's tools: only
// built-in ones can.
func (h *Host) clash(set *plugins.Set) error {
	for name := range h.tools {
		if _, taken := set.Tool(name); taken {
			return fmt.Errorf("the native tool %q: the name is taken by a built-in tool", name)
		}
	}
	return nil
}

// tell tells what a reload found, and of problems those that are news: while a plugin
// is being copied, it is truncated at one place after the other.
func (h *Host) tell(c plugins.Changes, known map[string]string) {
	h.options.Logger.Info("plugins were reloaded", "added", names(c.Added), "changed", names(c.Changed), "removed", names(c.Removed))
	for _, p := range c.Problems {
		if problem := p.Problem(); kind(problem) != known[p.Path] {
			h.options.Logger.Warn("a plugin cannot be used", "plugin", p.Name, "path", p.Path, "problem", problem)
			h.observe(Event{Kind: EventPlugin, Plugin: &PluginProblem{p.Name, p.Path, problem}})
		}
	}
}

// problems are the kinds of those of plugins, by path.
func problems(set *plugins.Set) map[string]string {
	kinds := make(map[string]string)
	for _, p := range set.Plugins() {
		kinds[p.Path] = kind(p.Problem())
	}
	return kinds
}

// kind is what a problem says, without figures.
func kind(problem error) string {
	if problem == nil {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, problem.Error())
}

func names(list []*plugins.Plugin) []string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = p.Name
	}
	return all
}

// hold returns the plugins as they now are, which stay usable until they are
// released.
func (h *Host) hold() *plugins.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plugins.Hold()
	return h.plugins
}

// begin takes up the plugins as they now are, for one turn.
func (t *openTurn) begin() {
	t.plugins = t.session.host.hold()
	t.session.rules.SetPlugins(t.plugins)
	t.session.files.NextTurn()
}

// end lets go of them.
func (t *openTurn) end() {
	t.plugins.Release()
	<-t.session.turns
}

// next is the session as a turn would find it that began now. The session takes
// that up, but not while a turn runs: rules that are written with another name of
// a tool must go on binding the tools that the turn has.
func (s *Session) next() *rules.View {
	set := s.host.Plugins()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
		return s.rules.SetPlugins(set)
	default:
		return s.rules.WithPlugins(set)
	}
}
