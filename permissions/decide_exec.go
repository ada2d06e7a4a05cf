package permissions

import "fmt"

// execJudge compares the words and the text of a command with the rules. Its methods take the
// access: as a field beside the call it would make the compiler allocate that.
type execJudge struct {
	*call
	decision *Decision
	// confined says that the command runs so: see [Request].Confined.
	confined bool
	// hides says that in the working directories it finds nothing that rules withhold.
	hides bool
	// reads says that it only reads, as it is confined: see [Policy.OnlyReads].
	reads bool
}

// frees reports whether the command needs no permission for what nobody named.
func (c *execJudge) frees() bool { return c.confined && c.policy.frees() }

const (
	confinedWhy = "it runs wholly confined"
	readsWhy    = "it only reads, and in the sandbox no more than may be read unasked"
)

// folds reports whether the case of letters does not matter in the names of programs.
func (c *execJudge) folds() bool { return c.policy.places.fold || c.request.Tool == toolPowerShell }

// wholeText adds the deny and ask rules that cover the whole text of a command.
func (c *execJudge) wholeText(a *Access) {
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
	c.decision.add(l.found())
}

// held adds the deny and ask rules that cover words, with a person's approval between them.
func (c *execJudge) held(l *ladder, a *Access, words []Word) {
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

// unknownTarget asks, in every mode, if there is a deny or ask rule on that kind of access: the
// target may be what the rule names.
func (c *execJudge) unknownTarget(a *Access, what string, write bool) (first, second Finding) {
	l := c.ladder(a)
	c.approval(&l, a)
	for _, v := range []Verdict{Deny, Ask} {
		if rule := c.policy.book.first(v, write); rule != nil {
			l.add(Finding{Verdict: Ask, Layer: LayerPath, Why: fmt.Sprintf(
				"%s is only known when it runs, and it may be what the %s rule %s (%s) names", what, v, rule, rule.Source)})
		}
	}
	return l.found()
}
