package sandbox

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/gitrepo"
	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// maxFound bounds what wildcards find, against a pattern such as //*/*/*/*.
const maxFound = 10_000

// Find returns the paths that are found without a walk: literal paths whether or not they exist,
// and those that single wildcards find by listing a few directories. Of a pattern of any depth it
// returns the path directly in the working directories, so that the file cannot be made there.
//
// If a rule hides a working directory or the root, no command can run: the host must refuse it.
func (w *Policy) Find(list func(dir string) (names []string, err error)) Places {
	f := finder{Policy: w, list: list}
	f.rules()
	f.guarded()
	git := w.git(list)
	for _, dir := range w.Roots {
		git.WorkTree(dir)
	}
	f.keeps = append(f.keeps, git.Found...)
	return f.places()
}

// FindRuled is [Policy.Find] for rules alone, without the protected places.
func (w *Policy) FindRuled(list func(dir string) (names []string, err error)) Places {
	f := finder{Policy: w, list: list}
	f.rules()
	return f.places()
}

// git looks for the paths that make git run programs.
func (w *Policy) git(list func(dir string) (names []string, err error)) gitrepo.Programs {
	return gitrepo.Programs{Disk: gitrepo.Disk{List: list, Read: w.read, Lies: w.Lies, Home: w.Home}, Writable: w.Inside}
}

// Repository returns the paths that make git run programs in a repository somewhere in the
// writable directories, whether or not it exists, as they really lie: of the work tree top or,
// where it is bare, of a directory laid out as git's own. Commands may have written its
// configuration, so paths that it leads to do not count if they would protect a whole writable
// directory.
func (w *Policy) Repository(top string, bare bool, list func(dir string) (names []string, err error)) []string {
	git := w.git(list)
	git.Repository(paths.Prefix(top), bare)
	var out []string
	keep(git.Found, func(name string) {
		name = w.Lies(name)
		shuts := slices.ContainsFunc(w.Roots, func(root string) bool { return paths.InsideAny([]string{name}, root) })
		if paths.InsideAny(w.Roots, name) && !shuts && !w.opened(name) {
			out = append(out, name)
		}
	}, w.kept, w.ruledWriting)
	return paths.Sorted(out)
}

// finder collects places.
type finder struct {
	*Policy
	list func(dir string) (names []string, err error)
	// hidden and changed are named by rules on reading and on changing.
	hidden, changed []string
	// secrets and keeps are protected by where they lie, or by the configuration of git.
	secrets, keeps []string
	// closed directories cannot be listed, though a command may open them again.
	closed []string
}

// rules adds the paths that deny and ask rules name.
func (f *finder) rules() {
	for _, rules := range []pathrule.List{f.Deny, f.Ask} {
		for i := range rules {
			for j := range rules[i].Reads {
				f.hidden = append(f.hidden, f.named(&rules[i].Reads[j])...)
			}
			for j := range rules[i].Writes {
				f.changed = append(f.changed, f.named(&rules[i].Writes[j])...)
			}
		}
	}
}

// guarded adds the protected places.
func (f *finder) guarded() {
	for _, candidates := range f.Protected.Index {
		for i := range candidates {
			g := &candidates[i]
			if owned(&g.Pattern) || g.Place.Existing || g.Place.Content || g.Place == protected.Git && isGit(&g.Pattern) {
				continue
			}
			names := f.named(&g.Pattern)
			if g.Place.Secret {
				f.secrets = append(f.secrets, names...)
			}
			if len(g.Open) == 0 { // else it is around a directory to work in
				f.keeps = append(f.keeps, names...)
			}
		}
	}
}

// owned reports whether a pattern lies in /proc or /dev: a sandbox has its own.
func owned(p *pathrule.Pattern) bool {
	return p.Base == "" && len(p.Segs) > 0 && (p.Segs[0].Text == "proc" || p.Segs[0].Text == "dev")
}

// isGit reports whether a pattern names git's own directory, of which package gitrepo
// finds what to protect.
func isGit(p *pathrule.Pattern) bool {
	segs := glob.Shallow(p.Segs)
	return len(segs) > 0 && segs[len(segs)-1].Text == ".git"
}

// named returns the paths that a pattern names, without those below them.
func (f *finder) named(p *pathrule.Pattern) []string {
	segs := glob.Shallow(p.Segs)
	if len(segs) == 0 || !segs[0].Deep {
		return f.expand(p.Base, segs)
	}
	dirs := f.Roots
	if p.Base != "" {
		dirs = []string{p.Base}
	}
	var out []string
	for _, dir := range dirs {
		out = append(out, f.expand(dir, segs[1:])...)
	}
	return out
}

// expand follows components from a directory, and lists directories for wildcards. It finds nothing
// for a wildcard of any depth.
func (f *finder) expand(base string, segs []glob.Segment) []string {
	found := []string{base}
	for i := range segs {
		if segs[i].Deep || len(found) > maxFound {
			return nil
		}
		if segs[i].Literal() {
			for j := range found {
				found[j] += "/" + segs[i].Text
			}
			continue
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

// children are the paths in a directory that a wildcard matches.
func (f *finder) children(dir string, s *glob.Segment) []string {
	names, err := f.list(cmp.Or(dir, "/"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && paths.InsideAny(f.Roots, dir) {
		f.closed = append(f.closed, dir)
	}
	var out []string
	for _, name := range names {
		if paths.IsName(name) && s.Match(name, f.Fold) {
			out = append(out, dir+"/"+name)
		}
	}
	return out
}

// places keeps those of the found paths that are hidden or protected.
func (f *finder) places() Places {
	w, found := f.Policy, Places{}
	hide := func(name string) { found.Hidden = append(found.Hidden, f.names(name)...) }
	protect := func(name string) {
		if !w.opened(name) {
			for _, form := range f.names(name) {
				found.protect(w.Roots, form)
			}
		}
	}
	keep(f.hidden, hide, w.Hides)
	keep(f.secrets, hide, w.secret, w.Hides)
	keep(f.changed, protect, w.shutsWriting)
	keep(f.keeps, protect, w.kept, w.ruledWriting)
	found.Hidden = paths.Sorted(append(found.Hidden, f.closed...))
	found.Shown = paths.Sorted(w.shown(found.Hidden))
	found.Protected = paths.Outermost(found.Protected)
	found.Pinned = paths.Sorted(found.Pinned)
	return found
}

// keep takes the names for which one of the conditions holds.
func keep(names []string, take func(name string), is ...func(name string) bool) {
	for _, name := range names {
		if slices.ContainsFunc(is, func(is func(string) bool) bool { return is(name) }) {
			take(name)
		}
	}
}
