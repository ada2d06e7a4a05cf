package permissions

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// Places are paths that a sandbox shuts, absolute and clean, sorted. Most may lead
// through links: they are to be resolved before they are shut, and so may not exist.
type Places struct {
	// Hidden may not be read. What does not exist needs nothing.
	Hidden []string
	// Shown lie in what is hidden, and may be read: what a person approved, and the
	// session's own folder. What is hidden in them stays hidden: both lists in one, in
	// order, are what to do.
	Shown []string
	// Protected lie in writable directories and may not be changed, nor made where they
	// do not exist.
	Protected []string
	// Pinned are the directories above them, up to the writable one. They may be
	// written but not renamed, as another could be put in their place; one that is
	// mounted on itself cannot be. Those that do not exist come into being with the
	// placeholder of what is protected in them.
	Pinned []string
}

// List returns the names in a directory. The error is [fs.ErrNotExist] where there is no
// directory, and another one where there is one that cannot be listed now: who made it
// so may come back on it.
type List func(dir string) (names []string, err error)

// maxFound bounds what wildcards find, against a pattern such as //*/*/*/*.
const maxFound = 10_000

// Find returns the places of patterns that need no walk: literal paths whether or not
// they exist, and what single wildcards find by listing a few directories. A pattern
// that is one name of any depth is taken to mean what lies directly in the working
// directories, where it may not come into being.
//
// A rule that hides a working directory or the root leaves nothing to run a command
// in: the host is to refuse.
func (w *Walls) Find(list List) Places {
	f := finder{walls: w, list: list}
	f.rules()
	f.guarded()
	for _, dir := range w.roots {
		f.gitOf(dir)
	}
	return f.places()
}

// FindRuled is [Walls.Find] for what deny and ask rules name, without the guarded places.
func (w *Walls) FindRuled(list List) Places {
	f := finder{walls: w, list: list}
	f.rules()
	return f.places()
}

// finder collects places.
type finder struct {
	walls *Walls
	list  List
	// hidden and protected are named by rules.
	hidden, protected []string
	// secret and kept are guarded by where they lie, or by what git is configured to.
	secret, kept []string
	// closed cannot be listed, though a command may come to open them again.
	closed []string
}

// rules adds what deny and ask rules name.
func (f *finder) rules() {
	book := &f.walls.policy.book
	for _, v := range []Verdict{Deny, Ask} {
		for i := range book.paths[v].bound {
			rule := &book.paths[v].bound[i]
			for j := range rule.Reads {
				f.hidden = append(f.hidden, f.named(&rule.Reads[j])...)
			}
			for j := range rule.Writes {
				f.protected = append(f.protected, f.named(&rule.Writes[j])...)
			}
		}
	}
}

// guarded adds the places that are guarded by where they lie.
func (f *finder) guarded() {
	for _, candidates := range f.walls.policy.guards.Index {
		for i := range candidates {
			g := &candidates[i]
			if owned(&g.Pattern) || g.Place.Existing || g.Place == protected.Git && isGit(&g.Pattern) {
				continue
			}
			names := f.named(&g.Pattern)
			if g.Place.Secret {
				f.secret = append(f.secret, names...)
			}
			f.kept = append(f.kept, names...)
		}
	}
}

// owned reports whether a pattern is of what a sandbox has its own of.
func owned(p *pathrule.Pattern) bool {
	return p.Base == "" && len(p.Segs) > 0 && (p.Segs[0].Text == "proc" || p.Segs[0].Text == "dev")
}

// isGit reports whether a pattern names git's own directory, of which [finder.gitOf]
// finds what to protect.
func isGit(p *pathrule.Pattern) bool {
	segs := glob.Shallow(p.Segs)
	return len(segs) > 0 && segs[len(segs)-1].Text == ".git"
}

// named are the paths that a pattern names, all that lies below them left out.
func (f *finder) named(p *pathrule.Pattern) []string {
	segs := glob.Shallow(p.Segs)
	if len(segs) == 0 || !segs[0].Deep {
		return f.expand(p.Base, segs)
	}
	dirs := f.walls.roots
	if p.Base != "" {
		dirs = []string{p.Base}
	}
	var out []string
	for _, dir := range dirs {
		out = append(out, f.expand(dir, segs[1:])...)
	}
	return out
}

// expand follows components from a directory, listing where one has a wildcard. Of
// what comes behind a wildcard of any depth it knows nothing.
func (f *finder) expand(base string, segs []glob.Segment) []string {
	found := []string{base}
	for i := range segs {
		if segs[i].Deep || len(found) > maxFound {
			return nil
		}
		var next []string
		for _, dir := range found {
			next = append(next, f.children(dir, &segs[i])...)
		}
		found = next
	}
	for i := range found {
		found[i] = cmp.Or(found[i], "/")
	}
	return found
}

