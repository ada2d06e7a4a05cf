package plugins

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
)

// discover looks through the sources. Plugins of an older set whose files are as
// they were are taken over from it.
func (l *lineage) discover(older *Set) (*Set, error) {
	known := make(map[place]*Plugin)
	if older != nil {
		for _, p := range older.plugins {
			known[placeOf(p)] = p
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
	return l.add(settle(found, refused, l.options.Reserved))
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

// forget frees a module that was read for its fingerprint alone. The runner gets
// the same bytes: reading it again compares them.
func (g *generation) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.module = nil
}

// place tells plugins apart by where they lie.
type place struct {
	origin Origin
	path   string
}

func placeOf(p *Plugin) place { return place{p.Origin, p.Path} }

// search finds the plugins of one source, in the order of their names.
func (l *lineage) search(source Source, known map[place]*Plugin) ([]*Plugin, error) {
	if c, ok := source.alone(); ok {
		return []*Plugin{l.take(source, c, known[place{c.origin, c.path}])}, nil
	}
	entries, err := source.entries()
	if err != nil {
		return nil, err
	}
	var records map[string]*finding
	shelf := source.lasting()
	if shelf != "" && len(known) == 0 {
		records = l.indexes.read(shelf)
	}
	found := make([]*Plugin, len(entries))
	var recalled atomic.Int64
	inParallel(len(entries), func(i int) {
		path := filepath.Join(source.Path, entries[i])
		older := known[place{source.Origin, path}]
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
		if c, ok := source.candidate(entries[i]); ok {
			found[i] = l.take(source, c, older)
		}
	})
	found = slices.DeleteFunc(found, func(p *Plugin) bool { return p == nil })
	if all := int(recalled.Load()); shelf != "" && (all != len(records) || all != len(found)) {
		l.indexes.write(shelf, lasting(found))
	}
	return found, nil
}

// lasting are the records that the next process can rely on.
func lasting(found []*Plugin) []*finding {
	records := make([]*finding, 0, len(found))
	for _, p := range found {
		if r := p.generation.remember(); r != nil {
			records = append(records, r)
		}
	}
	return records
}

// remember is the record of a generation with its newest stamps, or nil where
// those say too little.
func (g *generation) remember() *finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finding == nil || !g.settled || g.fault.Load() != nil {
		return nil
	}
	r := *g.finding
	r.manifestAt = g.manifestAt
	if r.completed {
		r.moduleAt = g.moduleAt
	}
	return &r
}

// take reads a candidate, and keeps to the older plugin where that is the same.
func (l *lineage) take(source Source, c candidate, older *Plugin) *Plugin {
	g := l.read(source, c)
	if older != nil && older.generation.is(g) {
		return older
	}
	return newPlugin(g)
}

// read reads a candidate.
func (l *lineage) read(source Source, c candidate) *generation {
	g := &generation{lineage: l, source: source, found: c}
	b, err := c.read()
	if err != nil {
		g.problem = err
		return g
	}
	// Modules are read again at the first call: a directory full of them is not
	// kept in memory.
	g.parsed.Store(b.parsed)
	g.manifestAt, g.moduleAt, g.settled = b.manifestAt, b.moduleAt, b.settled()
	g.finding = &b.finding
	l.weigh(g)
	return g
}

// recall takes a plugin from its record, if its files have the stamps that they
// had then.
func (l *lineage) recall(source Source, path string, r *finding) *Plugin {
	c := candidate{origin: source.Origin, path: path, fs: source.FS}
	if r.single {
		c.file = r.entry
	} else {
		c.folder = r.entry
	}
	// As one allocation: there may be thousands.
	both := &struct {
		generation generation
		plugin     Plugin
		tool       [1]Tool
	}{generation: generation{lineage: l, source: source, found: c, finding: r, settled: true}}
	g := &both.generation
	var ok bool
	if g.manifestAt, g.moduleAt, ok = g.stamps(); !ok || g.manifestAt != r.manifestAt || r.completed && g.moduleAt != r.moduleAt {
		return nil
	}
	l.weigh(g)
	both.plugin.tools = both.tool[:0]
	both.plugin.init(g)
	return &both.plugin
}

// weigh holds what a plugin asks for against what this host has.
func (l *lineage) weigh(g *generation) {
	o, s := &l.options, &g.finding.summary
	// A name given for this run does not speak for what a project brings.
	g.granted = g.found.origin != OriginProject && slices.Contains(o.Granted, s.name)
	g.limits, g.notes = effective(s.limits, o.Ceilings)
	var errs [3]error
	g.runner, errs[0] = o.runnerFor(g.found.origin, s)
	errs[1] = o.knows(s.capabilities)
	g.given = l.configOf(s.name)
	g.config, errs[2] = g.found.configure(s.name, s.config, g.given)
	g.problem = errors.Join(errs[:]...)
}

// stamps asks the file system for the stamps of a plugin's files now.
func (g *generation) stamps() (manifest, module stamp, ok bool) {
	if g.finding == nil {
		return manifest, module, false
	}
	if p := g.source.program; p != nil {
		return p.stamp, p.stamp, true
	}
	if g.source.dir == "" {
		return manifest, module, false
	}
	const separator = string(filepath.Separator)
	if g.found.file != "" {
		manifest, ok = stampAt(g.source.dir + separator + g.found.file)
		return manifest, manifest, ok && manifest.size <= maxModule
	}
	if manifest, ok = stampAt(g.source.dir + separator + g.found.folder + separator + abi.ManifestFile); !ok {
		return manifest, module, false
	}
	module, ok = stampAt(g.source.dir + separator + g.found.folder + separator + g.finding.summary.module)
	return manifest, module, ok && module.size <= maxModule
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
	if g.fault.Load() != nil || !g.finding.says(now.finding) || !sameConfig(g.given, now.given) {
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

// inParallel calls do for every number below n, on as many goroutines as there
// are processors. Small numbers are not worth another goroutine.
func inParallel(n int, do func(i int)) {
	const chunk = 32
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(chunk))
			if end-chunk >= n {
				return
			}
			for i := end - chunk; i < min(end, n); i++ {
				do(i)
			}
		}
	}
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
}
