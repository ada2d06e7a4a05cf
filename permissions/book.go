package permissions

import (
	"encoding/json"
	"slices"
)

// book is the rules of a policy, bound to its directories. Each kind of rule has its own part.
type book struct {
	toolRules
	pathRules
	commandRules
	hostRules
}

func newBook(rules []*Rule, pl *places) book {
	var b book
	for _, r := range rules {
		if r.whole {
			b.tools.add(r)
		}
		if r.path != nil {
			b.paths[r.Verdict].add(r, pl)
		}
		if r.outside {
			b.outside = append(b.outside, r)
		} else if r.command != nil {
			b.commands.add(r)
		}
		if r.host != nil {
			b.hosts.add(r)
		}
		if r.param != nil {
			b.params.add(r)
		}
	}
	return b
}

// toolRules are the rules on whole tools, and those on fields of their input.
type toolRules struct{ tools, params byVerdict }

// tool returns the first rule on a whole tool or on a field of its input, or
// nil.
func (b *toolRules) tool(v Verdict, q *Request) *Rule {
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

// Offered reports whether to offer the model a tool: not if a deny rule binds all of its calls.
func (b *toolRules) Offered(tool string, aliases ...string) bool {
	return b.OfferedFrom(Origin{}, tool, aliases...)
}

// OfferedFrom is Offered for a tool whose origin is known.
func (b *toolRules) OfferedFrom(origin Origin, tool string, aliases ...string) bool {
	q := Request{Tool: tool, Aliases: aliases, Origin: origin}
	return !slices.ContainsFunc(b.tools[Deny], func(r *Rule) bool { return r.names(&q) })
}

// OfferedWith reports whether to offer the model a tool for an input: not if a deny rule binds the
// tool or such calls of it.
func (b *toolRules) OfferedWith(tool string, input json.RawMessage, aliases ...string) bool {
	return b.tool(Deny, &Request{Tool: tool, Aliases: aliases, Input: input}) == nil
}

// AsksWith reports whether an ask rule binds such a call of a tool.
func (b *toolRules) AsksWith(tool string, input json.RawMessage, aliases ...string) bool {
	return b.tool(Ask, &Request{Tool: tool, Aliases: aliases, Input: input}) != nil
}
