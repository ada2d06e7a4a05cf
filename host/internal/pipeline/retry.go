package pipeline

import (
	"context"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
)

// retried offers a person, once a call, to open the hosts that the sandbox kept a command
// from. If they say yes, the command runs again with these hosts open, and what that comes to
// takes the place of the first answer. Nothing runs again without that yes: the first run may
// have had effects.
func (p *performing) retried(ctx context.Context, plan capability.Retrier, s *gate.Subject, first abi.Answer) (abi.Answer, error) {
	hosts := p.offerable(plan.Refused())
	if len(hosts) == 0 || ctx.Err() != nil || !p.offered.CompareAndSwap(false, true) {
		return first, nil //nolint:nilerr // where the call is over the first answer stands
	}
	yes, err := p.Offer(ctx, p.opening(hosts))
	names := strings.Join(hosts, ", ")
	switch {
	case err != nil && ctx.Err() == nil:
		for _, host := range hosts {
			p.session().Declined.Store(host, true)
		}
		p.remark("A person was asked whether it may reach " + names + " and run again, and it was not: " + err.Error() + ".")
		return first, nil
	case !yes:
		return first, nil
	}
	if err := p.Stands(s); err != nil {
		p.remark(names + " may be reached, but the command was not run again: " + err.Error() + ".")
		return first, nil //nolint:nilerr // as above
	}
	if err := first.Body.Close(); err != nil {
		return abi.Answer{}, err
	}
	p.remark("This is the result of a second run. In the first, the sandbox kept the command from " + names + ", which a person then allowed.")
	return plan.Do(ctx, p.passes)
}

// offerable are the hosts among some that a person can be asked about: no rule denies them,
// their names say that they are not of this machine or its network, and the person has not
// declined them in this session.
func (p *performing) offerable(hosts []string) []string {
	policy := p.renew().Policy
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		h := permissions.HostOf(host)
		_, declined := p.session().Declined.Load(host)
		return declined || h.Odd != "" || h.Local || policy.DeniesHost(p.name(), host)
	})
}

// opening is the subject that asks whether the command may reach hosts and run again.
func (p *performing) opening(hosts []string) *gate.Subject {
	o := &gate.Offer{Why: "the command tried to reach " + strings.Join(hosts, ", ") + ", which no rule allows. A yes allows that and runs the command again"}
	s := &gate.Subject{Call: &p.about, Operation: p.operation, Hook: p.hookGrant(), Offer: o}
	for _, host := range hosts {
		s.Accesses = append(s.Accesses, permissions.Access{Kind: permissions.AccessNet, Target: host})
	}
	if p.session().Host.Commands.ReachesByRule() {
		o.Rules = hostRules(hosts)
	}
	return s
}

// hostRules are the rules that open hosts to commands.
func hostRules(hosts []string) []string {
	rules := make([]string, len(hosts))
	for i, host := range hosts {
		rules[i] = "WebFetch(domain:" + host + ")"
	}
	return rules
}

// Ask is as [gate.Asker] has it. Where a command that is asked about names hosts, what is
// remembered opens them to its sandbox, too.
func (g *desk) Ask(ctx context.Context, q *gate.Question) <-chan gate.Answer {
	if len(q.Explanation.Remedy) > 0 && q.Subject.Offer == nil && len(q.Subject.Commands) > 0 && g.confined(q.Subject.Operation) {
		for _, rule := range g.closedHosts(q) {
			if !slices.Contains(q.Explanation.Remedy, rule) { // as where the host is all there was to ask
				q.Explanation.Remedy = append(slices.Clip(q.Explanation.Remedy), rule)
			}
		}
	}
	return g.turn.Ask(ctx, g.use.ID, g.tell, q)
}

// closedHosts are the rules that open the hosts among the accesses of a question which
// commands do not reach yet.
func (g *desk) closedHosts(q *gate.Question) []string {
	if !g.session().Host.Commands.ReachesByRule() {
		return nil
	}
	var hosts []string
	for _, a := range q.Subject.Accesses {
		if a.Kind != permissions.AccessNet {
			continue
		}
		h := permissions.HostOf(a.Target)
		reached, _ := q.Policy.ReachableHost(g.name(), h.Name)
		if h.Odd == "" && !reached && !q.Policy.HoldsBackHost(g.name(), h.Name) && !slices.Contains(hosts, h.Name) {
			hosts = append(hosts, h.Name)
		}
	}
	return hostRules(hosts)
}
