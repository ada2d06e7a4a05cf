package permissions

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
	"github.com/toolquay/toolquay/permissions/internal/walk"
)

// Walls are what a sandbox is to enforce of a policy while a command runs in it,
// where nobody can be asked: what would ask is shut, unless a person has said yes to
// it for this call. They are safe for concurrent use, and count as long as the
// policy does.
//
// A sandbox that takes the whole file system read-only and the working directories
// writable, and others that [Walls.Around] is told of, needs besides:
//
//  1. [Walls.Find]: the places that patterns name whatever there is in the working
//     directories, and what lies directly in them;
//  2. where [Walls.Walks] names directories, a walk of these, as there are patterns of
//     any depth (.env, *.pem, secrets/**): for every name that is not plain in its
//     [Walls.Directory], [Walls.Hides] and [Walls.Protects] tell. What is hidden or
//     protected need not be gone into;
//  3. a walk of [Walls.Guarded] as well, for what is guarded by its name deeper in the
//     writable directories: [Walls.Protects] tells of names, and [Walls.Repository] of
//     what makes git run programs in the repositories that are met.
//
// What a pattern of any depth names elsewhere stays readable. Devices and what lies in
// /proc are guarded too, but not found: a sandbox has its own.
type Walls struct {
	policy   *Policy
	approved []Access
	// secrets and edits say that the mode holds back guarded places.
	secrets, edits bool
	// roots are the directories that a sandbox leaves writable, as they really lie.
	roots []string
	// resolve tells where paths really lie; nil is the policy's way.
	resolve func(path string) string
	// read reads a file, or is nil.
	read Read
}

// Walls returns what a sandbox is to enforce while a call runs for which a person
// approved these accesses. They stand for what would ask, and never against a deny.
func (p *Policy) Walls(approved []Access) *Walls {
	return &Walls{
		policy: p, approved: slices.Clone(approved), roots: p.workingReal,
		secrets: p.mode.answers(guardedRead) != Allow, edits: p.mode.answers(guardedEdit) != Allow,
	}
}

// Following returns the same walls with another way than the policy's to tell where
// paths really lie, such as one that remembers: [Walls.Find] asks about hundreds that
// have most of their directories in common.
func (w *Walls) Following(resolve func(path string) string) *Walls {
	following := *w
	following.resolve = resolve
	return &following
}

// Around returns the walls of a sandbox that leaves further directories writable, such
// as those of caches: what is closed in a working directory is so in them. They are
// given as they really lie.
func (w *Walls) Around(further []string) *Walls {
	around := *w
	around.roots = slices.Clip(w.roots)
	for _, dir := range further {
		if dir = paths.Prefix(dir); !slices.Contains(around.roots, dir) {
			around.roots = append(around.roots, dir)
		}
	}
	return &around
}

// Reading returns walls that follow what repositories are configured to, in
// [Walls.Find]: without a way to read they know the usual places only.
func (w *Walls) Reading(read Read) *Walls {
	reading := *w
	reading.read = read
	return &reading
}

// Hides reports whether a path may not be read, given as it really lies: a rule
// denies it, or a rule or its being a credential store would ask and nobody approved.
func (w *Walls) Hides(name string) bool {
	if w.Withholds(name) {
		return true
	}
	name = filepath.ToSlash(name)
	return w.secrets && w.policy.guards.Of(name, false) != nil && !w.approves(AccessRead, name)
}

// Withholds is [Walls.Hides] as far as rules say so.
func (w *Walls) Withholds(name string) bool {
	q := pathrule.Query{Target: filepath.ToSlash(name), Real: filepath.ToSlash(name)}
	if w.policy.book.holdsBack(Deny, &q) != nil {
		return true
	}
	return w.policy.book.holdsBack(Ask, &q) != nil && !w.approves(AccessRead, q.Target)
}

// HidesIn reports whether a sandbox made of the walls surely hides all that rules withhold
// in a tree of a command. What a pattern of any depth names outside of [Walls.Walks] it does
// not hide. Former content of a tree, which git keeps, is not looked at.
func (w *Walls) HidesIn(a Access) bool {
	for _, v := range []Verdict{Deny, Ask} {
		for i := range w.policy.book.paths[v].bound {
			reads := w.policy.book.paths[v].bound[i].Reads
			for j := range reads {
				if p := &reads[j]; p.Meets(a.tree()) && !w.hidesAll(p, a.Real) {
					return false
				}
			}
		}
	}
	return a.Real != ""
}

// hidesAll reports whether what a pattern names in a tree is found by [Walls.Find] or a walk.
func (w *Walls) hidesAll(p *pathrule.Pattern, tree string) bool {
	segs := glob.Shallow(p.Segs)
	if glob.DeepInside(segs) {
		return p.Base != "" && !w.crowded(p.Base) || paths.InsideAny(w.roots, filepath.ToSlash(tree))
	}
	// A list of names that a wildcard makes is cut where another component follows.
	return len(segs) == 0 || !slices.ContainsFunc(segs[:len(segs)-1], func(s glob.Segment) bool { return !s.Literal() })
}

