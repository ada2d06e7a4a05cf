package permissions

import "github.com/toolquay/toolquay/permissions/internal/hosts"

// host judges reaching a host; shell says that a command does, and own that its loopback is that of
// its session and not this machine's.
func (c *call) host(a *Access, grant Finding, shell, own bool) (first, second Finding) {
	l := c.ladder(a)
	b, h := &c.policy.book, hosts.Of(a.Target)
	if rule := b.host(Deny, &c.request, &h); rule != nil {
		l.add(ruleFinding(rule, nil))
	}
	local := h.Local && !b.names(&h)
	if local && !shell && c.policy.mode != ModeBypass {
		l.add(Finding{Verdict: Deny, Layer: LayerNetwork, Why: localWhy + "; only a rule that names it allows it"})
	}
	c.approval(&l, a)
	if rule := b.host(Ask, &c.request, &h); rule != nil {
		l.add(ruleFinding(rule, nil))
	}
	if own && h.Loopback() {
		l.add(Finding{Verdict: Allow, Layer: LayerNetwork, Why: "it is the loopback of the session's own commands"})
		return l.found()
	}
	if h.Odd != "" {
		c.must(&l, unjudged, LayerNetwork, "it cannot be told for sure which host it names: "+h.Odd)
	}
	if local {
		c.must(&l, guardedRead, LayerNetwork, localWhy)
	}
	if rule := b.host(Allow, &c.request, &h); rule != nil {
		l.add(ruleFinding(rule, nil))
	}
	l.add(grant)
	l.add(c.answer(other, "it reaches the network"))
	return l.found()
}

const localWhy = "it is this machine, a local network or a service that holds the machine's credentials"
