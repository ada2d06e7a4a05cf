package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// Options say where plugins are and what runs them.
type Options struct {
	Sources []Source
	// Runners run the modules, one for each ABI. The set closes them.
	Runners []Runner
	// Isolated run the modules of plugins that run in a process of their own, one
	// for each ABI. The set closes them.
	Isolated []Runner
	// Isolate demands a process of its own of every plugin that is not built in.
	Isolate bool
	// CacheDir keeps an index of what was found, so that the next process need
	// not read every manifest; empty keeps none.
	CacheDir string
	// Consents holds what people granted; nil holds nothing.
	Consents *Consents
	// Granted names plugins whose capabilities the operator grants for this run;
	// those of a project need a consent all the same.
	Granted []string
	// Ceilings bound what manifests can ask for; zero fields are
	// [DefaultCeilings].
	Ceilings Limits
	// Capabilities are the operations this host has. A plugin that declares
	// another is refused.
	Capabilities []string
	// Reserved are names of tools that no plugin may take but one that is built
	// in; those of tools that this product has or will have are always reserved.
	Reserved []string
	// Config holds configuration values by plugin and key. See [Set.Configure].
	Config map[string]map[string]json.RawMessage
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// Set is the plugins that were found, and the tools that can be called. It is
// immutable and safe for concurrent use. A set that is replaced by a newer one
// (see [Set.Reload]) serves those who hold it until they let go of it.
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
	return l.discover(nil)
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
// It reports false where the last holder let go of it already.
func (s *Set) Hold() bool {
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	if s.holders == 0 {
		return false
	}
	s.holders++
	return true
}

// Release lets go of a set. Whoever opened it holds it once. Plugins that no set
// has any more take no more calls, and are freed when those under way have
// ended.
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

// runnerFor picks what runs a plugin, behind the walls that it or the operator
// asks for. What is built in always runs in the host's own process.
func (o *Options) runnerFor(origin Origin, s *discovery.Summary) (Runner, error) {
	runners, where := o.Runners, ""
	if origin != OriginBuiltin && (o.Isolate || s.Isolation == abi.IsolationProcess) {
		runners, where = o.Isolated, " in a process of its own"
	}
	var have []string
	for _, r := range runners {
		if r.ABI() == s.ABI {
			return r, nil
		}
		have = append(have, r.ABI())
	}
	switch {
	case where == "":
		return nil, abi.Errorf(abi.CodeUnsupported, "it needs the ABI %q; this host runs %s", s.ABI, cmp.Or(strings.Join(have, ", "), "none"))
	case o.Isolate:
		where += ", which settings demand of every plugin"
	default:
		where += `, which its manifest asks for (isolation = "process")`
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "it needs the ABI %q%s; this host runs %s so", s.ABI, where, cmp.Or(strings.Join(have, ", "), "none"))
}

func (o *Options) knows(capabilities []string) error {
	var unknown []string
	for _, c := range capabilities {
		if !slices.Contains(o.Capabilities, c) {
			unknown = append(unknown, fmt.Sprintf("%q", c))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return abi.Errorf(abi.CodeUnsupported, "it declares capabilities this host does not have (%s); it has %s",
		strings.Join(unknown, ", "), cmp.Or(strings.Join(o.Capabilities, ", "), "none"))
}