// Protects reports whether a path may not be changed, although it lies in a working
// directory. Of what git keeps, only what makes git run programs is protected, as
// git itself writes the rest: see [gitPrograms].
func (w *Walls) Protects(name string) bool {
	name = filepath.ToSlash(name)
	return w.ruledWriting(name) || w.guardsWriting(name) && !w.opened(name) && !gitsOwn(name, w.policy.guards.Of(name, true))
}

// Placed reports whether [Walls.Find] tells of a guarded path directly in a writable
// directory whether or not it exists. Of others a walk tells where they exist.
func (w *Walls) Placed(name string) bool {
	place := w.policy.guards.Of(filepath.ToSlash(name), true)
	return place == nil || !place.Existing
}

// Forbids reports whether a rule holds back changing a path, wherever it lies.
func (w *Walls) Forbids(name string) bool { return w.ruledWriting(filepath.ToSlash(name)) }

// shutsWriting is Protects with all that git keeps.
func (w *Walls) shutsWriting(name string) bool { return w.ruledWriting(name) || w.guardsWriting(name) }

// ruledWriting reports whether a rule holds back changing a path.
func (w *Walls) ruledWriting(name string) bool {
	q := pathrule.Query{Target: name, Real: name, Write: true}
	if w.policy.book.holdsBack(Deny, &q) != nil {
		return true
	}
	return w.policy.book.holdsBack(Ask, &q) != nil && !w.approves(AccessWrite, name)
}

// guardsWriting reports whether changing a path is held back by where it lies.
func (w *Walls) guardsWriting(name string) bool {
	return w.edits && w.policy.guards.Of(name, true) != nil && !w.approves(AccessWrite, name)
}

// gitsOwn reports whether a guarded path is git's to write.
func gitsOwn(name string, place *protected.Place) bool {
	rest, inGit := insideGit(name)
	return place == protected.Git && inGit && !runsPrograms(rest)
}

// approves reports whether a person said yes to this path, or to a tree it lies in.
func (w *Walls) approves(kind AccessKind, name string) bool {
	return slices.ContainsFunc(w.approved, func(a Access) bool {
		return a.Kind == kind && (covers(&a, a.Target, name) || covers(&a, a.Real, name))
	})
}

func covers(a *Access, dir, name string) bool {
	dir = filepath.ToSlash(dir)
	if dir == "" || dir == name {
		return dir != ""
	}
	_, inside := paths.Below(paths.Prefix(dir), name)
	return a.Tree && a.Glob == "" && inside
}

// Walks returns the directories in which there may be something that only a walk
// finds, none where no rule has a pattern of any depth: what is writable, and others
// that such a pattern starts in.
func (w *Walls) Walks() []string {
	var dirs []string
	for p := range w.ruled() {
		if !glob.DeepInside(p.Segs) {
			continue
		}
		if p.Base != "" && !w.crowded(p.Base) {
			dirs = append(dirs, p.Base)
			continue
		}
		for _, root := range w.roots {
			if root = cmp.Or(root, "/"); p.Reaches(root) {
				dirs = append(dirs, root)
			}
		}
	}
	return paths.Outermost(dirs)
}

// Guarded returns the writable directories, in which names may be guarded at any depth;
// none where the mode holds nothing back.
func (w *Walls) Guarded() []string {
	if !w.edits {
		return nil
	}
	dirs := slices.Clone(w.roots)
	for i := range dirs {
		dirs[i] = cmp.Or(dirs[i], "/")
	}
	return paths.Outermost(dirs)
}

// Inside reports whether a path lies in a writable directory, and is none itself.
func (w *Walls) Inside(name string) bool {
	name = filepath.ToSlash(name)
	return paths.InsideAny(w.roots, name) && !slices.Contains(w.roots, paths.Prefix(name))
}

// Settings are the paths of what the host reads in a project, where they really lie, as far
// as that is in a writable directory and nobody approved changing it.
func (w *Walls) Settings(project string) []string {
	var out []string
	for _, name := range protected.HostSettings {
		if name = w.lies(paths.From(filepath.ToSlash(project), name)); w.kept(name) && w.Inside(name) && !w.opened(name) {
			out = append(out, name)
		}
	}
	return out
}

// crowded reports whether a directory is the home or a working directory or lies
// above one, so that there is too much in it to look through all of it.
func (w *Walls) crowded(dir string) bool {
	holds := func(inner string) bool {
		_, inside := paths.Below(dir, inner)
		return inside
	}
	return slices.ContainsFunc(slashed(w.policy.places.home), holds) || slices.ContainsFunc(w.policy.working, holds)
}

