package permissions

import (
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// commandJudge judges running a command, with all that its parts touch.
type commandJudge struct{ execJudge }

func (c *commandJudge) judge(a *Access, cmd *Command) {
	var leaves outside
	if cmd != nil && cmd.Unsandboxed {
		leaves = c.leave(a, cmd)
	}
	if cmd == nil || cmd.Fault != "" {
		c.unjudged(a, cmd)
		return
	}
	text := Finding{}
	if rule := c.policy.book.allowText(&c.request, cmd.Text); rule != nil {
		text = ruleFinding(rule, nil)
	} else if leaves.text != nil {
		text = ruleFinding(leaves.text, nil)
	}
	c.wholeText(a)
	// A command of read-only parts may not be read-only itself, as one that never ends; nor
	// is one without parts.
	unexplained, granted := !cmd.ReadOnly, len(cmd.Parts) > 0
	s := newShifts(c.policy, cmd, c.folds())
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		by := text
		if leaves.parts != nil && leaves.parts[i] != nil && text.Verdict == None {
			by = ruleFinding(leaves.parts[i], nil)
		}
		grant := (&partJudge{c.execJudge, p}).judge(a, text, by)
		c.shifted(&s, i)
		if !p.Inner {
			unexplained = unexplained && p.Bounded() && p.ReadOnly
			granted = granted && grant.Verdict == Allow
		}
	}
	if unexplained && !granted && !c.frees() && !c.reads {
		c.decision.add(c.open(a, text, reason(cmd.Reason)))
	}
}

// leave judges leaving the sandbox. It returns the rules by which the command may.
func (c *commandJudge) leave(a *Access, cmd *Command) outside {
	l := c.ladder(a)
	c.approval(&l, a)
	by, ok := c.policy.book.leaving(&c.request, cmd)
	if ok {
		l.add(ruleFinding(by.first(), nil))
	} else {
		c.must(&l, critical, LayerCritical, leaveWhy)
	}
	c.decision.add(l.found())
	return by
}

// unjudged judges a command that cannot be understood: by deny and ask rules on what can be seen
// of it. No rule allows it.
func (c *commandJudge) unjudged(a *Access, cmd *Command) {
	why := "it is not known what the command does"
	if cmd != nil {
		why = "the command cannot be judged: " + cmd.Fault
		for i := range cmd.Parts {
			p := partJudge{c.execJudge, &cmd.Parts[i]}
			l := c.ladder(a)
			p.holdsBack(&l, a)
			p.heldHosts(&l, a)
			c.decision.add(l.found())
			p.touched(c.grant, c.grant)
		}
	}
	b := &c.policy.book
	if cmd != nil && strings.ContainsAny(cmd.Text, "$`*?[~<>{") {
		c.decision.add(c.unknownTarget(a, "which file it reads", false))
		c.decision.add(c.unknownTarget(a, "which file it writes", true))
	}
	if len(b.commands[Deny])+len(b.commands[Ask]) > 0 {
		c.seen(a)
	}
	l := c.ladder(a)
	c.approval(&l, a)
	c.must(&l, unjudged, LayerCommand, why)
	l.add(c.answer(other, why))
	c.decision.add(l.found())
}

// seen tries deny and ask rules on the text of a command that cannot be judged.
func (c *commandJudge) seen(a *Access) {
	if len(a.Target) > shellword.MaxRough {
		l := c.ladder(a)
		c.approval(&l, a)
		l.add(Finding{Verdict: Ask, Layer: LayerCommand, Why: "the command is too long to look for what rules deny"})
		c.decision.add(l.found())
		return
	}
	c.wholeText(a)
	for _, words := range shellword.Rough(a.Target) {
		// Each word may be the program, as the words before it may be a wrapper.
		for i := range words {
			l := c.ladder(a)
			c.held(&l, a, words[i:min(i+shellword.RoughWindow, len(words))])
			c.decision.add(l.found())
		}
	}
}

// shifted asks about paths of part i that another part may redirect by a link. In a sandbox no
// link leads to what a confined command would have to be asked about.
func (c *commandJudge) shifted(s *shifts, i int) {
	p := &s.parts[i]
	for j := range p.Accesses {
		a := &p.Accesses[j]
		if (a.Kind == AccessRead && !c.confined || a.Kind == AccessWrite && !c.frees()) && s.maybeLink(i, a) {
			l := c.ladder(a)
			c.approval(&l, a)
			c.must(&l, unjudged, LayerPath, "it leads where a link may lead that another part of the command puts there")
			c.decision.add(l.found())
		}
	}
}
