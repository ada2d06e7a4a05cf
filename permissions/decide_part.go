package permissions

import (
	"fmt"
	"path/filepath"

	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/runners"
)

// partJudge judges one part of a command.
type partJudge struct {
	execJudge
	part *Part
}

// holdsBack adds the deny and ask findings on the words of the part, which no grant lifts.
func (c *partJudge) holdsBack(l *ladder, a *Access) {
	c.held(l, a, c.part.Words)
	for _, words := range runners.BehindFlags(c.part.Words) {
		c.held(l, a, words)
	}
	if c.part.Ask == "" {
		return
	}
	to := unjudged
	if c.part.Critical {
		to = critical
	}
	c.approval(l, a)
	c.must(l, to, LayerCommand, c.part.Ask)
}

// heldHosts adds the deny and ask rules on hosts that the part may reach. If other hosts are only
// known when it runs, any such rule makes it ask.
func (c *partJudge) heldHosts(l *ladder, a *Access) {
	b := &c.policy.book
	var ask *Rule
	for _, name := range c.part.Hosts {
		h := hosts.Of(name)
		if rule := b.host(Deny, &c.request, &h); rule != nil {
			l.add(ruleFinding(rule, nil))
		}
		if ask == nil {
			ask = b.host(Ask, &c.request, &h)
		}
	}
	var maybe *Rule
	if c.part.Unknown&UnknownHost != 0 && !c.reads { // then it reaches none
		if maybe = b.anyHost(Deny, &c.request); maybe == nil {
			maybe = b.anyHost(Ask, &c.request)
		}
	}
	if ask == nil && maybe == nil {
		return
	}
	c.approval(l, a)
	if ask != nil {
		l.add(ruleFinding(ask, nil))
	}
	if maybe != nil {
		l.add(Finding{Verdict: Ask, Layer: LayerCommand, Why: fmt.Sprintf(
			"which hosts it reaches is only known when it runs, and the %s rule %s (%s) speaks of hosts", maybe.Verdict, maybe, maybe.Source)})
	}
}

// judge judges the part, and returns what allows it besides the mode: text, which allows the
// whole command, or by, which allows the part.
func (c *partJudge) judge(a *Access, text, by Finding) (grant Finding) {
	l := c.ladder(a)
	c.holdsBack(&l, a)
	c.heldHosts(&l, a)
	grant, whole := text, text
	if text.Verdict == None {
		grant, whole = by, c.grant
		if by.Verdict == None {
			grant = partGrant(c.call, c.part)
		}
	}
	if !c.part.Inner {
		c.approval(&l, a)
		l.add(grant)
		l.add(c.modeAnswer())
	}
	c.decision.add(l.found())
	c.touched(grant, whole)
	c.unknown(a, grant)
	return grant
}

// modeAnswer is the mode's answer.
func (c *partJudge) modeAnswer() Finding {
	switch {
	case c.part.Bounded() && c.part.ReadOnly:
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "it is read-only"}
	case c.part.Bounded():
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "it does no more than what it does to files"}
	case c.frees():
		return Finding{Verdict: Allow, Layer: LayerMode, Why: confinedWhy}
	case c.reads:
		return Finding{Verdict: Allow, Layer: LayerMode, Why: readsWhy}
	}
	return c.answer(other, reason(c.part.Reason))
}

func reason(text string) string {
	if text == "" {
		return "it is not read-only"
	}
	return text
}

// partGrant is the finding that allows a part: a rule on commands, or the grant of the call.
func partGrant(c *call, p *Part) Finding {
	rule := c.policy.book.allowPart(&c.request, p, c.policy.mode == ModeAuto)
	if rule == nil {
		return c.grant
	}
	return ruleFinding(rule, nil)
}