// children are the paths in a directory that a component matches.
func (f *finder) children(dir string, s *glob.Segment) []string {
	if s.Literal() {
		return []string{dir + "/" + s.Text}
	}
	names, err := f.list(cmp.Or(dir, "/"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && paths.InsideAny(f.walls.roots, dir) {
		f.closed = append(f.closed, dir)
	}
	var out []string
	for _, name := range names {
		if paths.IsName(name) && s.Match(name, f.walls.policy.places.fold) {
			out = append(out, dir+"/"+name)
		}
	}
	return out
}

// places keeps of what was found what the walls shut.
func (f *finder) places() Places {
	w, found := f.walls, Places{}
	hide := func(name string) { found.Hidden = append(found.Hidden, f.names(name)...) }
	protect := func(name string) {
		if !w.opened(name) {
			for _, form := range f.names(name) {
				found.protect(w.roots, form)
			}
		}
	}
	keep(f.hidden, hide, w.Hides)
	keep(f.secret, hide, w.secret, w.Hides)
	keep(f.protected, protect, w.shutsWriting)
	keep(f.kept, protect, w.kept, w.ruledWriting)
	found.Hidden = paths.Sorted(append(found.Hidden, f.closed...))
	found.Shown = paths.Sorted(w.shown(found.Hidden))
	found.Protected = paths.Outermost(found.Protected)
	found.Pinned = paths.Sorted(found.Pinned)
	return found
}

// keep takes the names of which one of some things is true.
func keep(names []string, take func(name string), is ...func(name string) bool) {
	for _, name := range names {
		if slices.ContainsFunc(is, func(is func(string) bool) bool { return is(name) }) {
			take(name)
		}
	}
}

// secret and kept are [Walls.Hides] and [Walls.Protects] of a path that is known to be
// guarded, as far as rules have no say: there are hundreds.
func (w *Walls) secret(name string) bool {
	return w.secrets && !paths.InsideAny(w.policy.session, name) && !w.approves(AccessRead, name)
}

func (w *Walls) kept(name string) bool { return w.edits && !w.approves(AccessWrite, name) }

// names is a path with where it really lies, if that can be told.
func (f *finder) names(name string) []string {
	if target := f.walls.lies(name); target != name {
		return []string{name, target}
	}
	return []string{name}
}

// lies is where a path really lies, as far as that can be told.
func (w *Walls) lies(name string) string {
	follow := w.policy.places.resolve
	if w.resolve != nil {
		follow = w.resolve
	}
	if follow != nil {
		return cmp.Or(follow(name), name)
	}
	return name
}

// protect adds a path that lies in a writable directory, or such a directory that lies
// in it.
func (p *Places) protect(roots []string, name string) {
	for _, dir := range roots {
		if _, inside := paths.Below(dir, name); inside {
			p.Protected = append(p.Protected, name)
			p.Pinned = append(p.Pinned, paths.Parents(dir, name)...)
		} else if _, above := paths.Below(paths.Prefix(name), dir); above {
			p.Protected = append(p.Protected, cmp.Or(dir, "/"))
		}
	}
}

// Pins returns the directories to pin for a path that a walk found to be protected,
// as [Places.Pinned] are.
func (w *Walls) Pins(name string) []string {
	var pinned Places
	pinned.protect(w.roots, filepath.ToSlash(name))
	return pinned.Pinned
}

// opened reports whether a person approved a change in a protected place: what was
// approved may not exist yet, so all of the place is open then, but not where a rule
// denies it.
func (w *Walls) opened(name string) bool {
	approved := slices.ContainsFunc(w.approved, func(a Access) bool {
		_, named := paths.Below(name, filepath.ToSlash(a.Target))
		_, really := paths.Below(name, filepath.ToSlash(a.Real))
		return a.Kind == AccessWrite && (named || really)
	})
	return approved && w.policy.book.holdsBack(Deny, &pathrule.Query{Target: name, Real: name, Write: true}) == nil
}

// shown are the paths in what is hidden that may be read all the same.
func (w *Walls) shown(hidden []string) []string {
	candidates := slices.Clone(w.policy.session)
	for _, a := range w.approved {
		if a.Kind == AccessRead {
			candidates = append(candidates, filepath.ToSlash(a.Target), filepath.ToSlash(a.Real))
		}
	}
	return slices.DeleteFunc(candidates, func(name string) bool {
		return name == "" || !paths.InsideAny(hidden, name) || w.Hides(name)
	})
}
