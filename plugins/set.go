package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// Set is the plugins that were found, and the tools that can be called. It is
// immutable and safe for concurrent use. A set that is replaced by a newer one
// (see [Set.Reload]) serves its holders until they release it.
type Set struct {
	lineage *lineage
	plugins []*Plugin
	byName  map[string]*Tool
	holders int // guarded by the lineage

	listed  sync.Once
	tools   []*Tool
	aliased sync.Once
	aliases map[string]string
}

// lineage is what a set and those made from it share.
type lineage struct {
	options Options
	indexes *discovery.Indexes

	mu     sync.Mutex
	config map[string]map[string]json.RawMessage
	closed bool
	live   map[*generation]struct{} // not freed yet
}

// Open looks through the sources and settles which plugin offers what. It
// compiles and runs nothing. Only a source that somebody named, or that comes
// with the host, and that cannot be read is an error: the runners are then the
// caller's again. What is wrong with a plugin is its Problem.
func Open(o Options) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Ceilings = o.Ceilings.or(DefaultCeilings)
	l := &lineage{options: o, indexes: discovery.OpenIndexes(o.CacheDir, o.Logger), config: o.Config, live: make(map[*generation]struct{})}
	found, err := l.discover(nil)
	if err != nil {
		return nil, err
	}
	return l.add(found)
}

// add makes a set of plugins that were settled.
func (l *lineage) add(plugins []*Plugin) (*Set, error) {
	s := &Set{lineage: l, plugins: plugins, holders: 1, byName: make(map[string]*Tool, len(plugins))}
	for _, p := range plugins {
		if p.problem != nil {
			continue
		}
		for i, names := range p.generation.finding.Summary.Tools {
			for _, name := range names {
				s.byName[name] = &p.tools[i]
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	for _, p := range plugins {
		p.generation.refs++
		l.live[p.generation] = struct{}{}
	}
	return s, nil
}

var errClosed = errors.New("the plugins were closed")

// Plugins lists every plugin that was found, broken ones too.
func (s *Set) Plugins() []*Plugin { return slices.Clone(s.plugins) }

// Plugin returns the plugin of that name. Where several were found, it is the
// one that can be used, if any can.
func (s *Set) Plugin(name string) (*Plugin, bool) {
	var found *Plugin
	for _, p := range s.plugins {
		if p.Name == name && (found == nil || found.Problem() != nil) {
			found = p
		}
	}
	return found, found != nil
}

// Tools lists the tools that can be called: built-in ones first, then by name.
func (s *Set) Tools() []*Tool {
	s.listed.Do(func() {
		for _, p := range s.plugins {
			if p.problem == nil {
				for i := range p.tools {
					s.tools = append(s.tools, &p.tools[i])
				}
			}
		}
		inParallel(len(s.tools), func(i int) { s.tools[i].fill() })
		slices.SortStableFunc(s.tools, func(a, b *Tool) int {
			return cmp.Or(builtinFirst(a.Plugin, b.Plugin), strings.Compare(a.Name, b.Name))
		})
	})
	return slices.Clone(s.tools)
}

func builtinFirst(a, b *Plugin) int {
	return min(rank(a.Origin), 1) - min(rank(b.Origin), 1)
}

// Tool returns the tool of that name or alias.
func (s *Set) Tool(name string) (*Tool, bool) {
	t, ok := s.byName[name]
	if ok {
		t.fill()
	}
	return t, ok
}

// Aliases maps the other names of tools to their names. The map is shared; it
// must not be changed.
func (s *Set) Aliases() map[string]string {
	s.aliased.Do(func() {
		s.aliases = make(map[string]string)
		for _, p := range s.plugins {
			if p.problem != nil {
				continue
			}
			for _, names := range p.generation.finding.Summary.Tools {
				for _, alias := range names[1:] {
					s.aliases[alias] = names[0]
				}
			}
		}
	})
	return s.aliases
}

// Hold makes sure that the plugins of the set stay usable until [Set.Release].
// It reports false where the last holder has released it.
func (s *Set) Hold() bool {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	if s.holders == 0 {
		return false
	}
	s.holders++
	return true
}

// Release gives up one hold of a set. [Open] and [Set.Reload] return it held once.
// Plugins that are in no set any more take no more calls, and are freed when those under
// way have ended.
func (s *Set) Release() {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	if s.holders == 0 {
		return
	}
	if s.holders--; s.holders > 0 {
		return
	}
	for _, p := range s.plugins {
		if p.generation.refs--; p.generation.refs == 0 {
			p.generation.calls.shut()
			go s.lineage.retire(p.generation)
		}
	}
}

// retire frees a generation that no set has any more. Nobody waits for it, so
// that no caller's context is its own.
//
//nolint:contextcheck,nolintlint // see above; contextcheck reads this by itself
func (l *lineage) retire(g *generation) {
	if err := g.close(context.Background()); err != nil {
		l.options.Logger.Warn("freeing a plugin that was replaced", "plugin", g.name(), "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.live, g)
}

// Close waits for calls under way, or for ctx, and frees every plugin and
// runner, those of older sets too.
func (s *Set) Close(ctx context.Context) error {
	l := s.lineage
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	live := l.live
	l.live = nil
	l.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	for g := range live {
		g.calls.shut()
	}
	for g := range live {
		errs = append(errs, g.close(ctx))
	}
	for _, r := range slices.Concat(l.options.Runners, l.options.Isolated) {
		errs = append(errs, r.Close(ctx))
	}
	return errors.Join(errs...)
}
