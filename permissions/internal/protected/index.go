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
	g[key] = append(g[key], Entry{pathrule.New("", glob.Cover(segs), true), place})
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
			if !write && !c.Place.Secret || !c.Match(path) {
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
}

// Of returns the place that a path lies in, or nil, as [Index.Find] does.
func (p *Paths) Of(path string, write bool) *Place {
	if !write && paths.InsideAny(p.Session, path) {
		return nil
	}
	return p.Find(path, write)
}
