// Package sandbox works out what a sandbox must hide and protect while a command runs in it.
package sandbox

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
	"github.com/toolquay/toolquay/permissions/internal/walk"
)

// Policy is what a sandbox enforces of a policy while a command runs in it, where nobody can be
// asked: what would ask is hidden or protected, unless a person approved it for this call. It
// is safe for concurrent use, and valid as long as the policy is.
//
// The sandbox takes the whole file system read-only. The working directories, and those that
// [Policy.Around] is given, are writable. On top of that it needs:
//
//  1. [Policy.Find]: the paths that need no walk, whether or not they exist, and those
//     directly in the working directories;
//  2. a walk of [Policy.Walks], if there are any, as there are patterns of any depth (.env,
//     *.pem, secrets/**): Hides and Protects tell of every name that is not plain in its
//     [Policy.Directory]. The walk need not enter what is hidden or protected;
//  3. a walk of [Policy.Guarded] for names that are protected at any depth: Protects tells of
//     names, and [Policy.Repository] of what makes git run programs in the repositories met.
//
// Outside of these walks, a pattern of any depth hides nothing. Devices and what lies in /proc
// are protected too, but not found: a sandbox has its own.
type Policy struct {
	rulings
	Space
	// read reads the beginning of a file, or is nil.
	read func(file string) ([]byte, error)
}

// New makes a sandbox policy.
func New(rules Rules, space Space) *Policy { return &Policy{rulings: rulings{rules}, Space: space} }

// Following returns the same policy with another way to find where paths really lie, such as
// one that remembers: [Policy.Find] asks about hundreds that have most of their directories in
// common.
func (w *Policy) Following(resolve func(path string) string) *Policy {
	following := *w
	following.Resolve = resolve
	return &following
}

// Around returns the policy of a sandbox that leaves further directories writable, such as
// caches: what is protected in a working directory is protected in them, too. They are given
// as they really lie.
func (w *Policy) Around(further []string) *Policy {
	around := *w
	around.Roots = slices.Clip(w.Roots)
	for _, dir := range further {
		if dir = paths.Prefix(dir); !slices.Contains(around.Roots, dir) {
			around.Roots = append(around.Roots, dir)
		}
	}
	return &around
}

// Within returns the policy of a sandbox that leaves these directories writable and no others,
// the working ones included. They are given as they really lie.
func (w *Policy) Within(roots []string) *Policy {
	within := *w
	within.Roots = nil
	return within.Around(roots)
}

// Reading returns a policy that follows the configuration of repositories. Without a way to
// read files it knows only the usual places.
func (w *Policy) Reading(read func(file string) ([]byte, error)) *Policy {
	reading := *w
	reading.read = read
	return &reading
}

// Walks returns the directories where only a walk finds what rules name: the writable ones, and
// others that a pattern of any depth starts in. There are none if no rule has such a pattern.
func (w *Policy) Walks() []string {
	var dirs []string
	for _, rules := range []pathrule.List{w.Deny, w.Ask} {
		for i := range rules {
			dirs = w.walk(dirs, rules[i].Reads)
			dirs = w.walk(dirs, rules[i].Writes)
		}
	}
	return paths.Outermost(dirs)
}

// walk adds the directories to walk for patterns.
func (w *Policy) walk(dirs []string, patterns []pathrule.Pattern) []string {
	for i := range patterns {
		p := &patterns[i]
		if !glob.DeepInside(p.Segs) {
			continue
		}
		if p.Base != "" && !w.crowded(p.Base) {
			dirs = append(dirs, p.Base)
			continue
		}
		for _, root := range w.Roots {
			if root = cmp.Or(root, "/"); p.Reaches(root) {
				dirs = append(dirs, root)
			}
		}
	}
	return dirs
}

// Guarded returns the writable directories, in which names may be protected at any depth; none
// where the mode protects nothing.
func (w *Policy) Guarded() []string {
	if !w.Edits {
		return nil
	}
	dirs := slices.Clone(w.Roots)
	for i := range dirs {
		dirs[i] = cmp.Or(dirs[i], "/")
	}
	return paths.Outermost(dirs)
}

// Directory prepares a directory of a walk: a name that is plain there is neither hidden nor
// protected by a rule, nor protected by its name.
func (w *Policy) Directory(dir string) walk.Directory {
	var kept protected.Index
	if w.Edits {
		kept = w.Protected.Index
	}
	return walk.Changing(paths.Prefix(dir), kept, w.Deny, w.Ask)
}

// Settings are the paths of the host's own settings in a project, where they really lie, if that
// is in a writable directory and nobody approved changing them.
func (w *Policy) Settings(project string) []string {
	var out []string
	for _, name := range protected.HostSettings {
		if name = w.Lies(paths.From(filepath.ToSlash(project), name)); w.kept(name) && w.Inside(name) && !w.opened(name) {
			out = append(out, name)
		}
	}
	return out
}

// HidesIn reports whether the sandbox surely hides all that rules withhold in a tree, given as
// it was named and as it really lies, of which a command reads what a shell's pattern matches.
// It does not hide what a pattern of any depth names outside of [Policy.Walks]. Former content
// that git keeps is not looked at.
func (w *Policy) HidesIn(target, actual, shell string) bool {
	tree := pathrule.Tree{Target: filepath.ToSlash(target), Real: filepath.ToSlash(actual), Glob: shell}
	for _, rules := range []pathrule.List{w.Deny, w.Ask} {
		for i := range rules {
			reads := rules[i].Reads
			for j := range reads {
				if p := &reads[j]; p.Meets(tree) && !w.hidesAll(p, tree.Real) {
					return false
				}
			}
		}
	}
	return tree.Real != ""
}

// hidesAll reports whether what a pattern names in a tree is found by [Policy.Find] or a walk.
func (w *Policy) hidesAll(p *pathrule.Pattern, tree string) bool {
	segs := glob.Shallow(p.Segs)
	if glob.DeepInside(segs) {
		return p.Base != "" && !w.crowded(p.Base) || paths.InsideAny(w.Roots, tree)
	}
	// A list of names that a wildcard makes is cut where another component follows.
	return len(segs) == 0 || !slices.ContainsFunc(segs[:len(segs)-1], func(s glob.Segment) bool { return !s.Literal() })
}
