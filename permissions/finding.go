package permissions

import "fmt"

// Layer says which part of the chain a finding comes from.
type Layer string

// The layers.
const (
	// LayerRule is a deny, ask or allow rule.
	LayerRule Layer = "rule"
	// LayerHook is a hook's answer.
	LayerHook Layer = "hook"
	// LayerToolCheck is the tool's own check.
	LayerToolCheck Layer = "tool-check"
	// LayerProtected is a place whose change would change what runs later.
	LayerProtected Layer = "protected"
	// LayerCredentials is a place that holds secrets, or a device.
	LayerCredentials Layer = "credentials"
	// LayerPath is a path that cannot be judged.
	LayerPath Layer = "path"
	// LayerCommand is a command that cannot be judged, or that a person is to
	// see whatever rules allow.
	LayerCommand Layer = "command"
	// LayerNetwork is a host that is uncertain or local.
	LayerNetwork Layer = "network"
	// LayerCritical asks in every mode: removing critical paths, and leaving the sandbox.
	LayerCritical Layer = "critical"
	// LayerJudge is a judge's answer.
	LayerJudge Layer = "judge"
	// LayerContained is the result of a trial that changed nothing: see [Policy.Tries].
	LayerContained Layer = "contained"
	// LayerApproval is a person's yes.
	LayerApproval Layer = "approval"
	// LayerMode is the mode's own answer.
	LayerMode Layer = "mode"
)

// Finding is one opinion of the chain.
type Finding struct {
	// Verdict is None where there is no finding.
	Verdict Verdict
	Layer   Layer
	// Rule is set for LayerRule.
	Rule *Rule
	// Access is what it is about; the zero value is the call as such.
	Access Access
	// Why says, for other layers than LayerRule, what it found.
	Why string

	// need is the evidence that would settle it.
	need Need
	// missing are the names of the path that nothing allows.
	missing uint8
}

func ruleFinding(r *Rule, a *Access) Finding {
	f := Finding{Verdict: r.Verdict, Layer: LayerRule, Rule: r}
	if a != nil {
		f.Access = *a
	}
	return f
}

// must reports whether a finding asks even where rules allow.
func (f *Finding) must() bool {
	return f.Verdict == Ask && f.Layer != LayerMode && f.Layer != LayerJudge
}

// outranks reports whether a finding decides rather than another.
func (f *Finding) outranks(g *Finding) bool {
	return f.Verdict.Worse(g.Verdict) || f.Verdict == g.Verdict && f.must() && !g.must()
}

// Reason says why the verdict is what it is, for people.
func (f *Finding) Reason() string {
	if f.Rule != nil {
		return fmt.Sprintf("the %s rule %s (%s)", f.Rule.Verdict, f.Rule, f.Rule.Source)
	}
	if f.Why == "" {
		return "the " + string(f.Layer) + " says so"
	}
	return f.Why
}

// stepNames are the steps in order of precedence.
var stepNames = [...]string{"deny", "must ask", "allow", "mode", "judge", "person"}

// step is where in the chain a finding belongs.
func (f *Finding) step() int {
	switch {
	case f.Layer == LayerApproval:
		return 5
	case f.Layer == LayerJudge:
		return 4
	case f.Verdict == Deny:
		return 0
	case f.must():
		return 1
	case f.Layer == LayerMode:
		return 3
	}
	return 2
}

// same reports whether two findings say the same.
func (f *Finding) same(g Finding) bool {
	return f.Verdict == g.Verdict && f.Layer == g.Layer && f.Rule == g.Rule && f.Access == g.Access && f.Why == g.Why
}

// The names of a path that nothing allows.
const (
	missingTarget uint8 = 1 << iota
	missingReal
)

// ladder keeps the first two findings on one thing, in order of precedence.
type ladder struct {
	first, second Finding
	access        *Access
	approved      bool
	trace         *[]Finding
}

func (l *ladder) add(f Finding) {
	if f.Verdict == None || f.Layer == LayerApproval && l.approved {
		return
	}
	l.approved = l.approved || f.Layer == LayerApproval
	if l.trace != nil {
		if l.access != nil {
			f.Access = *l.access
		}
		*l.trace = append(*l.trace, f)
	}
	switch {
	case l.first.Verdict == None:
		l.first = f
	case l.second.Verdict == None:
		l.second = f
	}
}

func (l *ladder) found() (first, second Finding) {
	if l.access != nil {
		if l.first.Verdict != None {
			l.first.Access = *l.access
		}
		if l.second.Verdict != None {
			l.second.Access = *l.access
		}
	}
	return l.first, l.second
}
