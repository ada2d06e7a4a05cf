package pathrule

import (
	"path"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/glob"
)

// Places are the directories that patterns are relative to, each under all its names; none
// where a directory is not known.
type Places struct {
	Home []string
	// Start is where the session began and Cwd where it is now.
	Start, Cwd []string
	// Moved are the worktree that the session came from and the one that it works in now.
	Moved Moved
	// Fold makes deny and ask rules match whatever the case of letters.
	Fold bool
	// Resolve returns where a path really lies, or empty. It may be nil.
	Resolve func(path string) string
}

// Rule is the part of a rule that covers paths.
type Rule struct {
	Spec *Spec
	// Folder are the names of the directory that a pattern with one leading slash is
	// relative to.
	Folder []string
	// Allow tells an allow rule from a deny or ask rule.
	Allow bool
	// Reads and Writes say which accesses it covers.
	Reads, Writes bool
}

// Bound is a rule bound to the directories of a session: its patterns for accesses of each
// kind.
type Bound struct {
	Reads, Writes []Pattern
}

// Bind binds a rule.
func (pl *Places) Bind(r *Rule) Bound {
	var bound Bound
	if r.Reads {
		bound.Reads = pl.patterns(r, false)
	}
	if r.Writes {
		bound.Writes = pl.patterns(r, true)
	}
	return bound
}

// patterns binds a rule's pattern to every name of every directory it is
// relative to.
func (pl *Places) patterns(r *Rule, write bool) []Pattern {
	allow := r.Allow
	bases, segs := pl.anchored(r)
	if allow {
		segs = cover(segs, r.Spec.DirOnly, write)
	} else {
		segs = glob.Cover(segs)
	}
	var out []Pattern
	for _, base := range bases {
		for range r.Spec.Up {
			base = path.Dir(base)
		}
		if allow {
			out = append(out, pl.allowed(r, base, segs))
		} else {
			out = append(out, pl.denied(base, segs)...)
		}
	}
	return out
}

// allowed binds an allow rule. A relative one means the worktree that the session is in.
func (pl *Places) allowed(r *Rule, base string, segs []glob.Segment) Pattern {
	if rests := pl.Moved.follow(base, segs, pl.Fold); len(rests) > 0 && r.relative() {
		return New(pl.Moved.To, rests[0], false)
	}
	return New(base, segs, false)
}

// denied binds a deny or ask rule: where it says, and in the worktree that the session is in.
func (pl *Places) denied(base string, segs []glob.Segment) []Pattern {
	out := pl.through(base, segs)
	for _, p := range out {
		for _, rest := range pl.Moved.follow(p.Base, p.Segs, pl.Fold) {
			out = append(out, pl.through(pl.Moved.To, rest)...)
		}
	}
	return out
}

// through binds a pattern, and if it goes through a link, what the link points at too.
func (pl *Places) through(base string, segs []glob.Segment) []Pattern {
	out := []Pattern{New(base, segs, pl.Fold)}
	if pl.Resolve != nil {
		if target, rest, moved := pl.follow(base, segs); moved {
			out = append(out, New(target, rest, pl.Fold))
		}
	}
	return out
}

// anchored returns the directories a pattern starts from and its segments.
//
// A relative allow stays where the session began, so that it never means more because the
// session moved; a deny or ask holds there and where the session is now. A pattern of any
// depth means the working directory in an allow, and the whole file system in a deny or
// ask.
func (pl *Places) anchored(r *Rule) (bases []string, segs []glob.Segment) {
	segs = r.Spec.Segs
	relative := pl.Start
	if !r.Allow && !slices.Equal(pl.Cwd, pl.Start) {
		relative = slices.Concat(pl.Start, pl.Cwd)
	}
	switch r.Spec.Anchor {
	case Root:
		return []string{"/"}, segs
	case Home:
		return pl.Home, segs
	case Folder:
		return r.Folder, segs
	case OneDirectory:
		if r.Allow {
			return relative, segs
		}
		return []string{"/"}, glob.Deepen(segs)
	case AnyDepth:
		if r.Allow {
			return relative, glob.Deepen(segs)
		}
		return []string{"/"}, glob.Deepen(segs)
	}
	return relative, segs
}

// cover makes an allow cover what lies below its matches. There a wildcard means one
// component and no more, and writing below a directory is not writing the directory.
func cover(segs []glob.Segment, dirOnly, write bool) []glob.Segment {
	n := len(segs)
	deep := n > 0 && segs[n-1].Deep
	switch {
	case deep && write:
		return append(segs[:n-1:n-1], glob.Star, glob.AnyDepth)
	case deep:
		return segs
	case dirOnly && write && n > 0:
		return append(segs[:n:n], glob.Star, glob.AnyDepth)
	case n == 0 || dirOnly || segs[n-1].Literal():
		return glob.Cover(segs)
	}
	return segs
}

// follow resolves the links in the literal start of a pattern.
func (pl *Places) follow(base string, segs []glob.Segment) (target string, rest []glob.Segment, moved bool) {
	named, n := base, 0
	for n < len(segs) && segs[n].Literal() {
		named = path.Join(named, segs[n].Text)
		n++
	}
	if n == 0 {
		return "", nil, false
	}
	target = pl.Resolve(named)
	return target, segs[n:], target != "" && target != named
}
