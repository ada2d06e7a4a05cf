package permissions

import "slices"

// book is the rules of a policy, bound to its directories.
type book struct {
	// tools and paths are by verdict.
	tools [Deny + 1][]*Rule
	paths [Deny + 1][]pathRule
}

func newBook(rules []*Rule, pl *places) book {
	var b book
	for _, r := range rules {
		if r.whole {
			b.tools[r.Verdict] = append(b.tools[r.Verdict], r)
		}
		if r.path != nil {
			b.paths[r.Verdict] = append(b.paths[r.Verdict], pl.bind(r))
		}
	}
	return b
}

// tool returns the first rule on a whole tool, or nil.
func (b *book) tool(v Verdict, r *Request) *Rule {
	return b.named(v, r.Tool, r.Aliases)
}

func (b *book) named(v Verdict, tool string, aliases []string) *Rule {
	for _, rule := range b.tools[v] {
		if rule.name.match(tool) || slices.ContainsFunc(aliases, rule.name.match) {
			return rule
		}
	}
	return nil
}

// query is an access to a path as the rules are asked about it.
type query struct {
	// target and real are absolute, clean and with slashes; real may be empty.
	target, real string
	write, tree  bool
}

func (b *book) denies(q *query) *Rule { return b.either(Deny, q) }
func (b *book) asks(q *query) *Rule   { return b.either(Ask, q) }

// either returns the first rule that matches the path as named or as it really
// is.
func (b *book) either(v Verdict, q *query) *Rule {
	rules := b.paths[v]
	for i := range rules {
		for j := range rules[i].of(q.write) {
			p := &rules[i].of(q.write)[j]
			if q.hits(p, q.target) || q.real != q.target && q.real != "" && q.hits(p, q.real) {
				return rules[i].rule
			}
		}
	}
	return nil
}

// hits matches one path against a pattern that holds back. Changing a whole
// directory is changing what the pattern names below it; searching one is not
// reading it, as each file found is judged by itself.
func (q *query) hits(p *pattern, path string) bool {
	if q.write && q.tree {
		return p.reaches(path)
	}
	return p.match(path)
}

// allow returns the first allow rule for one name of the path. A rule for one
// name and nothing below it does not allow a tree.
func (b *book) allow(q *query, path string) *Rule {
	rules := b.paths[Allow]
	for i := range rules {
		for j := range rules[i].of(q.write) {
			p := &rules[i].of(q.write)[j]
			if p.match(path) && (!q.tree || p.segs[len(p.segs)-1].deep) {
				return rules[i].rule
			}
		}
	}
	return nil
}

func (r *pathRule) of(write bool) []pattern {
	if write {
		return r.writes
	}
	return r.reads
}

// The names of a path that nothing allows.
const (
	missingTarget uint8 = 1 << iota
	missingReal
)

// allows finds the rules that allow a path under both its names; where the
// session may read a name unasked, that name needs none. It returns what to
// say of it and which names are not allowed.
func (p *Policy) allows(q *query) (f Finding, missing uint8) {
	byTarget := p.book.allow(q, q.target)
	byReal := byTarget
	if q.real != q.target {
		byReal = p.book.allow(q, q.real)
	}
	if byTarget == nil && (q.write || !p.inside(q.target)) {
		missing |= missingTarget
	}
	if byReal == nil && (q.write || !p.insideReal(q.real)) {
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
