package permissions

// callJudge judges a call as such, apart from its accesses.
type callJudge struct {
	*call
	decision *Decision
}

// gather collects deny, ask and allow rules on the tool, and the answers of hooks and of the tool's
// check.
func (c *callJudge) gather() {
	b := &c.policy.book
	if rule := b.tool(Deny, &c.request); rule != nil {
		c.add(ruleFinding(rule, nil))
	}
	if rule := b.tool(Ask, &c.request); rule != nil {
		c.ask(ruleFinding(rule, nil))
	}
	if rule := b.tool(Allow, &c.request); rule != nil && !c.setAside(rule) {
		c.grant = ruleFinding(rule, nil)
	}
	c.hook()
	c.toolCheck()
	if c.request.Stage == StageCall && c.request.Effects == EffectsUnknown {
		c.decision.add(c.open(nil, c.grant, "what it does is not known beforehand"))
	}
}

// setAside reports whether a rule on the tool is ignored: in ModeAuto no rule may allow every
// command.
func (c *callJudge) setAside(rule *Rule) bool {
	return c.policy.mode == ModeAuto && (rule.overBroad() || c.runsCommands())
}

func (c *callJudge) runsCommands() bool {
	for i := range c.request.Accesses {
		if c.request.Accesses[i].Kind == AccessExec {
			return true
		}
	}
	return false
}

func (c *callJudge) add(f Finding) {
	l := c.ladder(nil)
	l.add(f)
	c.decision.add(l.found())
}

// ask adds an ask, after the person's approval if there is one.
func (c *callJudge) ask(f Finding) {
	l := c.ladder(nil)
	c.approval(&l, nil)
	l.add(f)
	c.decision.add(l.found())
}

func (c *callJudge) hook() {
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
		c.ask(f)
	default:
		f.Verdict = Deny
		c.add(f)
	}
}

// toolCheck weighs the tool's own verdict. Only a built-in tool may loosen.
func (c *callJudge) toolCheck() {
	f := Finding{Layer: LayerToolCheck, Why: "the tool's own check says so"}
	if reason := c.request.CheckReason; reason != "" {
		f.Why += ": " + reason
	}
	switch c.request.ToolCheck {
	case CheckNone:
	case CheckAllow:
		if c.request.Origin.Builtin {
			f.Verdict = Allow
			c.offer(f)
		}
	case CheckDeny:
		f.Verdict = Deny
		c.add(f)
	case CheckPassthrough:
		if c.grant.Rule == nil {
			f.Verdict = Ask
			c.ask(f)
		}
	default:
		f.Verdict = Ask
		c.ask(f)
	}
}

// offer keeps the first thing that allows.
func (c *callJudge) offer(f Finding) {
	if c.grant.Verdict == None {
		c.grant = f
	}
}

// start allows a request without effects of its own.
func (c *callJudge) start() {
	why := "it has no effect outside the session"
	if c.request.Stage == StageCall && c.request.Effects == EffectsGated {
		why = "each of its effects is judged when it comes"
	}
	c.add(Finding{Verdict: Allow, Layer: LayerMode, Why: why})
}
