package sandbox

import (
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/gitrepo"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// Rules are the rules and protected paths that a sandbox enforces.
type Rules struct {
	// Deny and Ask are the rules on paths.
	Deny, Ask pathrule.List
	Protected protected.Paths
	// Secrets and Edits say that the mode asks before protected paths are read, and
	// before they are changed.
	Secrets, Edits bool
	// Allowed are directories that allow rules on reading name whole.
	Allowed []string
	// Approved are the accesses to paths that a person approved for this call.
	Approved []Approval
}

// Approval is a person's yes to reading a path, or to changing it. Paths have forward slashes.
type Approval struct {
	Write bool
	// Target is the path as it was named, Real where it really lies.
	Target, Real string
	// Tree says that all below the path was approved, too.
	Tree bool
}

// covers reports whether the approval of a path covers another one.
func (a *Approval) covers(approved, name string) bool {
	if approved == "" || approved == name {
		return approved != ""
	}
	_, inside := paths.Below(paths.Prefix(approved), name)
	return a.Tree && inside
}

// rulings answers for one path at a time.
type rulings struct{ Rules }

// Hides reports whether a path may not be read, given as it really lies: a rule denies it, or
// a rule asks or it holds secrets, and nobody approved.
func (w *rulings) Hides(name string) bool {
	if w.Withholds(name) {
		return true
	}
	name = filepath.ToSlash(name)
	return w.Secrets && w.Protected.Of(name, false) != nil && !w.approves(false, name)
}

// Withholds is Hides for rules alone.
func (w *rulings) Withholds(name string) bool {
	q := pathrule.Query{Target: filepath.ToSlash(name), Real: filepath.ToSlash(name)}
	if w.Deny.HoldsBack(&q) != pathrule.None {
		return true
	}
	return w.Ask.HoldsBack(&q) != pathrule.None && !w.approves(false, q.Target)
}

// Protects reports whether a path may not be changed, although it lies in a working directory.
// Of git's own files only those that make git run programs are protected, as git itself writes
// the rest.
func (w *rulings) Protects(name string) bool {
	name = filepath.ToSlash(name)
	return w.ruledWriting(name) || w.guardsWriting(name) && !w.opened(name) && !gitsOwn(name, w.Protected.Of(name, true))
}

// Placed reports whether [Policy.Find] returns a protected path directly in a writable
// directory even if it does not exist. Others are found by a walk, where they exist.
func (w *rulings) Placed(name string) bool {
	place := w.Protected.Of(filepath.ToSlash(name), true)
	return place == nil || !place.Existing
}

// Forbids reports whether a rule denies changing a path, or asks, wherever the path lies.
func (w *rulings) Forbids(name string) bool { return w.ruledWriting(filepath.ToSlash(name)) }

// shutsWriting is Protects with all of git's own files.
func (w *rulings) shutsWriting(name string) bool {
	return w.ruledWriting(name) || w.guardsWriting(name)
}

// ruledWriting reports whether a rule holds back changing a path.
func (w *rulings) ruledWriting(name string) bool {
	q := pathrule.Query{Target: name, Real: name, Write: true}
	if w.Deny.HoldsBack(&q) != pathrule.None {
		return true
	}
	return w.Ask.HoldsBack(&q) != pathrule.None && !w.approves(true, name)
}

// guardsWriting reports whether changing a path is held back by where it lies.
func (w *rulings) guardsWriting(name string) bool {
	return w.Edits && w.Protected.Of(name, true) != nil && !w.approves(true, name)
}

// approves reports whether a person approved reading, or changing, a path or the tree it lies
// in.
func (w *rulings) approves(write bool, name string) bool {
	return slices.ContainsFunc(w.Approved, func(a Approval) bool {
		return a.Write == write && (a.covers(a.Target, name) || a.covers(a.Real, name))
	})
}

// secret and kept are Hides and Protects of a path that is known to be protected, without the
// rules: there are hundreds of such paths.
func (w *rulings) secret(name string) bool {
	return w.Secrets && !paths.InsideAny(w.Protected.Session, name) && !w.approves(false, name)
}

func (w *rulings) kept(name string) bool { return w.Edits && !w.approves(true, name) }

// opened reports whether a person approved a change in a protected place. The approved file may
// not exist yet, so the whole place is open then, except where a rule denies it.
func (w *rulings) opened(name string) bool {
	approved := slices.ContainsFunc(w.Approved, func(a Approval) bool {
		_, named := paths.Below(name, a.Target)
		_, really := paths.Below(name, a.Real)
		return a.Write && (named || really)
	})
	q := pathrule.Query{Target: name, Real: name, Write: true}
	return approved && w.Deny.HoldsBack(&q) == pathrule.None
}

// shown are the paths among the hidden ones that may be read all the same.
func (w *rulings) shown(hidden []string) []string {
	candidates := slices.Concat(w.Protected.Session, w.Protected.Opened, w.Allowed)
	for _, a := range w.Approved {
		if !a.Write {
			candidates = append(candidates, a.Target, a.Real)
		}
	}
	return slices.DeleteFunc(candidates, func(name string) bool {
		return name == "" || !paths.InsideAny(hidden, name) || w.Hides(name)
	})
}

// gitsOwn reports whether a protected path is git's to write in a command.
func gitsOwn(name string, place *protected.Place) bool {
	if place != nil && place.Content {
		return true
	}
	rest, inGit := gitrepo.Inside(name)
	return place == protected.Git && inGit && !gitrepo.RunsPrograms(rest)
}
