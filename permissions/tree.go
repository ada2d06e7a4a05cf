package permissions

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// searched adds what holds back that a shell command reads a whole tree. What is
// denied below it, a tool leaves out where it meets it; nothing can leave it out
// of a command. So a person is asked, in every mode.
func (c *call) searched(d *Decision, a *Access) {
	if a.Kind != AccessRead || !a.Tree {
		return
	}
	l := c.ladder(a)
	if c.approves(a) {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: approvedWhy})
	}
	b := &c.policy.book
	for _, v := range []Verdict{Deny, Ask} {
		if rule := b.reads(v, a); rule != nil {
			l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf(
				"it would also read what the %s rule %s (%s) names", v, rule, rule.Source)})
		}
	}
	if place := c.policy.secretsBelow(a); place != nil {
		c.must(&l, guardedRead, place.layer, "what is below it: "+place.why)
	}
	d.add(l.found())
}

// reads returns the first deny or ask rule on something in a tree that is read.
func (b *book) reads(v Verdict, a *Access) *Rule {
	for i := range b.paths[v] {
		for j := range b.paths[v][i].reads {
			if b.paths[v][i].reads[j].meets(a) {
				return b.paths[v][i].rule
			}
		}
	}
	return nil
}

// secretsBelow returns a credential store or device in a tree that is read, which
// is not the session's own.
func (p *Policy) secretsBelow(a *Access) *guarded {
	if insideAny(p.session, filepath.ToSlash(a.Target)) && insideAny(p.session, filepath.ToSlash(a.Real)) {
		return nil
	}
	for _, list := range p.guards {
		for i := range list {
			if g := &list[i]; g.place.layer == LayerCredentials && g.meets(a) {
				return g.place
			}
		}
	}
	return nil
}

// meets reports whether a pattern that holds back may match something in a tree,
// under either name of it.
func (p *pattern) meets(a *Access) bool {
	target, actual := filepath.ToSlash(a.Target), filepath.ToSlash(a.Real)
	return p.within(target, a.Glob) || actual != target && actual != "" && p.within(actual, moved(a.Glob, target, actual))
}

// moved is a pattern of names in one directory, for another one.
func moved(glob, from, to string) string {
	rest, ok := strings.CutPrefix(glob, strings.TrimSuffix(from, "/")+"/")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(to, "/") + "/" + rest
}

func (p *pattern) within(dir, glob string) bool {
	if glob == "" {
		return p.reaches(dir)
	}
	segs := p.segs
	if p.base != "" {
		segs = append(literals(p.base), p.segs...)
	}
	return overlap(segs, strings.Split(strings.Trim(glob, "/"), "/"), p.fold)
}

// overlap reports whether there may be a path that segments match and a shell's
// pattern too, given component by component.
func overlap(segs []segment, glob []string, fold bool) bool {
	// reach[i] is whether the first i segments may match the components so far.
	reach := make([]bool, len(segs)+1)
	reach[0] = true
	spread(reach, segs)
	for _, part := range glob {
		next := make([]bool, len(segs)+1)
		for i := range segs {
			if segs[i].deep {
				next[i] = next[i] || reach[i]
			} else if reach[i] && segs[i].overlaps(part, fold) {
				next[i+1] = true
			}
		}
		reach = next
		spread(reach, segs)
	}
	return reach[len(segs)]
}

// spread lets deep segments match nothing.
func spread(reach []bool, segs []segment) {
	for i := range segs {
		if segs[i].deep && reach[i] {
			reach[i+1] = true
		}
	}
}

// overlaps reports whether there may be a name that the segment matches and a
// component of a shell's pattern too.
func (s *segment) overlaps(part string, fold bool) bool {
	if !s.literal() {
		return s.suffix == "" || fold || mayEndSo(part, s.suffix)
	}
	name := s.text
	if fold {
		name, part = foldKey(name), foldKey(part)
	}
	if strings.HasPrefix(name, ".") != strings.HasPrefix(part, ".") {
		// Wildcards match no leading dot. A class may, to some shells.
		return strings.HasPrefix(part, "[")
	}
	hit, err := path.Match(part, name)
	return hit || err != nil || strings.Contains(part, "[")
}

// mayEndSo reports whether a name that a shell's pattern matches may have a
// suffix: not where the pattern's own end is another.
func mayEndSo(part, suffix string) bool {
	end := part[strings.LastIndexAny(part, "*?[]")+1:]
	return strings.HasSuffix(end, suffix) || strings.HasSuffix(suffix, end)
}
