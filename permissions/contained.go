package permissions

import (
	"fmt"
	"slices"
)

// Contained says whether a command that only the mode asks about is tried first: over throwaway
// overlays, and without a network.
type Contained string

// The values of Contained. The empty one means ContainedOff.
const (
	// ContainedOff tries no command.
	ContainedOff Contained = "off"
	// ContainedAsk tries a command, and then asks. The question shows its changes.
	ContainedAsk Contained = "ask"
	// ContainedRun tries a command, and asks only if it changed something or the trial is inconclusive.
	ContainedRun Contained = "run"
)

var containedValues = []Contained{ContainedOff, ContainedAsk, ContainedRun}

// ContainedValues are the values of the setting, the strictest first.
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

// Tries reports whether a request is tried before a person is asked. It is if its commands run wholly
// confined, the default or plan mode asks about it, and acceptEdits would allow it. So no rule, hook,
// tool, path or host is a reason to ask. Nothing is tried with [UnaskedNever], or if the policy denies
// whatever it would ask about.
func (p *Policy) Tries(r Request, e Evidence) bool {
	switch {
	case p.contained == "" || p.contained == ContainedOff, p.unasked == UnaskedNever, !r.Confined,
		p.mode != ModeDefault && p.mode != ModePlan:
		return false
	case slices.ContainsFunc(r.Accesses, func(a Access) bool { return a.Kind == AccessNet }):
		return false // a trial has no network
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

// TrialStands reports whether a trial that changed nothing stands without a question.
func (p *Policy) TrialStands() bool { return p.contained == ContainedRun }

// WithholdsReads reports whether there is a deny or ask rule on reading files.
func (p *Policy) WithholdsReads() bool {
	return p.book.first(Deny, false) != nil || p.book.first(Ask, false) != nil
}
