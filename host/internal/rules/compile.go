package rules

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/grants"
)

// Compiler makes the policies of one session. It must not be changed once a [State] has
// it.
type Compiler struct {
	// Setup has the places that the policies are about; see [Places.Setup].
	Setup permissions.Setup
	// Session is the session's ID, which grants may be bound to.
	Session string
	// Mode is the mode that the session begins in; empty is that of its settings.
	Mode permissions.Mode
	// BeforePlan is the mode that a session which begins in plan was in before; empty is none.
	BeforePlan permissions.Mode
	// Grants are what people allowed beyond single calls; nil is none.
	Grants *grants.List
	// Moved is told of each change of the mode, under the lock of the session's rules; nil tells
	// nobody.
	Moved func(before, now permissions.Mode)
	// Shaped is a tool's contract as the session has it; nil has all as they are.
	Shaped func(tool.Tool) *abi.Tool
	// Logger gets warnings about rules. It must not be nil.
	Logger *slog.Logger
}

// compile returns a view with the policy of its settings, for its tools. The rules that
// the person gave and the grants are added; mode and directory stay.
func (c *Compiler) compile(v View) (*View, error) {
	setup, st := c.Setup, v.Settings
	setup.Rules, setup.OnlyPolicyRules, setup.Forbidden = st.Rules, st.OnlyPolicyRules, st.ForbiddenModes
	setup.Aliases = aliases(v.Tools)
	setup.Tools = permissions.ToolsOf(st.Rules, func(name string) (*abi.Tool, bool) { return c.find(v.Tools, name) })
	setup.Now = time.Now()
	policy, warnings, err := permissions.Compile(setup)
	c.warn(warnings)
	if err != nil {
		return nil, err
	}
	v.bare = policy
	return c.complete(v)
}

// withTools returns a view with other tools. Rules that use another name of a tool
// follow it. If the rules cannot be compiled, the policy stays.
func (c *Compiler) withTools(v *View, set tool.Set) *View {
	if v.Tools == set {
		return v
	}
	newer := *v
	newer.Tools = set
	compiled, err := c.compile(newer)
	if err != nil {
		// The same rules were understood when the session started.
		c.Logger.Error("a session goes by the rules for older tools", "error", err)
		return &newer
	}
	return compiled
}

// complete returns a view with the policy of its settings as compile made it, and what was
// allowed beyond them as it is now. Allow rules that cannot be added are left out.
func (c *Compiler) complete(v View) (*View, error) {
	granted := c.granted()
	sets := []permissions.RuleSet{granted.Rules}
	for i := range v.given {
		if g := &v.given[i]; g.counts(v.Settings) {
			sets = append(sets, g.rules)
		}
	}
	policy := v.bare
	for _, set := range sets {
		if more, err := c.add(policy, set); err != nil {
			c.Logger.Warn("what was allowed for a session does not count", "error", err)
		} else {
			policy = more
		}
	}
	policy, err := c.like(v.Policy, policy)
	if err != nil {
		return nil, err
	}
	v.Policy, v.Grants = policy, granted
	return &v, nil
}

// granted returns the grants that count for the session now.
func (c *Compiler) granted() grants.View {
	if c.Grants == nil {
		return grants.View{}
	}
	granted := c.Grants.View(c.Session, c.Setup.ProjectRoot, time.Now())
	if granted.Err != nil {
		c.Logger.Warn("the grants do not count", "error", granted.Err)
	}
	return granted
}

// add returns a policy with further allow rules.
func (c *Compiler) add(p *permissions.Policy, set permissions.RuleSet) (*permissions.Policy, error) {
	if len(set.Allow)+len(set.Outside) == 0 {
		return p, nil
	}
	p, warnings, err := p.WithRules(set)
	c.warn(warnings)
	return p, err
}

// give returns a view with rules that a person gave.
func (c *Compiler) give(v *View, g given) (*View, error) {
	policy, err := c.add(v.Policy, g.rules)
	if err != nil {
		return nil, err
	}
	newer := v.with(policy)
	newer.given = append(slices.Clip(v.given), g)
	return newer, nil
}

// like returns a policy in the mode and directory of the one that it replaces. If that is
// nil, it is the first, and gets the mode that the session begins in. A mode that is
// forbidden by now is left for the default one, and plan for dontAsk if it was entered from there.
func (c *Compiler) like(was, p *permissions.Policy) (*permissions.Policy, error) {
	if was == nil {
		first, err := p.WithMode(cmp.Or(c.Mode, p.Mode()))
		if err == nil && first.Mode() == permissions.ModePlan && c.BeforePlan == permissions.ModeDontAsk {
			first = first.Silent()
		}
		return first, err
	}
	silent := was.NeverAsks() && was.Mode() == permissions.ModePlan // entered from dontAsk
	q, err := p.WithMode(was.Mode())
	if err != nil {
		c.Logger.Warn("the session's mode is not offered any more", "mode", was.Mode(), "error", err)
		if silent {
			q, err = p.WithMode(permissions.ModeDontAsk)
		}
	}
	if err != nil {
		if q, err = p.WithMode(permissions.ModeDefault); err != nil {
			return nil, err
		}
	}
	if silent && q.Mode() == permissions.ModePlan {
		q = q.Silent()
	}
	return q.WithCwd(was.Cwd()), nil
}

// find returns the contract of a tool by its name or an alias.
func (c *Compiler) find(set tool.Set, name string) (*abi.Tool, bool) {
	t, ok := set.Find(name)
	switch {
	case !ok:
		return nil, false
	case c.Shaped != nil:
		return c.Shaped(t), true
	}
	return t.Contract(), true
}

// aliases maps the other names of tools to the ones that rules are about.
func aliases(set tool.Set) map[string]string {
	aliases := maps.Clone(set.Aliases())
	for _, t := range set.Natives.All() {
		for _, alias := range t.Contract().Aliases {
			aliases[alias] = t.Contract().Name
		}
	}
	return aliases
}

func (c *Compiler) warn(warnings []permissions.Warning) {
	for _, w := range warnings {
		c.Logger.Warn("a permission rule may not mean what was meant", "rule", w.String())
	}
}
