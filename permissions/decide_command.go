package permissions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/runners"
	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// command finds what is known of a command.
func (c *call) command(text string) *Command {
	for i := range c.request.Commands {
		if cmd := &c.request.Commands[i]; cmd.Text == text {
			return cmd
		}
	}
	return nil
}

// exec judges running a command, with all that its parts touch.
func (c *call) exec(d *Decision, a *Access, cmd *Command) {
	if cmd != nil && cmd.Unsandboxed {
		l := c.ladder(a)
		c.approval(&l, a)
		c.must(&l, critical, LayerCritical, "it asks to leave the sandbox")
		d.add(l.found())
	}
	if cmd == nil || cmd.Fault != "" {
		c.unjudged(d, a, cmd)
		return
	}
	text := Finding{}
	if rule := c.policy.book.allowText(&c.request, cmd.Text); rule != nil {
		text = ruleFinding(rule, nil)
	}
	c.wholeText(d, a)
	// Read-only parts do not make a read-only command of what never ends, say;
	// nor is one of which no part is seen.
	unexplained, granted := !cmd.ReadOnly, len(cmd.Parts) > 0
	s := newShifts(c.policy, cmd, c.folds())
	for i := range cmd.Parts {
		p := &cmd.Parts[i]
		grant := c.part(d, a, p, text)
		c.shifted(d, &s, i)
		if !p.Inner {
			unexplained = unexplained && p.Bounded() && p.ReadOnly
			granted = granted && grant.Verdict == Allow
		}
	}
	if unexplained && !granted {
		d.add(c.open(a, text, reason(cmd.Reason)))
	}
}

func reason(text string) string {
	if text == "" {
		return "it is not read-only"
	}
	return text
}

func (c *call) approval(l *ladder, a *Access) {
	if c.approves(a) {
		l.add(Finding{Verdict: Allow, Layer: LayerApproval, Why: approvedWhy})
	}
}

// wholeText tries the deny and ask rules that are about a command's whole text.
func (c *call) wholeText(d *Decision, a *Access) {
	b, fold := &c.policy.book, c.folds()
	l := c.ladder(a)
	if rule := b.heldText(Deny, &c.request, a.Target, fold); rule != nil {
		l.add(ruleFinding(rule, nil))
	}
	rule := b.heldText(Ask, &c.request, a.Target, fold)
	if rule != nil {
		c.approval(&l, a)
		l.add(ruleFinding(rule, nil))
	}
	d.add(l.found())
}

// folds reports whether programs are found whatever the case of their letters.
func (c *call) folds() bool { return c.policy.places.fold || c.request.Tool == toolPowerShell }

// unjudged judges a command of which it cannot be told what it does: by deny and
// ask rules on what can be seen of it. No rule allows it.
func (c *call) unjudged(d *Decision, a *Access, cmd *Command) {
	why := "it is not known what the command does"
	if cmd != nil {
		why = "the command cannot be judged: " + cmd.Fault
		for i := range cmd.Parts {
			l := c.ladder(a)
			c.holdsBack(&l, a, &cmd.Parts[i])
			c.heldHosts(&l, a, &cmd.Parts[i])
			d.add(l.found())
			c.touched(d, &cmd.Parts[i], c.grant, c.grant)
		}
	}
	b := &c.policy.book
	if cmd != nil && strings.ContainsAny(cmd.Text, "$`*?[~<>{") {
		d.add(c.unknownTarget(a, "which file it reads", false))
		d.add(c.unknownTarget(a, "which file it writes", true))
	}
	if len(b.commands[Deny])+len(b.commands[Ask]) > 0 {
		c.seen(d, a)
	}
	l := c.ladder(a)
	c.approval(&l, a)
	c.must(&l, unjudged, LayerCommand, why)
	l.add(c.answer(other, why))
	d.add(l.found())
}

// seen tries deny and ask rules on the text of a command that cannot be judged.
func (c *call) seen(d *Decision, a *Access) {
	if len(a.Target) > shellword.MaxRough {
		l := c.ladder(a)
		c.approval(&l, a)
		l.add(Finding{Verdict: Ask, Layer: LayerCommand, Why: "the command is too long to look for what rules deny"})
		d.add(l.found())
		return
	}
	c.wholeText(d, a)
	for _, words := range shellword.Rough(a.Target) {
		// Each word may be the program: what stands before it may be a wrapper.
		for i := range words {
			l := c.ladder(a)
			c.held(&l, a, words[i:min(i+shellword.RoughWindow, len(words))])
			d.add(l.found())
		}
	}
}

// held adds the deny and ask rules that hold words back. A person's yes stands
// between the two.
func (c *call) held(l *ladder, a *Access, words []Word) {
	b, fold := &c.policy.book, c.folds()
	deny, maybe := b.heldWords(Deny, &c.request, words, fold)
	if deny != nil {
		l.add(ruleFinding(deny, nil))
	}
	ask, maybeAsk := b.heldWords(Ask, &c.request, words, fold)
	if ask == nil && maybe == nil && maybeAsk == nil {
		return
	}
	c.approval(l, a)
	if ask != nil {
		l.add(ruleFinding(ask, nil))
	}
	if maybe == nil {
		maybe = maybeAsk
	}
	if maybe != nil {
		l.add(Finding{Verdict: Ask, Layer: LayerCommand, Why: fmt.Sprintf(
			"once the shell has expanded it, it may be what the %s rule %s (%s) names", maybe.Verdict, maybe, maybe.Source)})
	}
}

