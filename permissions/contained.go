package permissions

import (
	"fmt"
	"slices"
)

// Contained says whether a command that needs a person's yes only because of the mode is tried
// first: where nothing that it changes lasts, and where it reaches nobody.
type Contained string

// The values of Contained. The empty one means ContainedOff.
const (
	// ContainedOff tries no command.
	ContainedOff Contained = "off"
	// ContainedAsk tries it, and then asks: the question shows what it would change.
	ContainedAsk Contained = "ask"
	// ContainedRun asks only where it would change something, or where nothing is known by the trial.
	ContainedRun Contained = "run"
)

var containedValues = []Contained{ContainedOff, ContainedAsk, ContainedRun}

// ContainedValues are the values that a setting may have, the strictest first.
func ContainedValues() []string {
	values := make([]string, len(containedValues))
	for i, v := range containedValues {
		values[i] = string(v)
	}
	return values
}

func (p *modes) checkContained() error {
	if p.contained != "" && !slices.Contains(containedValues, p.contained) {
		return fmt.Errorf("unknown value %q for when commands are tried before a person is asked; there are %s, %s and %s",
			p.contained, ContainedOff, ContainedAsk, ContainedRun)
	}
	return nil
}

// Tries reports whether a request is to be tried before a person is asked: one for commands that run
// wholly confined, in the default or plan mode, that would be allowed in acceptEdits. So no rule,
// hook or tool asks about it, and no path or host. Nothing is tried with [UnaskedNever].
func (p *Policy) Tries(r Request, e Evidence) bool {
	switch {
	case p.contained == "" || p.contained == ContainedOff, p.unasked == UnaskedNever, !r.Confined,
		p.mode != ModeDefault && p.mode != ModePlan:
		return false
	case p.silent:
		return false // nobody would be asked
	case slices.ContainsFunc(r.Accesses, func(a Access) bool { return a.Kind == AccessNet }):
		return false // it would reach nobody
	}
	r.Headless = false
	if d := Decide(p, r, e); d.Verdict != Ask || d.held {
		return false
	}
	q := *p
	q.mode, q.unasked = ModeAcceptEdits, UnaskedEdits
	d := Decide(&q, r, e)
	return d.Verdict == Allow
}

// TrialStands reports whether what a trial found stands without a question, if nothing changed.
func (p *Policy) TrialStands() bool { return p.contained == ContainedRun }

// WithholdsReads reports whether a deny or ask rule is about reading files.
func (p *Policy) WithholdsReads() bool {
	return p.book.first(Deny, false) != nil || p.book.first(Ask, false) != nil
}
