package permissions

import (
	"slices"
)

// Decide judges a request by one policy. It is pure, needs no clock and no
// files, and answers every request. A nil policy denies.
//
// The order is: deny (a rule, a hook, the tool's check, edits in plan mode), then
// ask (a rule, a hook, the tool's check, protected paths, commands that cannot be
// judged), then allow (a rule, a hook, a built-in tool's check), then the mode,
// then a judge. What a person approved ([Evidence].Approval) is allowed where any of
// these would ask, for exactly the accesses that they were shown, and never against a
// deny. A request with several accesses gets the strictest of their verdicts.
func Decide(p *Policy, r Request, e Evidence) Decision { return decide(p, r, e, nil) }

// decide is Decide. It appends every finding to trace, unless that is nil.
func decide(p *Policy, r Request, e Evidence, trace *[]Finding) Decision {
	d := Decision{Tool: r.Tool, Stage: r.Stage, policy: p, request: r, traced: trace != nil}
	if p == nil {
		d.Finding = Finding{Verdict: Deny, Layer: LayerMode, Why: "there is no policy"}
		return d
	}
	c := call{policy: p, request: r, evidence: e, approved: e.Approval.covers(&r), trace: trace}
	whole := callJudge{&c, &d}
	whole.gather()
	accesses(&c, &d)
	if d.Verdict == None {
		whole.start()
	}
	if d.Verdict == Deny {
		d.Need = 0
	} else if d.held {
		d.Need &^= NeedJudge // it asks whatever a judge says
	}
	if d.Verdict == Ask && (r.Headless || p.NeverAsks()) {
		d.Verdict, d.Headless = Deny, true
	}
	return d
}

// accesses judges the accesses in order. Those of a command's parts are judged with the
// command.
func accesses(c *call, d *Decision) {
	list := c.request.Accesses
	for len(list) > 0 {
		a := &list[0]
		list = list[1:]
		switch a.Kind {
		case AccessExec:
			cmd := c.request.command(a.Target)
			confined := c.request.Confined && cmd != nil && !cmd.Unsandboxed
			reads := confined && c.policy.OnlyReads(cmd)
			(&commandJudge{execJudge{c, d, confined, confined && (reads || !cmd.restores()), reads}}).judge(a, cmd)
			list = behind(cmd, list)
		case AccessRead, AccessWrite:
			d.add((&pathJudge{call: c}).judge(a, c.grant, false))
		case AccessNet:
			d.add(c.host(a, c.grant, false, false))
		case AccessSession:
			d.add(c.session(a, c.grant))
		default:
			d.add(c.open(a, c.grant, "it is not read-only"))
		}
	}
}

// behind skips the accesses of a command's parts if all of them follow the command in the list, in
// order. Otherwise all are judged again as the call's own, as some of them may be.
func behind(cmd *Command, list []Access) []Access {
	if cmd == nil {
		return list
	}
	rest := list
	for i := range cmd.Parts {
		n := len(cmd.Parts[i].Accesses)
		if len(rest) < n || !slices.Equal(rest[:n], cmd.Parts[i].Accesses) {
			return list
		}
		rest = rest[n:]
	}
	return rest
}