// holdsBack adds what holds a part back whatever allows it.
func (c *call) holdsBack(l *ladder, a *Access, p *Part) {
	c.held(l, a, p.Words)
	for _, words := range runners.BehindFlags(p.Words) {
		c.held(l, a, words)
	}
	if p.Ask == "" {
		return
	}
	to := unjudged
	if p.Critical {
		to = critical
	}
	c.approval(l, a)
	c.must(l, to, LayerCommand, p.Ask)
}

// heldHosts adds the deny and ask rules that hold back the hosts which a part may
// reach. Where others are only known when it runs, a person is asked if there is any
// such rule.
func (c *call) heldHosts(l *ladder, a *Access, p *Part) {
	b := &c.policy.book
	var ask *Rule
	for _, name := range p.Hosts {
		h := hosts.Of(name)
		if rule := b.host(Deny, &c.request, &h); rule != nil {
			l.add(ruleFinding(rule, nil))
		}
		if ask == nil {
			ask = b.host(Ask, &c.request, &h)
		}
	}
	var maybe *Rule
	if p.Unknown&UnknownHost != 0 {
		if maybe = b.anyHost(Deny, &c.request); maybe == nil {
			maybe = b.anyHost(Ask, &c.request)
		}
	}
	if ask == nil && maybe == nil {
		return
	}
	c.approval(l, a)
	if ask != nil {
		l.add(ruleFinding(ask, nil))
	}
	if maybe != nil {
		l.add(Finding{Verdict: Ask, Layer: LayerCommand, Why: fmt.Sprintf(
			"which hosts it reaches is only known when it runs, and the %s rule %s (%s) speaks of hosts", maybe.Verdict, maybe, maybe.Source)})
	}
}

// part judges one simple command, and returns what allows it besides the mode.
func (c *call) part(d *Decision, a *Access, p *Part, text Finding) (grant Finding) {
	l := c.ladder(a)
	c.holdsBack(&l, a, p)
	c.heldHosts(&l, a, p)
	grant, whole := text, text
	if text.Verdict == None {
		grant, whole = c.partGrant(p), c.grant
	}
	if !p.Inner {
		c.approval(&l, a)
		l.add(grant)
		l.add(c.partAnswer(p))
	}
	d.add(l.found())
	c.touched(d, p, grant, whole)
	c.unknown(d, a, p, grant)
	return grant
}

// partGrant is what allows a part: a rule on commands, or what allows the call.
func (c *call) partGrant(p *Part) Finding {
	rule := c.policy.book.allowPart(&c.request, p, c.policy.mode == ModeAuto)
	if rule == nil {
		return c.grant
	}
	return ruleFinding(rule, nil)
}

// partAnswer is the mode's own on a part.
func (c *call) partAnswer(p *Part) Finding {
	switch {
	case p.Bounded() && p.ReadOnly:
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "it is read-only"}
	case p.Bounded():
		return Finding{Verdict: Allow, Layer: LayerMode, Why: "it does no more than what it does to files"}
	}
	return c.answer(other, reason(p.Reason))
}

// movesTrees reports whether a part removes or moves what it is given, and writes
// nothing into it. Inside the working directories that plants no protected file:
// one that is named is guarded by its name.
func movesTrees(p *Part) bool {
	if !p.Bounded() || p.ReadOnly || p.Prints {
		return false
	}
	switch p.Words[0].Text {
	case "rm", "rmdir", "mv":
		return true
	}
	return false
}

// touched judges the paths and hosts of a part. What allows a program does not
// let the shell redirect to anywhere: whole is what allows that.
func (c *call) touched(d *Decision, p *Part, grant, whole Finding) {
	moves, own := movesTrees(p), len(p.Accesses)-p.Redirected
	for i := range p.Accesses {
		a, by := &p.Accesses[i], grant
		if i >= own && c.leaves(a) {
			by = whole
		}
		switch a.Kind {
		case AccessRead, AccessWrite:
			d.add(c.path(a, by, moves))
			c.searched(d, a)
		case AccessNet:
			d.add(c.net(a, by, true))
		default:
			d.add(c.open(a, by, "it is not read-only"))
		}
	}
}

// leaves reports whether what a redirection does reaches out of the working
// directories, other than by reading.
func (c *call) leaves(a *Access) bool {
	if a.Kind == AccessWrite {
		return !c.policy.inside(filepath.ToSlash(a.Target)) || !c.policy.insideReal(filepath.ToSlash(a.Real))
	}
	return a.Kind != AccessRead
}

// shifted judges that paths of part i may not lead where they were found to lead.
func (c *call) shifted(d *Decision, s *shifts, i int) {
	p := &s.parts[i]
	for j := range p.Accesses {
		if a := &p.Accesses[j]; (a.Kind == AccessRead || a.Kind == AccessWrite) && s.maybeLink(i, a) {
			l := c.ladder(a)
			c.approval(&l, a)
			c.must(&l, unjudged, LayerPath, "it leads where a link may lead that another part of the command puts there")
			d.add(l.found())
		}
	}
}

// net judges reaching a host; shell says that a command does.
func (c *call) net(a *Access, grant Finding, shell bool) (first, second Finding) {
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
