package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Options say where plugins are and what runs them.
type Options struct {
	Sources []Source
	// Runners run the modules, one for each ABI. The set closes them.
	Runners []Runner
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
	// Config holds configuration values by plugin and key.
	Config map[string]map[string]json.RawMessage
	// Logger takes what is worth an operator's notice; nil discards it.
	Logger *slog.Logger
}

// Set is the plugins that were found, and the tools that can be called. It is
// immutable and safe for concurrent use.
type Set struct {
	plugins []*Plugin
	tools   []*Tool
	byName  map[string]*Tool
	runners []Runner
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
	s := &Set{byName: make(map[string]*Tool), runners: o.Runners}
	for _, source := range o.Sources {
		found, err := source.find()
		switch {
		case err == nil:
		case source.Origin == OriginFlag || source.Origin == OriginBuiltin:
			return nil, err
		default:
			o.Logger.Warn("a plugin directory was passed over", "error", err)
		}
		for _, c := range found {
			s.plugins = append(s.plugins, o.open(c))
		}
	}
	s.settle(o.Reserved)
	return s, nil
}

// open reads one candidate.
func (o *Options) open(c candidate) *Plugin {
	p := &Plugin{
		Name:     strings.TrimSuffix(filepath.Base(c.path), ".wasm"),
		Origin:   c.origin,
		Path:     c.path,
		found:    c,
		consents: o.Consents,
		logger:   o.Logger,
	}
	b, err := c.read()
	if err != nil {
		p.Problem = err
		return p
	}
	// Modules are read again at the first call: a directory full of them is not
	// kept in memory.
	p.Name, p.Manifest, p.raw = b.manifest.Name, b.manifest, b.raw
	if b.module != nil {
		p.found.carried = carried(b.module)
	}
	// A name given for this run does not speak for what a project brings.
	p.granted = c.origin != OriginProject && slices.Contains(o.Granted, p.Name)
	p.Limits, p.Notes = effective(p.Manifest.Limits, o.Ceilings)
	p.Problem = errors.Join(o.runnerFor(p), o.knows(p.Manifest), p.configure(o.Config[p.Name]))
	return p
}

func (o *Options) runnerFor(p *Plugin) error {
	want := or(p.Manifest.ABI, abi.ABIDirect)
	var have []string
	for _, r := range o.Runners {
		if r.ABI() == want {
			p.runner = r
			return nil
		}
		have = append(have, r.ABI())
	}
	return abi.Errorf(abi.CodeUnsupported, "it needs the ABI %q; this host runs %s", want, or(strings.Join(have, ", "), "none"))
}

