package permissions

import "github.com/toolquay/toolquay/permissions/internal/pathrule"

// pathRules are the rules on paths, by their verdict.
type pathRules struct{ paths [Deny + 1]pathList }

// pathList are rules on paths, each with its bound patterns at the same place.
type pathList struct {
	rules []*Rule
	bound pathrule.List
}

func (l *pathList) add(r *Rule, pl *places) {
	l.rules, l.bound = append(l.rules, r), append(l.bound, pl.bind(r))
}

// at returns the rule at a place of the list, or nil.
func (l *pathList) at(i int) *Rule {
	if i == pathrule.None {
		return nil
	}
	return l.rules[i]
}

// holdsBack returns the first deny or ask rule that covers a path, by either of its names.
func (b *pathRules) holdsBack(v Verdict, q *pathrule.Query) *Rule {
	return b.paths[v].at(b.paths[v].bound.HoldsBack(q))
}

// allow returns the first allow rule that covers one name of a path.
func (b *pathRules) allow(q *pathrule.Query, path string) *Rule {
	return b.paths[Allow].at(b.paths[Allow].bound.Allows(q, path))
}

// reads returns the first deny or ask rule on something in a tree that is read.
func (b *pathRules) reads(v Verdict, t pathrule.Tree) *Rule {
	return b.paths[v].at(b.paths[v].bound.Meets(t))
}

// first returns the first rule of a list on reading paths, or on changing them.
func (b *pathRules) first(v Verdict, write bool) *Rule {
	return b.paths[v].at(b.paths[v].bound.First(write))
}

// mayWithhold reports whether a deny or ask rule may name something in a tree.
func (b *pathRules) mayWithhold(t pathrule.Tree) bool {
	return b.reads(Deny, t) != nil || b.reads(Ask, t) != nil
}
