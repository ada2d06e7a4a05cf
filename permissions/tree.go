package permissions

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
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
		if rule := b.reads(v, a.tree()); rule != nil && !slices.Contains(c.request.Clear, *a) {
			what := "it may also read what the %s rule %s (%s) names"
			if a.Former != "" && a.Former != FormerUnknown {
				what = "it may also print what the repository holds, or once held, of what the %s rule %s (%s) names"
			}
			l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf(what, v, rule, rule.Source)})
		}
	}
	if place := c.policy.secretsBelow(a); place != nil {
		c.must(&l, guardedRead, layerOf(place), "what is below it: "+place.Why)
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
	return p.book.reads(Deny, a.tree()) != nil || p.book.reads(Ask, a.tree()) != nil
}

// secretsBelow returns a credential store or device in a tree that is read, which
// is not the session's own.
func (p *Policy) secretsBelow(a *Access) *protected.Place {
	if paths.InsideAny(p.session, filepath.ToSlash(a.Target)) && paths.InsideAny(p.session, filepath.ToSlash(a.Real)) {
		return nil
	}
	for _, list := range p.guards.Index {
		for i := range list {
			if g := &list[i]; g.Place.Secret && g.Meets(a.tree()) {
				return g.Place
			}
		}
	}
	return nil
}
