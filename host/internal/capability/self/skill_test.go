package self_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// skills are one skill, named pdf, whose rules can all be granted.
type skills struct {
	text              capability.SkillText
	server            bool
	loadFails         error
	openFails         error
	opened            string
	allowed, declined []string
}

func (s *skills) Find(name string) (capability.Skill, error) {
	if name != "pdf" {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no skill %s", name)
	}
	return s, nil
}
func (s *skills) FromServer() bool { return s.server }
func (s *skills) Load(_ context.Context, args string) (capability.SkillText, error) {
	text := s.text
	text.Text += args
	return text, s.loadFails
}
func (s *skills) Grantable(proposed []string) []string { return proposed }
func (s *skills) Allow(rules []string) error           { s.allowed = rules; return nil }
func (s *skills) Decline(rules []string)               { s.declined = rules }
func (s *skills) Open(dir string) error                { s.opened = dir; return s.openFails }

// person answers a question by a function.
type person func(capability.Ask) (capability.Reply, error)

func (p person) Ask(_ context.Context, a capability.Ask) (capability.Reply, error) { return p(a) }

func TestSkill(t *testing.T) {
	t.Parallel()
	s := &skills{text: capability.SkillText{Name: "pdf", Source: "user", Dir: "/s/pdf", Path: "/s/pdf/SKILL.md", Text: "Read ", Chars: 6}}
	answer, accesses, err := do(t, capability.Scope{Skills: s}, request(abi.CapSessionSkill, `{"skill":"pdf","args":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(accesses) != 1 || accesses[0].Kind != permissions.AccessSession || accesses[0].Target != "skills" || accesses[0].ChangesBeyond() {
		t.Errorf("it uses %v", accesses)
	}
	ok, is := answer.OK.(abi.SkillOK)
	body, err := io.ReadAll(answer.Body)
	if !is || ok.Name != "pdf" || ok.Source != "user" || ok.Dir != "/s/pdf" || ok.Path != "/s/pdf/SKILL.md" || ok.Chars != 6 || ok.Proposed != nil || err != nil || string(body) != "Read a" || s.opened != "/s/pdf" {
		t.Errorf("answers %+v, %q, %v; opened %q", answer.OK, body, err, s.opened)
	}
	s.server = true
	if _, accesses, err = do(t, capability.Scope{Skills: s}, request(abi.CapSessionSkill, `{"skill":"pdf"}`)); err != nil || accesses[0].Target != permissions.SessionPrompts {
		t.Errorf("a server's uses %v, %v", accesses, err)
	}
	for name, test := range map[string]struct {
		scope capability.Scope
		args  string
		code  abi.Code
	}{
		"without skills": {capability.Scope{}, `{"skill":"pdf"}`, abi.CodeDisabled},
		"unknown":        {capability.Scope{Skills: s}, `{"skill":"x"}`, abi.CodeNotFound},
		"no arguments":   {capability.Scope{Skills: s}, `[]`, abi.CodeInvalidInput},
		"in a rehearsal": {capability.Scope{Skills: s, Rehearse: true}, `{"skill":"pdf"}`, abi.CodeUnsupported},
		"failing":        {capability.Scope{Skills: &skills{loadFails: abi.Errorf(abi.CodeIO, "gone")}}, `{"skill":"pdf"}`, abi.CodeIO},
		"not opened":     {capability.Scope{Skills: &skills{text: s.text, openFails: errors.New("full")}}, `{"skill":"pdf"}`, abi.CodeIO},
	} {
		if _, _, err := do(t, test.scope, request(abi.CapSessionSkill, test.args)); abi.CodeOf(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSkillProposals come to rules by the one answer that says so. Errors of asking are the call's,
// but where nobody can be asked.
func TestSkillProposals(t *testing.T) {
	t.Parallel()
	rules := []string{"Bash(make:*)", "Read"}
	said := func(label string) person {
		return func(a capability.Ask) (capability.Reply, error) {
			if err := a.Check(); err != nil {
				return capability.Reply{}, err
			}
			content, err := a.Accept([]byte(`{"answers":{"The skill pdf would have these calls allowed: Bash(make:*), Read. Allow them?":"` + label + `"}}`))
			return capability.Reply{Accepted: true, Content: content}, err
		}
	}
	fails := func(code abi.Code) person {
		return func(capability.Ask) (capability.Reply, error) { return capability.Reply{}, abi.Errorf(code, "no") }
	}
	for name, test := range map[string]struct {
		person            capability.Person
		tools             []string
		allowed, declined bool
		message           string
		code              abi.Code
	}{
		"allowed":          {said("Allow for this session"), rules, true, false, "", ""},
		"not":              {said("Do not allow"), rules, false, true, "", ""},
		"other words":      {said("allow for this session"), rules, false, true, "allow for this session", ""},
		"nobody":           {nil, rules, false, false, "", ""},
		"nobody to choose": {fails(abi.CodeUnsupported), rules, false, false, "", ""},
		"kept for later":   {fails(abi.CodeNeedsApproval), rules, false, false, "", abi.CodeNeedsApproval},
		"interrupted":      {fails(abi.CodeInterrupted), rules, false, false, "", abi.CodeInterrupted},
		"no proposals":     {fails(abi.CodeInternal), nil, false, false, "", ""},
		"too long":         {fails(abi.CodeInternal), []string{strings.Repeat("a", 2000)}, false, false, "", ""},
	} {
		s := &skills{text: capability.SkillText{Name: "pdf", Tools: test.tools}}
		answer, _, err := do(t, capability.Scope{Skills: s, Person: test.person}, request(abi.CapSessionSkill, `{"skill":"pdf"}`))
		if err != nil || test.code != "" {
			if abi.CodeOf(err) != test.code || s.allowed != nil {
				t.Errorf("%s: %v, allowed %q", name, err, s.allowed)
			}
			continue
		}
		ok, _ := answer.OK.(abi.SkillOK)
		if slices.Equal(ok.Allowed, rules) != test.allowed || slices.Equal(s.allowed, rules) != test.allowed || (s.declined != nil) != test.declined || ok.Message != test.message || !slices.Equal(ok.Proposed, test.tools) {
			t.Errorf("%s: answers %+v; allowed %q, declined %q", name, ok, s.allowed, s.declined)
		}
	}
}
