package permissions

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// searched adds what holds back that a shell command reads a whole tree. What is
// denied below it, a tool leaves out where it meets it, and a sandbox hides it from a
// command. Where neither is so, and the host did not find that nothing of the kind is
// there, a person is asked, in every mode.
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
		if rule := b.reads(v, a); rule != nil && !slices.Contains(c.request.Clear, *a) {
			what := "it may also read what the %s rule %s (%s) names"
			if a.Former != "" && a.Former != FormerUnknown {
				what = "it may also print what the repository holds, or once held, of what the %s rule %s (%s) names"
			}
			l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf(what, v, rule, rule.Source)})
		}
	}
	if place := c.policy.secretsBelow(a); place != nil {
		c.must(&l, guardedRead, place.layer, "what is below it: "+place.why)
	}
	d.add(l.found())
}

// Searched returns the trees that commands read and in which deny or ask rules on reading
// may name something: each is asked about, unless it is in [Request.Clear]. It belongs there
// where all of this is so:
//
//   - nothing that [Walls.Withholds] names is in the tree, under either name of it, or
//     nothing runs but what only reads, in a sandbox that hides it ([Walls.HidesIn]);
//   - with a Glob, each path that the pattern matches is an access of its own, as far as it
//     may be withheld;
//   - with a Former, nothing of the kind is in the index or the history of that work tree,
//     and its Objects are commits of that history.
func (p *Policy) Searched(commands []Command) []Access {
	var out []Access
	for i := range commands {
		for j := range commands[i].Parts {
			for _, a := range commands[i].Parts[j].Accesses {
				if a.Kind == AccessRead && a.Tree && !slices.Contains(out, a) && p.mayWithhold(&a) {
					out = append(out, a)
				}
			}
		}
	}
	return out
}

// Foreseen reports whether a command meets in a tree nothing but what is there before it
// starts; or, if confined, what a sandbox hides from its searches. Only programs that are
// known to read do; the links that they follow are accesses of their own. Others in the
// same command may write before they search, unless they do plain things to files: that
// matters where no sandbox hides what is withheld, and where git may bring back what is
// not there yet.
func (c *Command) Foreseen(a Access, confined bool) bool {
	if c.Fault != "" || c.Unsandboxed && confined || a.Former == FormerUnknown {
		return false
	}
	bounded := c.ReadOnly || c.Restrained
	for i := range c.Parts {
		p := &c.Parts[i]
		git := len(p.Words) > 0 && strings.EqualFold(path.Base(p.Words[0].Text), "git")
		// What another program starts may search elsewhere.
		if slices.Contains(p.Accesses, a) && (!p.ReadOnly || p.Inner && !bounded) || git && !bounded && !p.ReadOnly {
			return false
		}
	}
	return bounded || confined && a.Former == ""
}

// mayWithhold reports whether a deny or ask rule may name something in a tree.
func (p *Policy) mayWithhold(a *Access) bool {
	return p.book.reads(Deny, a) != nil || p.book.reads(Ask, a) != nil
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
	if paths.InsideAny(p.session, filepath.ToSlash(a.Target)) && paths.InsideAny(p.session, filepath.ToSlash(a.Real)) {
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
		if part == "**" { // all that lies below the matches
			return slices.Contains(reach, true)
		}
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
	if dot, known := s.dotted(); known && dot != strings.HasPrefix(part, ".") {
		return false // no wildcard of a shell matches a leading dot, nor does a class
	}
	if !s.literal() {
		return s.suffix == "" || fold || mayEndSo(part, s.suffix)
	}
	name := s.text
	if fold {
		name, part = paths.Fold(name), paths.Fold(part)
	}
	hit, err := path.Match(part, name)
	return hit || err != nil || strings.Contains(part, "[")
}

// dotted reports whether all names that the segment matches begin with a dot, or none does.
// Known is false where some may.
func (s *segment) dotted() (dot, known bool) {
	switch {
	case s.literal():
		return strings.HasPrefix(s.text, "."), true
	case !s.deep && s.ops[0].kind == opRune:
		return s.ops[0].r == '.', true
	}
	return false, false
}

// mayEndSo reports whether a name that a shell's pattern matches may have a
// suffix: not where the pattern's own end is another.
func mayEndSo(part, suffix string) bool {
	end := part[strings.LastIndexAny(part, "*?[]")+1:]
	return strings.HasSuffix(end, suffix) || strings.HasSuffix(suffix, end)
}
