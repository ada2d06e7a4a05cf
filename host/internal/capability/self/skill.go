package self

import (
	"context"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// skillPlan is one session.skill.
type skillPlan struct {
	capability.OfSession
	scope *capability.Scope
	skill capability.Skill
	args  string
}

func planSkill(scope *capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.SkillArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if scope.Skills == nil {
		return nil, abi.Errorf(abi.CodeDisabled, "there are no skills here")
	}
	if err := noRehearsal(scope, req); err != nil {
		return nil, err
	}
	skill, err := scope.Skills.Find(args.Skill)
	if err != nil {
		return nil, err
	}
	p := &skillPlan{targetSkills, scope, skill, args.Args}
	if skill.FromServer() {
		p.OfSession = permissions.SessionPrompts
	}
	return p, nil
}

// Do loads the skill, opens its folder for reading, and shows the person what it would have
// allowed.
func (p *skillPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	text, err := p.skill.Load(ctx, p.args)
	if err != nil {
		return abi.Answer{}, err
	}
	ok := abi.SkillOK{
		Name: text.Name, Source: text.Source, Dir: text.Dir, Path: text.Path, Chars: text.Chars, Proposed: text.Tools,
	}
	if text.Dir != "" {
		if err := p.scope.Skills.Open(text.Dir); err != nil {
			return abi.Answer{}, abi.Errorf(abi.CodeIO, "the folder of the skill could not be opened for reading: %w", err)
		}
	}
	if err := p.propose(ctx, &ok); err != nil {
		return abi.Answer{}, err
	}
	return abi.Answer{OK: ok, Body: abi.Bytes([]byte(text.Text)), BodyType: abi.PartText, Size: int64(len(text.Text))}, nil
}

// The answers to the question about proposals.
const (
	labelAllow = "Allow for this session"
	labelNot   = "Do not allow"
)

// propose shows the person which rules the skill would have, and adds them to the session if they say
// so. Where nobody can be asked the skill is loaded without.
func (p *skillPlan) propose(ctx context.Context, ok *abi.SkillOK) error {
	rules := p.scope.Skills.Grantable(ok.Proposed)
	if len(rules) == 0 || p.scope.Person == nil {
		return nil
	}
	ask := capability.Ask{Choice: &capability.Choice{Questions: []abi.ChoiceQuestion{{
		Question: "The skill " + ok.Name + " would have these calls allowed: " + strings.Join(rules, ", ") + ". Allow them?",
		Header:   "Skill",
		Options: []abi.ChoiceOption{
			{Label: labelAllow, Description: "As allow rules, until the session ends"},
			{Label: labelNot, Description: "The skill is loaded all the same"},
		},
	}}}}
	if ask.Check() != nil {
		return nil //nolint:nilerr // they are too long for anybody to read
	}
	reply, err := p.scope.Person.Ask(ctx, ask)
	switch {
	case abi.CodeOf(err) == abi.CodeUnsupported:
		return nil
	case err != nil:
		return err
	case !reply.Accepted:
		ok.Message = reply.Message
		p.scope.Skills.Decline(rules)
		return nil
	}
	chosen, err := ask.Choice.Chosen(reply.Content)
	if err != nil {
		return err
	}
	switch said := chosen.Answers[ask.Choice.Questions[0].Question][0]; said {
	case labelAllow:
		if ctx.Err() != nil { // whoever interrupts takes the answer back
			return abi.Errorf(abi.CodeCancelled, "the call was ended, and nothing is allowed: %w", context.Cause(ctx))
		}
		ok.Allowed = rules
		return p.scope.Skills.Allow(rules)
	case labelNot:
	default:
		ok.Message = said
	}
	p.scope.Skills.Decline(rules)
	return nil
}