func (o *Options) knows(m *abi.Manifest) error {
	var unknown []string
	for _, c := range m.Capabilities {
		if !slices.Contains(o.Capabilities, c.Name) {
			unknown = append(unknown, strconv.Quote(c.Name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return abi.Errorf(abi.CodeUnsupported, "it declares capabilities this host does not have (%s); it has %s",
		strings.Join(unknown, ", "), or(strings.Join(o.Capabilities, ", "), "none"))
}

// settle decides who offers which name, and refuses whole plugins rather than
// offer half of one.
func (s *Set) settle(reserved []string) {
	slices.SortStableFunc(s.plugins, func(a, b *Plugin) int { return a.Origin.rank() - b.Origin.rank() })
	s.dropCopies()
	pluginName := func(p *Plugin) []string { return []string{p.Name} }
	s.eachClaim(pluginName, "name", refuseOthers)
	s.eachClaim(toolNames, "tool", refuseOthers)
	s.refuseReserved(reserved)
	s.eachClaim(pluginName, "name", refuseAll)
	s.eachClaim(toolNames, "tool", refuseAll)
	for _, p := range s.plugins {
		if p.Problem != nil {
			continue
		}
		for i := range p.Manifest.Tools {
			t := &Tool{Tool: &p.Manifest.Tools[i], Plugin: p}
			s.tools = append(s.tools, t)
			for _, name := range names(t.Tool) {
				s.byName[name] = t
			}
		}
	}
	slices.SortStableFunc(s.tools, func(a, b *Tool) int {
		return cmp.Or(builtinFirst(a.Plugin, b.Plugin), strings.Compare(a.Name, b.Name))
	})
}

func builtinFirst(a, b *Plugin) int {
	return min(a.Origin.rank(), 1) - min(b.Origin.rank(), 1)
}

// dropCopies leaves out plugins that are, byte for byte, one found before: the
// same plugin in the user's directory and on the command line is no conflict.
func (s *Set) dropCopies() {
	seen := make(map[string][]*Plugin)
	s.plugins = slices.DeleteFunc(s.plugins, func(p *Plugin) bool {
		if p.Manifest == nil || slices.ContainsFunc(seen[p.Name], p.sameAs) {
			return p.Manifest != nil
		}
		seen[p.Name] = append(seen[p.Name], p)
		return false
	})
}

// eachClaim refuses plugins that claim what another does. Those that are refused
// already stop nobody.
func (s *Set) eachClaim(claims func(*Plugin) []string, kind string, refuse func(group []*Plugin, claim string)) {
	groups := make(map[string][]*Plugin)
	for _, p := range s.plugins {
		if p.Problem != nil {
			continue
		}
		for _, claim := range claims(p) {
			groups[claim] = append(groups[claim], p)
		}
	}
	for _, claim := range slices.Sorted(maps.Keys(groups)) {
		if group := groups[claim]; len(group) > 1 {
			refuse(group, fmt.Sprintf("the %s %q", kind, claim))
		}
	}
}

// refuseOthers refuses plugins that claim what is a built-in plugin's: its names
// are its own.
func refuseOthers(group []*Plugin, claim string) {
	i := slices.IndexFunc(group, func(p *Plugin) bool { return p.Origin == OriginBuiltin })
	if i < 0 {
		return
	}
	for _, p := range group {
		if p.Origin != OriginBuiltin {
			p.refuse("%s is taken by %s, which is built in; rename it in its manifest", claim, group[i].Name)
		}
	}
}

// shownClaims bounds how many rivals a refusal names.
const shownClaims = 10

// refuseAll refuses every plugin that claims the same thing: to pick one would
// be to guess. Two that are built in are the embedder's own affair.
func refuseAll(group []*Plugin, claim string) {
	for _, p := range group {
		if p.Origin == OriginBuiltin {
			continue
		}
		var others []string
		for _, q := range group {
			if q != p {
				others = append(others, fmt.Sprintf("%s (%s, %s)", q.Name, q.Origin, q.Path))
			}
		}
		if n := len(others) - shownClaims; n > 0 {
			others = append(others[:shownClaims], fmt.Sprintf("%d more", n))
		}
		p.refuse("%s is also claimed by %s; remove one of them or rename it in its manifest", claim, strings.Join(others, ", "))
	}
}

func (p *Plugin) refuse(format string, args ...any) {
	p.Problem = errors.Join(p.Problem, abi.Errorf(abi.CodeLoad, format, args...))
}

func toolNames(p *Plugin) []string {
	var all []string
	for i := range p.Manifest.Tools {
		all = append(all, names(&p.Manifest.Tools[i])...)
	}
	return all
}

func names(t *abi.Tool) []string { return append([]string{t.Name}, t.Aliases...) }

// Plugins lists every plugin that was found, broken ones too.
func (s *Set) Plugins() []*Plugin { return slices.Clone(s.plugins) }

// Plugin returns the plugin of that name. Where several were found, it is the
// one that can be used, if any can.
func (s *Set) Plugin(name string) (*Plugin, bool) {
	var found *Plugin
	for _, p := range s.plugins {
		if p.Name == name && (found == nil || found.Problem != nil) {
			found = p
		}
	}
	return found, found != nil
}

// Tools lists the tools that can be called: built-in ones first, then by name.
func (s *Set) Tools() []*Tool { return slices.Clone(s.tools) }

// Tool returns the tool of that name or alias.
func (s *Set) Tool(name string) (*Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Close waits for calls under way, or for ctx, and frees every plugin and
// runner.
func (s *Set) Close(ctx context.Context) error {
	var errs []error
	for _, p := range s.plugins {
		errs = append(errs, p.close(ctx))
	}
	for _, r := range s.runners {
		errs = append(errs, r.Close(ctx))
	}
	return errors.Join(errs...)
}