// Directory prepares looking at what lies in a directory of the walk: a name that is
// plain there is neither hidden nor protected by a rule, nor guarded by its name.
func (w *Walls) Directory(dir string) Directory {
	var kept protected.Index
	if w.edits {
		kept = w.policy.guards.Index
	}
	return walk.Changing(paths.Prefix(dir), kept, w.policy.book.paths[Deny].bound, w.policy.book.paths[Ask].bound)
}

// ruled yields the patterns of the rules that hold back reading or changing.
func (w *Walls) ruled() func(yield func(p *pathrule.Pattern) bool) {
	return func(yield func(p *pathrule.Pattern) bool) {
		for _, v := range []Verdict{Deny, Ask} {
			for i := range w.policy.book.paths[v].bound {
				rule := &w.policy.book.paths[v].bound[i]
				for j := range rule.Reads {
					if !yield(&rule.Reads[j]) {
						return
					}
				}
				for j := range rule.Writes {
					if !yield(&rule.Writes[j]) {
						return
					}
				}
			}
		}
	}
}

// gitPrograms are the names in git's own directory that make git run programs, or
// read its configuration elsewhere, so that no command in a sandbox may write them.
// All else there is git's to write when a command commits, fetches or rebases:
// objects, refs, logs, index, HEAD, and what tells of a merge or rebase under way.
// info/attributes is too: it can only choose among the filters that configuration
// names, as any .gitattributes can.
var gitPrograms = []string{
	"hooks",           // programs that git runs
	"config",          // names hooks, filters, pagers, the file system monitor, aliases ...
	"config.worktree", // the same, for one work tree
	"commondir",       // leads to another directory with hooks and configuration
}

// gitFolders hold directories that are laid out as git's own: those of submodules
// and of further work trees.
var gitFolders = []string{"modules", "worktrees"}

// gitContent are the directories of a repository that are large and hold no others that
// are laid out as git's own.
var gitContent = []string{"objects", "refs", "logs", "lfs", "hooks", "info"}

// insideGit returns what of a path lies below its last component .git.
func insideGit(name string) (rest string, ok bool) {
	for tail := strings.TrimPrefix(name, "/"); tail != ""; {
		var part string
		part, tail = paths.Cut(tail)
		if paths.Fold(part) == ".git" {
			rest, ok = tail, true
		}
	}
	return rest, ok
}

// runsPrograms reports whether a path below git's own directory is one of
// [gitPrograms], or lies in one. The directory itself is not: see [Places.Pinned].
func runsPrograms(rest string) bool {
	for first := true; rest != ""; first = false {
		var part string
		part, rest = paths.Cut(rest)
		part = paths.Fold(part)
		if slices.Contains(gitPrograms, part) {
			return true
		}
		// A submodule may be called libs/x, so its name ends anywhere.
		if first && !slices.Contains(gitFolders, part) {
			return false
		}
	}
	return false
}

// ReachableHost reports whether a command of a tool may be let through to a host, a
// name or address with or without a port, where nobody can be asked. This is the one
// place where rules that allow WebFetch a host by name speak of commands; so do those
// of the tool itself. It says why not.
func (p *Policy) ReachableHost(tool, host string) (ok bool, why string) {
	h := hosts.Of(host)
	calls := []*Request{{Tool: tool}, {Tool: toolWebFetch}}
	held := func(v Verdict) *Rule {
		for _, r := range calls {
			if rule := p.book.host(v, r, &h); rule != nil {
				return rule
			}
		}
		return nil
	}
	if rule := held(Deny); rule != nil {
		return false, "the deny rule " + rule.String() + " (" + rule.Source.String() + ") names it"
	}
	switch rule := held(Ask); {
	case h.Odd != "":
		return false, "it cannot be told for sure which host it names: " + h.Odd
	case rule != nil:
		return false, "the ask rule " + rule.String() + " (" + rule.Source.String() + ") names it, and nobody can be asked"
	case h.Local && !p.book.names(&h):
		return false, localWhy + "; only a rule that names it allows it"
	case held(Allow) != nil || p.mode == ModeBypass:
		return true, ""
	}
	return false, "no rule allows it; " + toolWebFetch + "(domain:" + h.Name + ") would"
}

// HoldsBackHost reports whether a deny or ask rule speaks of a command's reaching a
// host, in one of the ways of [Policy.ReachableHost].
func (p *Policy) HoldsBackHost(tool, host string) bool {
	h := hosts.Of(host)
	for _, v := range []Verdict{Deny, Ask} {
		for _, r := range []*Request{{Tool: tool}, {Tool: toolWebFetch}} {
			if p.book.host(v, r, &h) != nil {
				return true
			}
		}
	}
	return false
}

// NamesHost reports whether an allow rule names a host, other than by a wildcard, so
// that it may be one of this machine or of a private network.
func (p *Policy) NamesHost(host string) bool {
	h := hosts.Of(host)
	return h.Odd == "" && p.book.names(&h)
}
