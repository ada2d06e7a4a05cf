package plugins

import (
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// discover looks through the sources, and settles which plugin offers what. Plugins of an
// older set whose files are as they were are taken over from it.
func (l *lineage) discover(older *Set) ([]*Plugin, error) {
	known := make(map[spot]*Plugin)
	if older != nil {
		for _, p := range older.plugins {
			known[spotOf(p)] = p
		}
	}
	var found []*Plugin
	refused := make(map[*Plugin]error)
	for _, source := range l.options.Sources {
		plugins, err := l.search(source, known)
		switch {
		case err == nil:
		case source.Origin == OriginFlag || source.Origin == OriginBuiltin:
			return nil, err
		default:
			l.options.Logger.Warn("a plugin directory was passed over", "error", err)
		}
		found = append(found, plugins...)
		source.refuse(plugins, refused)
	}
	return settle(found, refused, l.options.Reserved), nil
}

// refuse puts down the plugins that the source does not admit.
func (s Source) refuse(found []*Plugin, refused map[*Plugin]error) {
	if s.Admit == nil {
		return
	}
	admit := s.Admit()
	for _, p := range found {
		if p.generation.finding == nil {
			continue
		}
		if err := admit(p); err != nil {
			refused[p] = &abi.Error{Code: abi.CodeNotGranted, Message: err.Error(), Err: err}
		}
		p.generation.forget()
	}
}

// spot tells plugins apart by where they lie.
type spot struct {
	origin Origin
	path   string
}

func spotOf(p *Plugin) spot { return spot{p.Origin, p.Path} }

// search finds the plugins of one source, in the order of their names.
func (l *lineage) search(source Source, known map[spot]*Plugin) ([]*Plugin, error) {
	place := source.place()
	if c, ok := place.Alone(); ok {
		return []*Plugin{l.take(source, c, known[spot{c.Origin, c.Path}])}, nil
	}
	entries, err := place.Entries()
	if err != nil {
		return nil, err
	}
	var records map[string]*discovery.Finding
	shelf := place.Lasting()
	if shelf != "" && len(known) == 0 {
		records = l.indexes.Read(shelf)
	}
	found := make([]*Plugin, len(entries))
	var recalled atomic.Int64
	inParallel(len(entries), func(i int) {
		path := filepath.Join(source.Path, entries[i])
		older := known[spot{source.Origin, path}]
		if older != nil && older.generation.untouched() && older.generation.configured() {
			found[i] = older
			return
		}
		if r := records[entries[i]]; r != nil {
			if found[i] = l.recall(source, path, r); found[i] != nil {
				recalled.Add(1)
				return
			}
		}
		if c, ok := place.Candidate(entries[i]); ok {
			found[i] = l.take(source, c, older)
		}
	})
	found = slices.DeleteFunc(found, func(p *Plugin) bool { return p == nil })
	if all := int(recalled.Load()); shelf != "" && (all != len(records) || all != len(found)) {
		l.indexes.Write(shelf, lasting(found))
	}
	return found, nil
}

// lasting are the records that the next process can rely on.
func lasting(found []*Plugin) []*discovery.Finding {
	records := make([]*discovery.Finding, 0, len(found))
	for _, p := range found {
		if r := p.generation.remember(); r != nil {
			records = append(records, r)
		}
	}
	return records
}

// remember is the record of a generation with its newest stamps, or nil where
// those say too little.
func (g *generation) remember() *discovery.Finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finding == nil || !g.settled || g.fault.Load() != nil {
		return nil
	}
	r := *g.finding
	r.ManifestAt = g.manifestAt
	if r.Completed {
		r.ModuleAt = g.moduleAt
	}
	return &r
}

// take reads a candidate, and keeps to the older plugin where that is the same.
func (l *lineage) take(source Source, c discovery.Candidate, older *Plugin) *Plugin {
	g := l.read(source, c)
	if older != nil && older.generation.is(g) {
		return older
	}
	return newPlugin(g)
}

// read reads a candidate.
func (l *lineage) read(source Source, c discovery.Candidate) *generation {
	g := &generation{lineage: l, source: source, found: c}
	b, err := c.Read()
	if err != nil {
		g.problem = err
		return g
	}
	// Modules are read again at the first call: a directory full of them is not
	// kept in memory.
	g.parsed.Store(b.Parsed)
	g.manifestAt, g.moduleAt, g.settled = b.ManifestAt, b.ModuleAt, b.Settled()
	g.finding = &b.Finding
	l.weigh(g)
	return g
}

// recall takes a plugin from its record, if its files have the stamps that they
// had then.
func (l *lineage) recall(source Source, path string, r *discovery.Finding) *Plugin {
	c := source.place().Recall(r, path)
	// As one allocation: there may be thousands.
	both := &struct {
		generation generation
		plugin     Plugin
		tool       [1]Tool
	}{generation: generation{lineage: l, source: source, found: c, finding: r}}
	g := &both.generation
	g.settled = true
	var ok bool
	if g.manifestAt, g.moduleAt, ok = g.stamps(); !ok || g.manifestAt != r.ManifestAt || r.Completed && g.moduleAt != r.ModuleAt {
		return nil
	}
	l.weigh(g)
	both.plugin.tools = both.tool[:0]
	both.plugin.init(g)
	return &both.plugin
}

// weigh holds what a plugin asks for against what this host has.
func (l *lineage) weigh(g *generation) {
	o, s := &l.options, &g.finding.Summary
	// A name given for this run does not speak for what a project brings.
	g.granted = g.found.Origin != OriginProject && slices.Contains(o.Granted, s.Name)
	g.limits, g.notes = effective(s.Limits, o.Ceilings)
	var errs [3]error
	g.runner, errs[0] = o.runnerFor(g.found.Origin, s)
	errs[1] = o.knows(g.found.Origin, s.Capabilities)
	g.given = l.configOf(s.Name)
	g.config, errs[2] = configure(g.found, s.Name, s.Config, g.given)
	g.problem = errors.Join(errs[:]...)
}

// stamps asks the file system for the stamps of a plugin's files now.
func (g *generation) stamps() (manifest, module discovery.Stamp, ok bool) {
	if g.finding == nil {
		return manifest, module, false
	}
	return g.source.place().Stamps(g.found, g.finding.Summary.Module)
}

// untouched reports whether the stamps of the files alone say that they are as
// they were.
func (g *generation) untouched() bool {
	manifest, module, ok := g.stamps()
	g.mu.Lock()
	defer g.mu.Unlock()
	return ok && g.settled && g.fault.Load() == nil && manifest == g.manifestAt && module == g.moduleAt
}

// is reports whether what was read now is what g is, byte for byte.
func (g *generation) is(now *generation) bool {
	if g.finding == nil || now.finding == nil {
		return g.finding == nil && now.finding == nil && text(g.problem) == text(now.problem)
	}
	if g.fault.Load() != nil || !g.finding.Says(now.finding) || !sameConfig(g.given, now.given) {
		return false
	}
	g.mu.Lock()
	pin, at := g.pin, g.moduleAt
	g.mu.Unlock()
	if pin == "" && at != now.moduleAt {
		return false // nothing of the module was loaded, so nothing is lost
	}
	if pin != "" {
		if newer, err := now.fingerprint(); err != nil || newer != pin {
			return false
		}
	}
	now.mu.Lock()
	manifestAt, moduleAt, settled := now.manifestAt, now.moduleAt, now.settled
	now.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.manifestAt, g.moduleAt, g.settled = manifestAt, moduleAt, settled
	return true
}
