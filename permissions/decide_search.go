package permissions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// searched judges that a shell command reads a whole tree. Tools leave denied files out, and a
// sandbox hides them from commands, in the working directories at any depth. If neither is so, and the host did not find that there are
// none, it asks in every mode.
func (c *pathJudge) searched(a *Access) (first, second Finding) {
	if a.Kind != AccessRead || !a.Tree {
		return first, second
	}
	l := c.ladder(a)
	c.approval(&l, a)
	b := &c.policy.book
	named := a.Glob != "" && !strings.HasSuffix(a.Glob, "/**") // what it matches is not left out
	hidden := c.hides && a.Former == "" && !named && c.policy.inside(filepath.ToSlash(a.Target)) && c.policy.insideReal(filepath.ToSlash(a.Real))
	for _, v := range []Verdict{Deny, Ask} {
		if rule := b.reads(v, a.tree()); rule != nil && !hidden && !slices.Contains(c.request.Clear, *a) {
			what := "it may also read what the %s rule %s (%s) names"
			if a.Former != "" && a.Former != FormerUnknown {
				what = "it may also print what the repository holds, or once held, of what the %s rule %s (%s) names"
			}
			l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf(what, v, rule, rule.Source)})
		}
	}
	if place := c.secretsBelow(a); place != nil {
		c.must(&l, guardedRead, layerOf(place), "what is below it: "+place.Why)
	}
	return l.found()
}

// secretsBelow returns a credential store or device that a tree may hold, unless the tree is the
// session's own.
func (c *pathJudge) secretsBelow(a *Access) *protected.Place {
	if paths.InsideAny(c.policy.session, filepath.ToSlash(a.Target)) && paths.InsideAny(c.policy.session, filepath.ToSlash(a.Real)) {
		return nil
	}
	for _, list := range c.policy.guards.Index {
		for i := range list {
			if g := &list[i]; g.Place.Secret && g.Meets(a.tree()) {
				return g.Place
			}
		}
	}
	return nil
}
