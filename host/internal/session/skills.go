package session

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// skillsBudget bounds what the description of the tool that loads skills says of them, in characters.
const skillsBudget = 7500

// The tool that loads skills, whose rules name them, and its alias.
const (
	skillTool  = "Skill"
	skillAlias = "SlashCommand"
)

// loadsSkills reports whether a tool is the built-in one that loads skills.
func loadsSkills(t tool.Tool) bool { return tool.BuiltInFor(t, abi.CapSessionSkill) }

// mayLoad returns a function that reports whether no rule keeps a skill from the model, whichever
// tool loads it.
func mayLoad(p *permissions.Policy) func(*skills.Skill) bool {
	return func(s *skills.Skill) bool {
		if s.Server != "" && !p.OfferedFrom(permissions.Origin{Server: s.Server, Tool: s.Prompt}, s.Name) {
			return false
		}
		for _, name := range []string{s.Name, s.Qualified()} {
			if !p.OfferedWith(skillTool, skillInput(name), skillAlias) {
				return false
			}
		}
		return true
	}
}

// skillInput is the input of a call that loads a skill.
func skillInput(name string) json.RawMessage {
	input, _ := json.Marshal(abi.SkillArgs{Skill: name}) // texts: it cannot fail
	return input
}

// refusesSkills says why the tool that loads skills is not offered, or returns nil.
func (s *Tools) refusesSkills(set *skills.Set, p *permissions.Policy, t tool.Tool) error {
	if !loadsSkills(t) || len(set.Listed(mayLoad(p))) > 0 {
		return nil
	}
	return abi.Errorf(abi.CodeDisabled, "there is no skill here that a model may load; toolquay skills says where they are looked for")
}

// asOffered is a tool as the session's model has it.
func (s *Tools) asOffered(set *skills.Set, p *permissions.Policy, t tool.Tool) tool.Tool {
	if !loadsSkills(t) {
		return s.shaped(t)
	}
	const begins = "\n\nSkills:\n"
	offered := set.Listed(mayLoad(p))
	list := func(room int) string {
		text, budget := "", min(skillsBudget, room-len(begins))
		for over := 1; over > 0 && budget > 0; budget -= over { // characters may have several bytes
			text = skills.Describe(offered, budget)
			over = len(text) + len(begins) - room
		}
		return begins + text
	}
	return tool.NewDescribed(t, list, tool.Calls{
		Rewrite: func(input json.RawMessage) (json.RawMessage, error) { return canonicalSkill(set, p, input) },
		Server:  func(input json.RawMessage) tool.Server { return serverOfSkill(set, input) },
	})
}

// serverOfSkill is the MCP server that a call of the tool asks for a prompt.
func serverOfSkill(set *skills.Set, input json.RawMessage) tool.Server {
	var args abi.SkillArgs
	_ = json.Unmarshal(input, &args) // what names no skill is of none
	skill := set.Called(args.Skill)
	if skill == nil {
		return tool.Server{}
	}
	return tool.Server{Name: skill.Server, Tool: skill.Prompt}
}

// canonicalSkill has a call of the tool name its skill as that is listed, so that rules and hooks see
// one name: what follows the name, as in "/pdf report.pdf", becomes arguments. The source is named
// where an ask rule binds the skill by that alone.
func canonicalSkill(set *skills.Set, p *permissions.Policy, input json.RawMessage) (json.RawMessage, error) {
	var args abi.SkillArgs
	if err := json.Unmarshal(input, &args); err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the input: %w", err)
	}
	name, more := skills.Split(args.Skill)
	if name == "" {
		return nil, abi.Errorf(abi.CodeInvalidInput, "skill is empty: name one of the skills that are listed")
	}
	if more != "" && args.Args != "" {
		return nil, abi.Errorf(abi.CodeInvalidInput, "arguments are in skill as well as in args; give them in args alone")
	}
	if skill := set.Called(name); skill != nil {
		if name = skill.Name; !p.AsksWith(skillTool, skillInput(name), skillAlias) && p.AsksWith(skillTool, skillInput(skill.Qualified()), skillAlias) {
			name = skill.Qualified()
		}
	}
	if name == args.Skill {
		return input, nil
	}
	args.Skill, args.Args = name, args.Args+more
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return abi.Canonical(text)
}

func isShaped(t tool.Tool) bool {
	switch t.(type) {
	case *tool.Shaped, *tool.Described:
		return true
	}
	return false
}

// sessionSkills are the skills of a session as a turn finds them.
type sessionSkills struct{ *catalog }

// Skills implements [pipeline.Catalog].
func (c *catalog) Skills() capability.Skills {
	if c.set.Skills == nil {
		return nil
	}
	return sessionSkills{c}
}

func (s sessionSkills) policy() *permissions.Policy { return s.session.Rules.View().Policy }

// Find implements [capability.Skills].
func (s sessionSkills) Find(name string) (capability.Skill, error) {
	skill, err := s.set.Skills.Find(name, mayLoad(s.policy()))
	if err != nil {
		return nil, err
	}
	return loadable{skill}, nil
}

// Grantable implements [capability.Skills].
func (s sessionSkills) Grantable(proposed []string) []string {
	policy := s.policy()
	if s.session.Host.OnceOnly || s.session.Rules.View().Settings.OnlyPolicyRules || policy.NeverAsks() || policy.Mode() == permissions.ModeBypass {
		return nil
	}
	var out []string
	for _, text := range proposed {
		_, warning, err := permissions.ParseRule(permissions.Allow, text, permissions.Source{Kind: permissions.SourceSession}, nil)
		if _, declined := s.session.Tools.declined.Load(text); declined {
			continue
		}
		if err == nil && warning == "" && !s.allows(text) {
			out = append(out, text)
		}
	}
	return out
}

// allows reports whether an allow rule with a text is in force.
func (s sessionSkills) allows(text string) bool {
	return slices.ContainsFunc(s.policy().Rules(), func(r *permissions.Rule) bool {
		return r.Verdict == permissions.Allow && r.String() == text
	})
}

// Allow implements [capability.Skills].
func (s sessionSkills) Allow(rules []string) error { return s.session.Rules.Allow(rules, nil, false) }

// Decline implements [capability.Skills].
func (s sessionSkills) Decline(rules []string) {
	for _, rule := range rules {
		s.session.Tools.declined.Store(rule, nil)
	}
}

// Open implements [capability.Skills].
func (s sessionSkills) Open(dir string) error {
	rule := permissions.ReadBelow(dir)
	if s.allows(rule) || s.session.Rules.View().Settings.OnlyPolicyRules {
		return nil
	}
	return s.Allow([]string{rule})
}

// loadable is a skill as a capability loads it.
type loadable struct{ *skills.Skill }

// FromServer implements [capability.Skill].
func (l loadable) FromServer() bool { return l.Server != "" }

// Load implements [capability.Skill].
func (l loadable) Load(ctx context.Context, args string) (capability.SkillText, error) {
	text, err := l.Skill.Load(ctx, args)
	if err != nil {
		return capability.SkillText{}, err
	}
	now := text.Skill
	return capability.SkillText{
		Name: l.Name, Source: now.Label, Dir: now.Dir, Path: now.Path, Tools: now.Tools, Text: text.Text, Chars: text.Chars,
	}, nil
}
