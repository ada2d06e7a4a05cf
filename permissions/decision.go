package permissions

import (
	"github.com/toolquay/toolquay/abi"
)

// Decision is what a request came to. The embedded finding is the one that
// decided.
type Decision struct {
	Finding
	// RunnerUp would have decided without it: the next finding on the same access, or else
	// the next strictest.
	RunnerUp Finding
	// Tool and Stage are the request's.
	Tool  string
	Stage Stage
	// Headless says that the verdict was Ask, and is Deny because nobody can
	// be asked, or may be in [ModeDontAsk].
	Headless bool
	// Need says what evidence would let the decision be made. The verdict
	// beside it is never Allow.
	Need Need

	// held says that a finding asks that no rule can lift.
	held bool
	// asks are all findings that ask, if traced.
	asks    []Finding
	traced  bool
	policy  *Policy
	request Request
}

// add joins the finding on one more access into the decision.
func (d *Decision) add(first, second Finding) {
	d.Need |= first.need
	d.held = d.held || first.must()
	if d.traced && first.Verdict == Ask {
		d.asks = append(d.asks, first)
	}
	switch {
	case first.outranks(&d.Finding):
		if second.Verdict == None {
			second = d.Finding
		}
		d.Finding, d.RunnerUp = first, second
	case first.Verdict.Worse(d.RunnerUp.Verdict):
		d.RunnerUp = first
	}
}

// Code is the error code that goes with the verdict: abi.CodeDenied for a deny,
// abi.CodeNeedsApproval where a person must decide and cannot or has not, and
// empty for an allow.
func (d *Decision) Code() abi.Code {
	switch {
	case d.Verdict == Ask || d.Headless:
		return abi.CodeNeedsApproval
	case d.Verdict == Deny:
		return abi.CodeDenied
	}
	return ""
}

// Matched is what was judged: the access, or the tool for the call as such.
func (d *Decision) Matched() string {
	if d.Access == (Access{}) {
		return "calling " + d.Tool
	}
	return d.Access.String()
}
