// Package walk tells, while a tree is walked, which names in a directory need a closer look.
package walk

import (
	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// Directory holds what rules and protected places say of the names directly in one
// directory, prepared so that a walk asks about most names by comparing the name alone. It
// is safe for concurrent use, and valid as long as the policy is.
type Directory struct {
	// apart says that names alone tell nothing.
	apart bool
	// secrets are places that are protected against reading, kept against changing.
	secrets, kept protected.Index
	tests         []nameTest
}

// nameTest is the last component of a pattern of a deny or ask rule.
type nameTest struct {
	*glob.Segment
	fold bool
}

// Reading prepares reading what lies in a directory, which is given by its names.
func Reading(dirs []string, secrets protected.Index, rules ...pathrule.List) Directory {
	d := Directory{secrets: secrets}
	for _, dir := range dirs {
		d.check(dir)
		d.apart = d.apart || secrets.SecretIn(dir)
		for _, list := range rules {
			for i := range list {
				d.addAll(list[i].Reads, dir)
			}
		}
	}
	return d
}

// Changing prepares reading and changing what lies in a directory.
func Changing(dir string, kept protected.Index, rules ...pathrule.List) Directory {
	d := Directory{kept: kept}
	d.check(dir)
	for _, list := range rules {
		for i := range list {
			d.addAll(list[i].Reads, dir)
			d.addAll(list[i].Writes, dir)
		}
	}
	return d
}

// Plain reports whether no deny or ask rule and no protected place tells dir/name from the
// directory. Where reading the tree of the directory is allowed, other than by a person's
// approval, reading dir/name is then allowed, too. Other names are to be judged one by one.
func (d *Directory) Plain(name string) bool {
	if d.apart || !paths.IsName(name) {
		return false
	}
	for i := range d.tests {
		if d.tests[i].Match(name, d.tests[i].fold) {
			return false
		}
	}
	return !d.secrets.Secret(name) && !d.kept.AnyDepth(name)
}

func (d *Directory) check(dir string) { d.apart = d.apart || dir != "" && !paths.IsClean(dir) }

func (d *Directory) addAll(patterns []pathrule.Pattern, dir string) {
	for i := range patterns {
		d.add(&patterns[i], dir)
	}
}

// add takes the components of a pattern that a name in the directory must match for the
// pattern to match its whole path.
func (d *Directory) add(p *pathrule.Pattern, dir string) {
	rest, ok := paths.Below(p.Base, dir)
	switch {
	case !ok:
		if name, inside := paths.Below(dir, p.Base); inside && paths.IsName(name) && glob.AllDeep(p.Segs) {
			d.tests = append(d.tests, nameTest{&glob.Segment{Text: name}, p.Fold})
		}
		return
	case p.Base == "" && len(p.Segs) == 3 && p.Segs[0].Deep && !p.Segs[1].Deep && p.Segs[2].Deep:
		d.tests = append(d.tests, nameTest{&p.Segs[1], p.Fold}) // any depth: the commonest kind
		return
	}
	for i, reached := range glob.Reach(p.Segs, rest, p.Fold) {
		switch {
		case !reached:
		case glob.AllDeep(p.Segs[i:]):
			d.apart = true // it matches the directory
		case !p.Segs[i].Deep && glob.AllDeep(p.Segs[i+1:]):
			d.tests = append(d.tests, nameTest{&p.Segs[i], p.Fold})
		}
	}
}
