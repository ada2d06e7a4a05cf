package permissions

import (
	"path"
	"slices"
)

// Dir is a directory under two names.
type Dir struct {
	// Path is the directory as it was named, absolute and clean.
	Path string
	// Real is the same with every link resolved; empty means the same.
	Real string
}

// forms lists the names of the directory, none where it is not known.
func (d Dir) forms() []string {
	switch {
	case d.Path == "":
		return nil
	case d.Real == "" || d.Real == d.Path:
		return []string{d.Path}
	}
	return []string{d.Path, d.Real}
}

// places are the directories patterns are relative to.
type places struct {
	home Dir
	// start is where the session began and cwd where it is now.
	start, cwd Dir
	fold       bool
	resolve    func(string) string
}

// pathRule is a rule on paths, bound.
type pathRule struct {
	rule *Rule
	// reads and writes are the patterns for accesses of each kind.
	reads, writes []pattern
}

func (pl *places) bind(r *Rule) pathRule {
	bound := pathRule{rule: r}
	if r.reads {
		bound.reads = pl.patterns(r, false)
	}
	if r.writes {
		bound.writes = pl.patterns(r, true)
	}
	return bound
}

// patterns binds a rule's pattern to every name of every directory it is
// relative to.
func (pl *places) patterns(r *Rule, write bool) []pattern {
	allow := r.Verdict == Allow
	bases, segs := pl.anchored(r.path, r.folder, allow)
	if allow {
		segs = cover(segs, r.path.dirOnly, write)
	} else {
		segs = coverAll(segs)
	}
	var out []pattern
	for _, base := range bases {
		for range r.path.up {
			base = path.Dir(base)
		}
		out = append(out, newPattern(base, segs, pl.fold && !allow))
		// A deny that goes through a link binds what the link points at too.
		if !allow && pl.resolve != nil {
			if target, rest, moved := pl.follow(base, segs); moved {
				out = append(out, newPattern(target, rest, pl.fold))
			}
		}
	}
	return out
}

// anchored returns the directories a pattern starts from and its segments.
//
// A relative allow stays where the session began, so that it does not come to
// mean more because the session walked somewhere else; a deny or ask holds both
// there and where the session is. What an allow says of any depth it says of
// the working directory; a deny or ask, of the whole file system.
func (pl *places) anchored(spec *pathSpec, folder Dir, allow bool) (bases []string, segs []segment) {
	segs = spec.segs
	relative := pl.start.forms()
	if !allow && pl.cwd != pl.start {
		relative = append(relative, pl.cwd.forms()...)
	}
	switch spec.anchor {
	case anchorRoot:
		return []string{"/"}, segs
	case anchorHome:
		return pl.home.forms(), segs
	case anchorSettings:
		return folder.forms(), segs
	case anchorOneDir:
		if allow {
			return relative, segs
		}
		return []string{"/"}, deepen(segs)
	case anchorAny:
		if allow {
			return relative, deepen(segs)
		}
		return []string{"/"}, deepen(segs)
	}
	return relative, segs
}

// deepen lets a pattern match at any depth.
func deepen(segs []segment) []segment {
	if len(segs) > 0 && segs[0].deep {
		return segs
	}
	return append([]segment{deepSegment}, segs...)
}

// coverAll makes a pattern cover what lies below its matches.
func coverAll(segs []segment) []segment {
	if n := len(segs); n > 0 && segs[n-1].deep {
		return segs
	}
	return append(slices.Clip(segs), deepSegment)
}

// cover does so for an allow, where a wildcard means one component and no more,
// and where writing below a directory is not writing the directory.
func cover(segs []segment, dirOnly, write bool) []segment {
	n := len(segs)
	deep := n > 0 && segs[n-1].deep
	switch {
	case deep && write:
		return append(segs[:n-1:n-1], anySegment, deepSegment)
	case deep:
		return segs
	case dirOnly && write && n > 0:
		return append(segs[:n:n], anySegment, deepSegment)
	case n == 0 || dirOnly || segs[n-1].literal():
		return coverAll(segs)
	}
	return segs
}

// follow resolves the links in the literal start of a pattern.
func (pl *places) follow(base string, segs []segment) (target string, rest []segment, moved bool) {
	named, n := base, 0
	for n < len(segs) && segs[n].literal() {
		named = path.Join(named, segs[n].text)
		n++
	}
	if n == 0 {
		return "", nil, false
	}
	target = pl.resolve(named)
	return target, segs[n:], target != "" && target != named
}