// touched judges the paths and hosts of a part. A grant for the program does not let the shell
// redirect anywhere: whole, the grant for the whole command, does.
func (c *partJudge) touched(grant, whole Finding) {
	p, paths := c.part, pathJudge{c.call, c.hides, c.frees()}
	moves, own := movesTrees(p), len(p.Accesses)-p.Redirected
	for i := range p.Accesses {
		a, by := &p.Accesses[i], grant
		if i >= own && c.leaves(a) {
			by = whole
		}
		switch a.Kind {
		case AccessRead, AccessWrite:
			c.decision.add(paths.judge(a, by, moves))
			if a.Tree {
				c.decision.add(paths.searched(a))
			}
		case AccessNet:
			c.decision.add(c.host(a, c.reached(a, by), true, c.confined))
		default:
			c.decision.add(c.open(a, by, "it is not read-only"))
		}
	}
}

// reached is what allows a part to reach a host: a confined command gets no further than to the
// hosts that rules allow WebFetch, too.
func (c *partJudge) reached(a *Access, by Finding) Finding {
	if by.Verdict == None && c.frees() {
		h := hosts.Of(a.Target)
		if rule := c.policy.book.host(Allow, &Request{Tool: toolWebFetch}, &h); rule != nil {
			return ruleFinding(rule, nil)
		}
	}
	return by
}

// leaves reports whether a redirection writes outside the working directories, or reaches a
// host.
func (c *partJudge) leaves(a *Access) bool {
	if a.Kind == AccessWrite {
		return !c.policy.inside(filepath.ToSlash(a.Target)) || !c.policy.insideReal(filepath.ToSlash(a.Real))
	}
	return a.Kind != AccessRead
}

// movesTrees reports whether a part removes or moves its arguments, and writes nothing into them.
// Inside the working directories that creates no protected file, except one that is named, which
// is protected by its name.
func movesTrees(p *Part) bool {
	if !p.Bounded() || p.ReadOnly || p.Prints {
		return false
	}
	switch p.Words[0].Text {
	case "rm", "rmdir", "mv":
		return true
	}
	return false
}

// unknown judges the accesses of a part whose targets are only known when it runs: each may be what
// a rule names. A confined command sees nothing that it would have to be asked about. Grant is what allows the part besides the mode.
func (c *partJudge) unknown(a *Access, grant Finding) {
	if c.part.Unknown&UnknownRead != 0 && (!c.confined || c.part.git()) { // its objects hold what files once held
		c.decision.add(c.unknownTarget(a, "which file it reads", false))
	}
	if c.part.Unknown&UnknownWrite != 0 && !c.reads {
		c.decision.add(c.unknownWrite(a, grant))
	}
}

// unknownWrite judges writing to a path that is only known when the command runs. Plan mode denies
// it. A redirection asks, whatever allows the command, as nobody allowed the shell to write, unless
// a confined command may write where the redirection can; and so does a command whose text names a
// protected place.
func (c *partJudge) unknownWrite(a *Access, grant Finding) (first, second Finding) {
	const what = "which file it writes"
	why := what + " is only known when it runs"
	l := c.ladder(a)
	if c.policy.mode == ModePlan {
		l.add(Finding{Verdict: Deny, Layer: LayerMode, Why: "in plan mode nothing is changed, and " + why})
	}
	c.approval(&l, a)
	if f, _ := c.unknownTarget(a, what, true); f.Verdict == Ask && !c.frees() { // the sandbox holds what rules name
		l.add(f)
	}
	if c.part.Unknown&UnknownMustAsk != 0 && !c.frees() {
		c.must(&l, unjudged, LayerPath, why)
	}
	if place := c.policy.guards.Mentioned(a.Target); place != nil {
		c.must(&l, guardedEdit, layerOf(place), why+", and the command names a place that is guarded: "+place.Why)
	}
	l.add(grant)
	if c.frees() {
		l.add(Finding{Verdict: Allow, Layer: LayerMode, Why: confinedWhy})
	}
	l.add(c.answer(editOutside, why))
	return l.found()
}
