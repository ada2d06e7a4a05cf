package permissions

import (
	"slices"
)

// Decide judges a request by one policy. It is pure, needs no clock and no
// files, and answers every request. A nil policy denies.
//
// The order is: deny (a rule, a hook, the tool's check, edits in plan mode), then
// ask (a rule, a hook, the tool's check, guarded places, commands that cannot be
// judged), then allow (a rule, a hook, a built-in tool's check), then the mode,
// then a judge. A request with several accesses gets the strictest of their
// verdicts.
func Decide(p *Policy, r Request, e Evidence) Decision { return decide(p, r, e, nil) }

// decide is Decide, with every finding written down where trace is not nil.
func decide(p *Policy, r Request, e Evidence, trace *[]Finding) Decision {
	d := Decision{Tool: r.Tool, Stage: r.Stage, policy: p, request: r, traced: trace != nil}
	if p == nil {
		d.Finding = Finding{Verdict: Deny, Layer: LayerMode, Why: "there is no policy"}
		return d
	}
	c := call{policy: p, request: r, evidence: e, approved: e.Approval.covers(&r), trace: trace}
	c.gather(&d)
	c.accesses(&d)
	if d.Verdict == None {
		c.start(&d)
	}
	if d.Verdict == Deny {
		d.Need = 0
	} else if d.held {
		d.Need &^= NeedJudge // it asks whatever a judge says
	}
	if d.Verdict == Ask && (r.Headless || p.mode == ModeDontAsk) {
		d.Verdict, d.Headless = Deny, true
	}
	return d
}

// call is one judgement under way. It holds values, as pointers to them would
// have them allocated.
type call struct {
	policy   *Policy
	request  Request
	evidence Evidence
	approved bool
	// grant is what allows whatever is open: a rule on the tool, a hook or the
	// tool's check.
	grant Finding
	trace *[]Finding
}

// accesses judges the accesses in order. Those of a command's parts are judged
// with the command.
func (c *call) accesses(d *Decision) {
	list := c.request.Accesses
	for len(list) > 0 {
		a := &list[0]
		list = list[1:]
		switch a.Kind {
		case AccessExec:
			cmd := c.command(a.Target)
			c.exec(d, a, cmd)
			list = behind(cmd, list)
		case AccessRead, AccessWrite:
			d.add(c.path(a, c.grant, false))
		case AccessNet:
			d.add(c.net(a, c.grant, false))
		case AccessSession:
			l := c.ladder(a)
			l.add(Finding{Verdict: Allow, Layer: LayerMode, Why: "it stays within the session"})
			d.add(l.found())
		default:
			d.add(c.open(a, c.grant, "it is not read-only"))
		}
	}
}

// behind skips the accesses of a command's parts where all of them are listed
// again, in order, behind the command. Else each is judged once more as one of
// the call's own, as it cannot be told which are.
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

// gather judges the call as such, apart from its accesses.
func (c *call) gather(d *Decision) {
	b := &c.policy.book
	if rule := b.tool(Deny, &c.request); rule != nil {
		c.add(d, ruleFinding(rule, nil))
	}
	if rule := b.tool(Ask, &c.request); rule != nil {
		c.ask(d, ruleFinding(rule, nil))
	}
	if rule := b.tool(Allow, &c.request); rule != nil && !c.setAside(rule) {
		c.grant = ruleFinding(rule, nil)
	}
	c.hook(d)
	c.toolCheck(d)
	if c.request.Stage == StageCall && c.request.Effects == EffectsUnknown {
		d.add(c.open(nil, c.grant, "what it does is not known beforehand"))
	}
}

// setAside reports whether a rule on the tool counts for nothing in ModeAuto,
// where no rule may let every command pass.
func (c *call) setAside(rule *Rule) bool {
	return c.policy.mode == ModeAuto && (rule.overBroad() || c.runsCommands())
}

func (c *call) runsCommands() bool {
	for i := range c.request.Accesses {
		if c.request.Accesses[i].Kind == AccessExec {
			return true
		}
	}
	return false
}

func (c *call) add(d *Decision, f Finding) {
	l := c.ladder(nil)
	l.add(f)
	d.add(l.found())
}

// ask adds an ask, unless a person has said yes to it.
func (c *call) ask(d *Decision, f Finding) {
	l := c.ladder(nil)
	if c.approved {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: approvedWhy})
	}
	l.add(f)
	d.add(l.found())
}

const approvedWhy = "a person approved it"

func (c *call) hook(d *Decision) {
	h := c.evidence.Hook
	if h == nil {
		return
	}
	f := Finding{Verdict: h.Verdict, Layer: LayerHook, Why: h.Reason}
	switch h.Verdict {
	case None:
	case Allow:
		c.offer(f)
	case Ask:
		c.ask(d, f)
	default:
		f.Verdict = Deny
		c.add(d, f)
	}
}

// toolCheck weighs the tool's own verdict. Only a built-in tool may loosen.
func (c *call) toolCheck(d *Decision) {
	f := Finding{Layer: LayerToolCheck, Why: "the tool's own check says so"}
	switch c.request.ToolCheck {
	case CheckNone:
	case CheckAllow:
		if c.request.Origin.Builtin {
			f.Verdict = Allow
			c.offer(f)
		}
	case CheckDeny:
		f.Verdict = Deny
		c.add(d, f)
	case CheckPassthrough:
		if c.grant.Rule == nil {
			f.Verdict = Ask
			c.ask(d, f)
		}
	default:
		f.Verdict = Ask
		c.ask(d, f)
	}
}

// offer keeps the first thing that allows.
func (c *call) offer(f Finding) {
	if c.grant.Verdict == None {
		c.grant = f
	}
}

// start is the finding on a request without effects of its own.
func (c *call) start(d *Decision) {
	why := "it has no effect outside the session"
	if c.request.Stage == StageCall && c.request.Effects == EffectsGated {
		why = "each of its effects is judged when it comes"
	}
	c.add(d, Finding{Verdict: Allow, Layer: LayerMode, Why: why})
}

// approves reports whether a person has said yes to this very access.
func (c *call) approves(a *Access) bool {
	return c.approved && (a == nil || slices.Contains(c.evidence.Approval.Accesses, *a))
}

// open judges what only a rule on the tool, a hook or the mode can allow, and
// returns the finding and the one that would have stood without it.
func (c *call) open(a *Access, grant Finding, why string) (first, second Finding) {
	l := c.ladder(a)
	if c.approves(a) {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: approvedWhy})
	}
	l.add(grant)
	l.add(c.answer(other, why))
	return l.found()
}

// answer is the mode's own, or the judge's, on what is left open.
func (c *call) answer(to matter, why string) Finding {
	mode := c.policy.mode
	switch v := mode.answers(to); {
	case v == byJudge:
		return c.judged(why)
	case v == Allow && mode == ModeBypass:
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "the mode is " + string(ModeBypass)}
	default:
		return Finding{Verdict: v, Layer: LayerMode, Why: why}
	}
}

// must adds what no rule lifts, unless the mode does.
func (c *call) must(l *ladder, to matter, layer Layer, why string) {
	if v := c.policy.mode.answers(to); v != Allow {
		l.add(Finding{Verdict: v, Layer: layer, Why: why})
	}
}
