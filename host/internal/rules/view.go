package rules

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// Settings are what an operator may change while sessions go on. They must not be
// changed once a session has them.
type Settings struct {
	// Rules are the permission rules by source, in any order.
	Rules []permissions.RuleSet
	// OnlyPolicyRules makes allow rules of other sources than policy grant nothing.
	OnlyPolicyRules bool
	// ForbiddenModes are not offered. A session in one of them goes on in
	// [permissions.ModeDefault].
	ForbiddenModes []permissions.Mode
	// Hooks run around calls; nil is none.
	Hooks *hooks.Set
}

// View is what a session's calls are judged by at one moment. It is immutable: changes
// make another view.
type View struct {
	gate.View
	// Cwd is the working directory.
	Cwd string
	// Settings are those that the policy was compiled from.
	Settings *Settings
	// Tools are those whose names the policy's rules use: while a turn runs, those that
	// it began with.
	Tools tool.Set

	// bare is the policy of the settings alone.
	bare *permissions.Policy
	// given are allow rules of a person.
	given []given
	// beforePlan is the mode that plan was entered from; empty where the session began in
	// plan or was never in it.
	beforePlan permissions.Mode
	// tree holds the view through which the session's directories are looked at.
	tree *tree
}

// given are allow rules that a person gave during the session.
type given struct {
	rules permissions.RuleSet
	// until is nil where they count for the session. Else they were also written to a
	// file that these settings were read before. Later settings include them, or leave
	// them out because someone has removed them from the file.
	until *Settings
}

// counts reports whether the rules are in force beside some settings.
func (g *given) counts(beside *Settings) bool { return g.until == nil || g.until == beside }

// with returns the view with another policy.
func (v *View) with(p *permissions.Policy) *View {
	newer := *v
	newer.Policy = p
	return &newer
}

// inMode returns the view in another mode. It fails if the mode is unknown or forbidden.
func (v *View) inMode(m permissions.Mode) (*View, error) {
	policy, err := v.Policy.WithMode(m)
	if err != nil {
		return nil, err
	}
	if m == permissions.ModePlan && v.Policy.NeverAsks() {
		policy = policy.Silent() // entering plan does not loosen dontAsk
	}
	newer := v.with(policy)
	if was := v.Policy.Mode(); m == permissions.ModePlan && was != m {
		newer.beforePlan = was
	}
	return newer, nil
}

// errNotPlanning says that the mode is another one than plan.
func errNotPlanning(mode permissions.Mode) error {
	return abi.Errorf(abi.CodeChanged, "the mode is %s, not %s", mode, permissions.ModePlan)
}

// afterPlan returns the mode before plan, or if there is none or it is forbidden by now, the
// default mode.
func (v *View) afterPlan() permissions.Mode {
	if v.beforePlan != "" && slices.Contains(v.Policy.Modes(), v.beforePlan) {
		return v.beforePlan
	}
	return permissions.ModeDefault
}
