package permissions

import "github.com/toolquay/toolquay/permissions/internal/hosts"

// hostRules are the rules on hosts.
type hostRules struct{ hosts byVerdict }

// host returns the first deny or ask rule on a host, or the first allow rule.
func (b *hostRules) host(v Verdict, q *Request, h *Host) *Rule {
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

// anyHost returns the first deny or ask rule on hosts that binds the tool, or nil.
func (b *hostRules) anyHost(v Verdict, q *Request) *Rule { return b.host(v, q, hosts.AnyHost) }

// names reports whether an allow rule names a host.
func (b *hostRules) names(h *Host) bool {
	for _, rule := range b.hosts[Allow] {
		if rule.host.Names(h) {
			return true
		}
	}
	return false
}

// HoldsBackHost reports whether a deny or ask rule covers a command's access to a host, as
// [Policy.ReachableHost] reads rules.
func (b *hostRules) HoldsBackHost(tool, host string) bool {
	return b.DeniesHost(tool, host) || b.holds(Ask, tool, host)
}

// DeniesHost is HoldsBackHost for deny rules alone: they hold also where a person allowed a
// call the host.
func (b *hostRules) DeniesHost(tool, host string) bool { return b.holds(Deny, tool, host) }

func (b *hostRules) holds(v Verdict, tool, host string) bool {
	h := hosts.Of(host)
	return b.host(v, &Request{Tool: tool}, &h) != nil || b.host(v, &Request{Tool: toolWebFetch}, &h) != nil
}

// NamesHost reports whether an allow rule names a host, and not by a wildcard. Hosts of this
// machine and of private networks must be named.
func (b *hostRules) NamesHost(host string) bool {
	h := hosts.Of(host)
	return h.Odd == "" && b.names(&h)
}
