package permissions

import (
	"github.com/toolquay/toolquay/permissions/internal/commandrule"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
)

// book is the rules of a policy, bound to its directories.
type book struct {
	// tools, paths and the others are by verdict.
	tools [Deny + 1][]*Rule
	paths [Deny + 1]pathRules
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
			b.paths[r.Verdict].add(r, pl)
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
		if rule.names(q) && rule.param.Match(q.Input) {
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
		if rule.speaksOf(part) && rule.names(q) && (!narrow || !rule.overBroad()) {
			return rule
		}
	}
	return nil
}

// allowText returns the first rule that is the whole text of a command.
func (b *book) allowText(q *Request, text string) *Rule {
	for _, rule := range b.commands[Allow] {
		if rule.command.IsText(text) && rule.names(q) {
			return rule
		}
	}
	return nil
}

// heldWords returns the first deny or ask rule that matches words, and the first
// that may match them.
func (b *book) heldWords(v Verdict, q *Request, words []Word, fold bool) (rule, maybe *Rule) {
	l := commandrule.Line{Words: words, Fold: fold}
	for _, r := range b.commands[v] {
		match, may := r.command.HoldsBack(&l)
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
		if (r.command.IsText(text) || r.command.Compound && r.command.HoldsBackText(text, fold)) &&
			(r.everyTool || r.names(q)) {
			return r
		}
	}
	return nil
}

// pathRules are rules on paths, each with its bound patterns at the same place.
type pathRules struct {
	rules []*Rule
	bound pathrule.List
}

func (l *pathRules) add(r *Rule, pl *places) {
	l.rules, l.bound = append(l.rules, r), append(l.bound, pl.bind(r))
}

// at returns the rule at a place of the list, or nil.
func (l *pathRules) at(i int) *Rule {
	if i == pathrule.None {
		return nil
	}
	return l.rules[i]
}

// holdsBack returns the first deny or ask rule that covers a path, by either of its names.
func (b *book) holdsBack(v Verdict, q *pathrule.Query) *Rule {
	return b.paths[v].at(b.paths[v].bound.HoldsBack(q))
}

// allow returns the first allow rule that covers one name of a path.
func (b *book) allow(q *pathrule.Query, path string) *Rule {
	return b.paths[Allow].at(b.paths[Allow].bound.Allows(q, path))
}

// reads returns the first deny or ask rule on something in a tree that is read.
func (b *book) reads(v Verdict, t pathrule.Tree) *Rule {
	return b.paths[v].at(b.paths[v].bound.Meets(t))
}

// first returns the first rule of a list on reading paths, or on changing them.
func (b *book) first(v Verdict, write bool) *Rule {
	return b.paths[v].at(b.paths[v].bound.First(write))
}

// The names of a path that nothing allows.
const (
	missingTarget uint8 = 1 << iota
	missingReal
)
