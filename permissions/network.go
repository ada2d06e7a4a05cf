package permissions

import (
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/hosts"
)

// ReachesHosts reports whether rules, or the mode, let commands of a tool connect to any host,
// as [Policy.ReachableHost] reads them.
func (p *Policy) ReachesHosts(tool string) bool {
	calls := []*Request{{Tool: tool}, {Tool: toolWebFetch}}
	return p.mode == ModeBypass || slices.ContainsFunc(p.book.hosts[Allow], func(rule *Rule) bool {
		return slices.ContainsFunc(calls, rule.names)
	})
}

// ReachableHost reports whether a command of a tool may connect to a host, a name or address with
// or without a port, where nobody can be asked, and why not. Here rules of the tool count, and,
// as nowhere else for commands, rules that allow WebFetch a host.
func (p *Policy) ReachableHost(tool, host string) (ok bool, why string) {
	h := hosts.Of(host)
	calls := []*Request{{Tool: tool}, {Tool: toolWebFetch}}
	held := func(v Verdict) *Rule {
		for _, r := range calls {
			if rule := p.book.host(v, r, &h); rule != nil {
				return rule
			}
		}
		return nil
	}
	if rule := held(Deny); rule != nil {
		return false, "the deny rule " + rule.String() + " (" + rule.Source.String() + ") names it"
	}
	switch rule := held(Ask); {
	case h.Odd != "":
		return false, "it cannot be told for sure which host it names: " + h.Odd
	case rule != nil:
		return false, "the ask rule " + rule.String() + " (" + rule.Source.String() + ") names it, and nobody can be asked"
	case h.Local && !p.book.names(&h):
		return false, localWhy + "; only a rule that names it allows it"
	case held(Allow) != nil || p.mode == ModeBypass:
		return true, ""
	}
	return false, "no rule allows it; " + toolWebFetch + "(domain:" + h.Name + ") would"
}
