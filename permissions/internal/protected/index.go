package protected

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// homes are the directories of users' homes on known systems, for the credential stores of other
// users.
var homes = [][]glob.Segment{
	glob.Names("root"),
	{{Text: "home"}, glob.Star},
	{{Text: "Users"}, glob.Star},
	glob.Names("var/root"),
}

// Entry is one pattern of a place.
type Entry struct {
	pathrule.Pattern
	Place *Place
	// Open are the names of a directory in the place that is none of it.
	Open []string
	// Public are directories in the place that hold no secrets, though they are protected.
	Public []pathrule.Pattern
}

// public reports whether a path lies in a directory of the place that holds no secrets.
func (e *Entry) public(path string) bool {
	return slices.ContainsFunc(e.Public, func(p pathrule.Pattern) bool { return p.Match(path) })
}

// Match reports whether a path lies in the place.
func (e *Entry) Match(path string) bool {
	return !paths.InsideAny(e.Open, path) && e.Pattern.Match(path)
}

// Reaches reports whether reading a path may tell some of the place.
func (e *Entry) Reaches(path string) bool {
	return !paths.InsideAny(e.Open, path) && !e.public(path) && e.Pattern.Reaches(path)
}

// Meets reports whether reading a tree may tell some of the place.
func (e *Entry) Meets(t pathrule.Tree) bool {
	closed := func(path string) bool { return !paths.InsideAny(e.Open, path) && !e.public(path) }
	return (closed(t.Target) || t.Real != "" && closed(t.Real)) && e.Pattern.Meets(t)
}

// Index finds the places of a path by a literal component of theirs, so that a path without
// such components costs one look-up for each component and no more.
type Index map[string][]Entry

// parsed are the places parsed, in the same order, with all that lies below.
var parsed = sync.OnceValue(func() [][]*pathrule.Spec {
	out := make([][]*pathrule.Spec, len(places))
	for i, place := range places {
		for _, text := range place.Patterns {
			// A test holds that every pattern of the table parses.
			if spec, err := pathrule.Parse(text); err == nil {
				spec.Segs = glob.Cover(spec.Segs)
				out[i] = append(out[i], spec)
			}
		}
	}
	return out
})

// common is what is protected wherever a session's home is.
var common = sync.OnceValue(func() Index {
	g := make(Index)
	for i, specs := range parsed() {
		for _, spec := range specs {
			g.addCommon(&places[i], spec)
		}
	}
	for key, list := range g {
		g[key] = slices.Clip(list) // the list is shared: appending must copy it
	}
	return g
})

// New makes the index for a session: each directory is given by all its names.
func New(home, sessions []string, hostFolders [][]string) Index {
	g := maps.Clone(common())
	for i, specs := range parsed() {
		for _, spec := range specs {
			if spec.Anchor != pathrule.Home {
				continue
			}
			for _, form := range home {
				g.add(&places[i], append(glob.Names(form), spec.Segs...))
			}
		}
	}
	for _, dir := range hostFolders {
		for _, form := range dir {
			g.add(&hostPlace, glob.Names(form))
		}
	}
	for _, form := range sessions {
		g.add(&sessionsPlace, glob.Names(form))
	}
	return g
}

func (g Index) addCommon(place *Place, spec *pathrule.Spec) {
	switch spec.Anchor {
	case pathrule.Home:
		for _, prefix := range homes {
			g.add(place, append(slices.Clip(prefix), spec.Segs...))
		}
	case pathrule.Root:
		g.add(place, spec.Segs)
	default:
		g.add(place, glob.Deepen(spec.Segs))
	}
}

func (g Index) add(place *Place, segs []glob.Segment) {
	key := ""
	for _, s := range segs {
		if s.Literal() {
			key = paths.Fold(s.Text)
		}
	}
	g[key] = append(g[key], Entry{Pattern: pathrule.New("", glob.Cover(segs), true), Place: place})
}

// Find returns the place that a path lies in, or nil. Without write only places of secrets
// count. Secrets come before what is only protected; of several the deepest one wins.
func (g Index) Find(path string, write bool) *Place {
	var found *Place
	rest := strings.TrimPrefix(path, "/")
	for rest != "" {
		var name string
		name, rest = paths.Cut(rest)
		candidates := g[paths.Fold(name)]
		for i := range candidates {
			c := &candidates[i]
			if !write && (!c.Place.Secret || c.public(path)) || !c.Match(path) {
				continue
			}
			if c.Place.Secret || found == nil || !found.Secret {
				found = c.Place
			}
		}
	}
	return found
}

// AnyDepth reports whether a place that is protected at any depth is found by a name.
func (g Index) AnyDepth(name string) bool {
	for _, c := range g[paths.Fold(name)] {
		if c.Base == "" && len(c.Segs) > 0 && c.Segs[0].Deep {
			return true
		}
	}
	return false
}

// Secret reports whether a credential store or device is found by a name.
func (g Index) Secret(name string) bool {
	for _, c := range g[paths.Fold(name)] {
		if c.Place.Secret {
			return true
		}
	}
	return false
}

// SecretIn reports whether a directory may hold a credential store or device that is found
// by a component of the directory's path.
func (g Index) SecretIn(dir string) bool {
	for rest := strings.TrimPrefix(dir, "/"); rest != ""; {
		var name string
		name, rest = paths.Cut(rest)
		candidates := g[paths.Fold(name)]
		for i := range candidates {
			if candidates[i].Place.Secret && candidates[i].Reaches(dir) {
				return true
			}
		}
	}
	return false
}

// Paths are the protected paths of a session.
type Paths struct {
	Index
	// Session are the names of the session's own folder, which is no secret to it.
	Session []string
	// Opened are the names of a directory that lies in protected places and is none of them.
	Opened []string
}

// Open takes a directory, given by its names, out of the places that hold the whole of it.
// What is protected in it by its own name stays so. It is called before the paths are used.
func (p *Paths) Open(dir []string) {
	p.Opened = dir
	p.change(func(e *Entry) bool { return slices.ContainsFunc(dir, e.Match) }, func(e *Entry) { e.Open = dir })
}

// Publish has the skills and commands in a folder of the host's own, and the skills of plugins there, be no
// secrets. The folder is given by its names. It is called before the paths are used.
func (p *Paths) Publish(dir []string) {
	var public []pathrule.Pattern
	for _, form := range dir {
		for _, rest := range [][]glob.Segment{glob.Names("skills"), glob.Names("commands"), {{Text: "plugins"}, glob.Star, {Text: "skills"}}} {
			public = append(public, pathrule.New("", glob.Cover(append(glob.Names(form), rest...)), true))
		}
	}
	hosts := func(e *Entry) bool { return e.Place.Why == hostWhy && slices.ContainsFunc(dir, e.Match) }
	p.change(hosts, func(e *Entry) { e.Public = append(slices.Clip(e.Public), public...) })
}

// change changes some entries.
func (p *Paths) change(which func(*Entry) bool, to func(*Entry)) {
	for key, list := range p.Index {
		var changed []Entry
		for i := range list {
			if !which(&list[i]) {
				continue
			}
			if changed == nil {
				changed = slices.Clone(list) // others share the list
			}
			to(&changed[i])
		}
		if changed != nil {
			p.Index[key] = changed
		}
	}
}

// Of returns the place that a path lies in, or nil, as [Index.Find] does.
func (p *Paths) Of(path string, write bool) *Place {
	if !write && paths.InsideAny(p.Session, path) {
		return nil
	}
	return p.Find(path, write)
}
