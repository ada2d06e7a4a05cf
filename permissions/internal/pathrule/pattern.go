package pathrule

import (
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Pattern is a path pattern bound to a directory.
type Pattern struct {
	// Base is an absolute directory without a trailing slash, empty for the root. Segs
	// match the path below it.
	Base string
	Segs []glob.Segment
	Fold bool
	// name is "/x" where the pattern matches every path with a component x.
	name string
}

// New binds segments to a directory. Fold makes them match whatever the case of letters.
func New(base string, segs []glob.Segment, fold bool) Pattern {
	if base == "/" {
		base = ""
	}
	p := Pattern{Base: base, Segs: segs, Fold: fold}
	if fold && base != "" {
		p.Base, p.Segs = "", append(glob.Names(base), segs...)
	}
	// One comparison of a long base is quicker than many of its components.
	for !fold && len(p.Segs) > 0 && p.Segs[0].Literal() {
		p.Base += "/" + p.Segs[0].Text
		p.Segs = p.Segs[1:]
	}
	if p.Base == "" && !fold && len(segs) == 3 && segs[0].Deep && segs[1].Literal() && segs[2].Deep {
		p.name = "/" + segs[1].Text
	}
	return p
}

// Match reports whether the pattern matches an absolute, clean path.
func (p *Pattern) Match(path string) bool {
	if p.name != "" {
		return paths.HasComponent(path, p.name)
	}
	rest, ok := paths.Below(p.Base, path)
	return ok && glob.Match(p.Segs, rest, p.Fold)
}

// Reaches reports whether the pattern matches the path or may match something
// below it.
func (p *Pattern) Reaches(path string) bool {
	if _, above := paths.Below(path, p.Base); above || path == "/" {
		return true
	}
	rest, ok := paths.Below(p.Base, path)
	if !ok {
		return false
	}
	for i := range p.Segs {
		if p.Segs[i].Deep || rest == "" {
			return true
		}
		var name string
		name, rest = paths.Cut(rest)
		if !p.Segs[i].Match(name, p.Fold) {
			return false
		}
	}
	return rest == ""
}

// Tree is a directory with all that lies below it, under the name it was called by and
// where it really lies. Real may be empty. Where Glob is set, only the paths that this
// pattern of a shell matches are meant.
type Tree struct {
	Target, Real, Glob string
}

// Meets reports whether the pattern may match something in a tree, under either name.
func (p *Pattern) Meets(t Tree) bool {
	return p.within(t.Target, t.Glob) ||
		t.Real != t.Target && t.Real != "" && p.within(t.Real, moved(t.Glob, t.Target, t.Real))
}

// moved turns a shell's pattern of names in one directory into one for another directory.
func moved(shell, from, to string) string {
	rest, ok := strings.CutPrefix(shell, strings.TrimSuffix(from, "/")+"/")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(to, "/") + "/" + rest
}

func (p *Pattern) within(dir, shell string) bool {
	if shell == "" {
		return p.Reaches(dir)
	}
	segs := p.Segs
	if p.Base != "" {
		segs = append(glob.Names(p.Base), p.Segs...)
	}
	return glob.Overlap(segs, strings.Split(strings.Trim(shell, "/"), "/"), p.Fold)
}
