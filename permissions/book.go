package permissions

import "github.com/toolquay/toolquay/permissions/internal/hosts"

// book is the rules of a policy, bound to its directories.
type book struct {
	// tools, paths and the others are by verdict.
	tools [Deny + 1][]*Rule
	paths [Deny + 1][]pathRule
	// commands, hosts and params are the rules that have one.
	commands, hosts, params [Deny + 1][]*Rule
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
		if r.command != nil {
			b.commands[r.Verdict] = append(b.commands[r.Verdict], r)
		}
		if r.host != nil {
			b.hosts[r.Verdict] = append(b.hosts[r.Verdict], r)
		}
		if r.param != nil {
			b.params[r.Verdict] = append(b.params[r.Verdict], r)
		}
	}
	return b
}

// tool returns the first rule on a whole tool or on a field of its input, or
// nil.
func (b *book) tool(v Verdict, q *Request) *Rule {
	for _, rule := range b.tools[v] {
		if rule.names(q) {
			return rule
		}
	}
	for _, rule := range b.params[v] {
		if rule.names(q) && rule.param.match(q.Input) {
			return rule
		}
	}
	return nil
}

// host returns the first deny or ask rule on a host, or the first allow rule.
func (b *book) host(v Verdict, q *Request, h *Host) *Rule {
	for _, rule := range b.hosts[v] {
		hit := rule.host.HoldsBack
		if v == Allow {
			hit = rule.host.Allows
		}
		if hit(h) && (rule.everyTool || rule.names(q)) {
			return rule
		}
	}
	return nil
}

// anyHost returns the first deny or ask rule that speaks of any host, or nil.
func (b *book) anyHost(v Verdict, q *Request) *Rule { return b.host(v, q, hosts.AnyHost) }

// names reports whether an allow rule speaks of a host by its name.
func (b *book) names(h *Host) bool {
	for _, rule := range b.hosts[Allow] {
		if rule.host.Names(h) {
			return true
		}
	}
	return false
}

// allowPart returns the first rule that allows a part of a command; narrow leaves
// over-broad ones aside.
func (b *book) allowPart(q *Request, part *Part, narrow bool) *Rule {
	for _, rule := range b.commands[Allow] {
		if rule.command.allows(part) && rule.names(q) && (!narrow || !rule.overBroad()) {
			return rule
		}
	}
	return nil
}

// allowText returns the first rule that is the whole text of a command.
func (b *book) allowText(q *Request, text string) *Rule {
	for _, rule := range b.commands[Allow] {
		if rule.command.isText(text) && rule.names(q) {
			return rule
		}
	}
	return nil
}

// heldWords returns the first deny or ask rule that matches words, and the first
// that may match them.
func (b *book) heldWords(v Verdict, q *Request, words []Word, fold bool) (rule, maybe *Rule) {
	l := line{words: words, fold: fold}
	for _, r := range b.commands[v] {
		match, may := r.command.holdsBack(&l)
		if (match || may && maybe == nil) && (r.everyTool || r.names(q)) {
			if match {
				return r, maybe
			}
			maybe = r
		}
	}
	return nil, maybe
}

// heldText returns the first deny or ask rule that is about a whole text.
func (b *book) heldText(v Verdict, q *Request, text string, fold bool) *Rule {
	for _, r := range b.commands[v] {
		if (r.command.isText(text) || r.command.compound && r.command.holdsBackText(text, fold)) &&
			(r.everyTool || r.names(q)) {
			return r
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
	if byTarget == nil && (q.write || !p.readable(q.target)) {
		missing |= missingTarget
	}
	if byReal == nil && (q.write || !p.readableReal(q.real)) {
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
