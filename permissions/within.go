package permissions

import (
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Directory is what a policy says of reading what lies directly in one directory,
// prepared so that a walk asks about most names by comparing the name alone. It is
// safe for concurrent use, and counts as long as the policy does.
type Directory struct {
	// apart says that nothing can be told by names alone.
	apart  bool
	guards guards
	// kept are guards against changing, which names in it are held to.
	kept  guards
	tests []nameTest
}

// nameTest is a component that a pattern which holds back ends with.
type nameTest struct {
	*segment
	fold bool
}

// Directory prepares reading what lies in a directory, given as it was named and as
// it is.
func (p *Policy) Directory(target, actual string) Directory {
	d := Directory{guards: p.guards}
	d.prepare(p, paths.Prefix(target))
	if actual != target {
		d.prepare(p, paths.Prefix(actual))
	}
	return d
}

// Plain reports whether no deny or ask rule and no guarded place tells dir/name from
// the directory. Where reading the tree of the directory is allowed, other than by
// [LayerApproval], reading dir/name is then allowed, too. A name that is not plain is to be
// put to [Decide].
func (d *Directory) Plain(name string) bool {
	if d.apart || !paths.IsName(name) {
		return false
	}
	for i := range d.tests {
		if d.tests[i].match(name, d.tests[i].fold) {
			return false
		}
	}
	return !d.guards.read(name) && !d.kept.deep(name)
}

// prepare adds what there is to know of the directory under one of its names.
func (d *Directory) prepare(p *Policy, dir string) {
	d.apart = d.apart || dir != "" && !paths.IsClean(dir) || p.guards.reach(dir)
	for _, v := range []Verdict{Deny, Ask} {
		rules := p.book.paths[v]
		for i := range rules {
			for j := range rules[i].reads {
				d.add(&rules[i].reads[j], dir)
			}
		}
	}
}

// add takes the components of a pattern that a name in the directory would have to
// match, for the pattern to match all of its path.
func (d *Directory) add(p *pattern, dir string) {
	rest, ok := paths.Below(p.base, dir)
	switch {
	case !ok:
		if name, inside := paths.Below(dir, p.base); inside && paths.IsName(name) && allDeep(p.segs) {
			d.tests = append(d.tests, nameTest{&segment{text: name}, p.fold})
		}
		return
	case p.base == "" && len(p.segs) == 3 && p.segs[0].deep && !p.segs[1].deep && p.segs[2].deep:
		d.tests = append(d.tests, nameTest{&p.segs[1], p.fold}) // any depth: the commonest kind
		return
	}
	for i, reached := range reach(p, rest) {
		switch {
		case !reached:
		case allDeep(p.segs[i:]):
			d.apart = true // it matches the directory
		case !p.segs[i].deep && allDeep(p.segs[i+1:]):
			d.tests = append(d.tests, nameTest{&p.segs[i], p.fold})
		}
	}
}

// reach tells for each i whether the first i segments of a pattern match all
// components of a path.
func reach(p *pattern, rest string) []bool {
	now := make([]bool, len(p.segs)+1)
	now[0] = true
	spread(now, p.segs)
	for some := true; some && rest != ""; {
		var name string
		name, rest = paths.Cut(rest)
		some = false
		// Backwards, so that each is looked at before it is overwritten.
		for i := len(p.segs); i >= 0; i-- {
			stays := i < len(p.segs) && p.segs[i].deep && now[i]
			now[i] = stays || i > 0 && !p.segs[i-1].deep && now[i-1] && p.segs[i-1].match(name, p.fold)
			some = some || now[i]
		}
		spread(now, p.segs)
	}
	return now
}

func allDeep(segs []segment) bool {
	for i := range segs {
		if !segs[i].deep {
			return false
		}
	}
	return true
}

// read reports whether a credential store or device is found by a name.
func (g guards) read(name string) bool {
	for _, c := range g[paths.Fold(name)] {
		if c.place.layer == LayerCredentials {
			return true
		}
	}
	return false
}

// reach reports whether there may be a credential store or device in a directory, of
// those that are found by a component of its path.
func (g guards) reach(dir string) bool {
	for rest := strings.TrimPrefix(dir, "/"); rest != ""; {
		var name string
		name, rest = paths.Cut(rest)
		candidates := g[paths.Fold(name)]
		for i := range candidates {
			if candidates[i].place.layer == LayerCredentials && candidates[i].reaches(dir) {
				return true
			}
		}
	}
	return false
}
