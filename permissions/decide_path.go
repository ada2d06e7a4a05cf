package permissions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// pathJudge judges accesses to paths.
type pathJudge struct {
	*call
	// hides says that a sandbox hides what rules withhold in the working directories, and free
	// that a confined command needs no permission for what nobody named: see [Request].Confined.
	hides, free bool
}

// judge judges an access to a path; grant is what allows it besides rules on paths. Where moves
// is set, a tree is only moved or removed as it is.
func (c *pathJudge) judge(a *Access, grant Finding, moves bool) (first, second Finding) {
	l := c.ladder(a)
	target, actual := filepath.ToSlash(a.Target), filepath.ToSlash(a.Real)
	if !paths.IsClean(target) || actual != "" && !paths.IsClean(actual) {
		l.add(Finding{Verdict: Deny, Layer: LayerPath, Why: "the path is not absolute and clean"})
		return l.found()
	}
	q := pathrule.Query{Target: target, Real: actual, Write: a.Kind == AccessWrite, Tree: a.Tree}
	named := q
	named.Tree = q.Tree && !c.free // a sandbox protects what rules name below
	below := c.denied(&l, &named, moves)
	plan := c.policy.mode == ModePlan && q.Write
	planned := plan && c.policy.isPlanFile(&q, a)
	if plan && !planned {
		l.add(Finding{Verdict: Deny, Layer: LayerMode, Why: "in plan mode nothing is changed"})
	}
	if actual == "" {
		c.approval(&l, a)
		l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: "it is not known where the path leads", need: NeedRealPath})
		return l.found()
	}
	c.approval(&l, a)
	if rule := c.policy.book.holdsBack(Ask, &named); rule != nil {
		l.add(ruleFinding(rule, nil))
	}
	l.add(below)
	if !planned {
		c.guard(&l, &q, a, moves)
	}
	allowed, missing := c.allows(&q)
	if missing == 0 {
		l.add(allowed)
	}
	l.add(grant)
	l.add(c.modeAnswer(&q, planned, missing))
	return l.found()
}

// denied adds a deny rule. If the rule may only cover something below a tree that is moved, it
// returns an ask instead: most often nothing of the kind is there.
func (c *pathJudge) denied(l *ladder, q *pathrule.Query, moves bool) (below Finding) {
	rule := c.policy.book.holdsBack(Deny, q)
	if rule == nil {
		return Finding{}
	}
	itself := *q
	itself.Tree = false
	if !moves || c.policy.book.holdsBack(Deny, &itself) != nil {
		l.add(ruleFinding(rule, nil))
		return Finding{}
	}
	return Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf("it may hold what the deny rule %s (%s) names", rule, rule.Source)}
}

// guard adds the findings that ask even where a rule allows.
func (c *pathJudge) guard(l *ladder, q *pathrule.Query, a *Access, moves bool) {
	if a.Removal && q.Write && (c.policy.isCritical(q.Target) || c.policy.isCritical(q.Real)) {
		c.must(l, critical, LayerCritical, "removing it would take the system, the home or the working directory away")
	}
	if c.policy.mode == ModeBypass {
		return
	}
	to := guardedRead
	if q.Write {
		to = guardedEdit
	}
	whole := moves && c.policy.inside(q.Target) && c.policy.insideReal(q.Real)
	switch place := c.place(q); {
	case place != nil:
		c.must(l, to, layerOf(place), place.Why)
	case q.Write && (paths.InsideAny(c.request.Protected, q.Target) || paths.InsideAny(c.request.Protected, q.Real)):
		c.must(l, to, LayerProtected, protected.Git.Why)
	case c.free: // a sandbox protects what is below
	case q.Write && a.Glob != "" && !a.Removal && c.mayProtect(a):
		c.must(l, to, LayerProtected, "the names that a pattern stands for may be protected where they are put")
	case q.Write && q.Tree && !whole:
		c.must(l, to, LayerProtected, "a whole directory may hold protected files")
	}
}

// layerOf is the layer that a place belongs to.
func layerOf(place *protected.Place) Layer {
	if place.Secret {
		return LayerCredentials
	}
	return LayerProtected
}

// modeAnswer is the mode's answer on a path.
func (c *pathJudge) modeAnswer(q *pathrule.Query, planned bool, missing uint8) Finding {
	p := c.policy
	inside := p.inside(q.Target) && p.insideReal(q.Real)
	to, why := readOutside, "it is outside the working directories"
	switch {
	case planned:
		to, why = planFile, "it is the plan file"
	case q.Write && inside:
		to, why = editInside, "this mode asks before edits"
		if p.mode.answers(to) == Allow {
			why = "it is inside the working directories"
		}
	case q.Write:
		to, why = editOutside, "it is an edit outside the working directories"
	case inside || p.readable(q.Target) && p.readableReal(q.Real):
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "it is inside the working directories"}
	case p.readable(q.Target):
		why = "it leads outside the working directories"
	}
	f := c.answer(to, why)
	f.missing = missing
	return f
}

// mayProtect reports whether a shell's pattern of names that are written may match a protected
// name. Names without a leading dot count only directly in a working directory, as * would match
// them everywhere.
func (c *pathJudge) mayProtect(a *Access) bool {
	top := slices.Contains(c.policy.working, paths.Prefix(filepath.ToSlash(a.Target)))
	for name, list := range c.policy.guards.Index {
		for i := range list {
			if g := &list[i]; !g.Place.Secret && (top || strings.HasPrefix(name, ".")) && g.Meets(a.tree()) {
				return true
			}
		}
	}
	return false
}

// place finds the protected place that either name of a path lies in.
func (c *pathJudge) place(q *pathrule.Query) *protected.Place {
	place := c.policy.guards.Of(q.Target, q.Write)
	if q.Real == q.Target {
		return place
	}
	if actual := c.policy.guards.Of(q.Real, q.Write); place == nil || actual != nil && actual.Secret {
		return actual
	}
	return place
}

// allows finds the rules that allow a path under both its names; a name that the session may read
// unasked needs none. It returns the finding, and which names are not allowed.
func (c *pathJudge) allows(q *pathrule.Query) (f Finding, missing uint8) {
	byTarget := c.policy.book.allow(q, q.Target)
	byReal := byTarget
	if q.Real != q.Target {
		byReal = c.policy.book.allow(q, q.Real)
	}
	if byTarget == nil && (q.Write || !c.policy.readable(q.Target)) {
		missing |= missingTarget
	}
	if byReal == nil && (q.Write || !c.policy.readableReal(q.Real)) {
		missing |= missingReal
	}
	switch {
	case byReal != nil:
		f = ruleFinding(byReal, nil)
	case byTarget != nil:
		f = ruleFinding(byTarget, nil)
	}
	return f, missing
}
