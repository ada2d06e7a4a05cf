package capability

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// PlanQuestion asks a person to accept a plan, so that the session leaves the mode plan.
type PlanQuestion struct {
	// Plan is in Markdown, and Path the file that it lies in; empty where it lies in none.
	Plan string `json:"plan"`
	Path string `json:"path,omitempty"`
	// Proposals are what the model would like to be allowed meanwhile, in its own words. They
	// are shown, and nothing follows from them: rules come from the answer alone.
	Proposals []abi.PlanProposal `json:"proposals,omitempty"`
	// Modes are those that the plan may be accepted into, the usual one first.
	Modes []permissions.Mode `json:"modes"`
	// NoRules says that the answer can give no rules: nothing is remembered here.
	NoRules bool `json:"no_rules,omitempty"`
}

// Accepted is the content of an answer that accepts a [PlanQuestion]. All of it is optional.
type Accepted struct {
	// Plan takes the plan's place, where the person edited it.
	Plan *string `json:"plan,omitempty"`
	// Mode is one of the question's Modes; empty is the first.
	Mode permissions.Mode `json:"mode,omitempty"`
	// Rules are allowed for the session from now on, such as "Bash(go test:*)".
	Rules []string `json:"rules,omitempty"`
}

// The bounds of plans, in bytes, and of what is asked and answered beside them.
const (
	MaxPlan       = 1 << 20
	maxProposals  = 50
	maxProposal   = 1000
	maxModes      = 8
	maxRules      = 50
	maxRuleLength = 4 << 10
)

func (p *PlanQuestion) kind() QuestionKind { return QuestionPlan }

func (p *PlanQuestion) clone() *PlanQuestion {
	c := *p
	c.Proposals, c.Modes = slices.Clone(p.Proposals), slices.Clone(p.Modes)
	return &c
}

func (p *PlanQuestion) check() error {
	if err := checkPlan(p.Plan); err != nil {
		return err
	}
	if n := len(p.Proposals); n > maxProposals {
		return abi.Errorf(abi.CodeInvalidInput, "%d proposals were made; at most %d", n, maxProposals)
	}
	for i, proposal := range p.Proposals {
		if proposal.Tool == "" || proposal.Prompt == "" || len(proposal.Tool)+len(proposal.Prompt) > maxProposal {
			return abi.Errorf(abi.CodeInvalidInput, "proposal %d must have a tool and a prompt, of %d bytes together at most", i+1, maxProposal)
		}
	}
	if n := len(p.Modes); n < 1 || n > maxModes {
		return abi.Errorf(abi.CodeInvalidInput, "a plan is accepted into 1 to %d modes, and %d were named", maxModes, n)
	}
	return nil
}

func checkPlan(plan string) error {
	switch {
	case strings.TrimSpace(plan) == "":
		return abi.Errorf(abi.CodeInvalidInput, "the plan is empty")
	case len(plan) > MaxPlan:
		return abi.Errorf(abi.CodeInvalidInput, "the plan has %d bytes; at most %d", len(plan), MaxPlan)
	}
	return nil
}

// accept reads an [Accepted].
func (p *PlanQuestion) accept(content json.RawMessage) (json.RawMessage, error) {
	said, err := p.Accepted(content)
	if err != nil {
		return nil, err
	}
	return json.Marshal(said)
}

// Accepted reads the content of an answer. Its mode is set, and its plan only where that is
// another one.
func (p *PlanQuestion) Accepted(content json.RawMessage) (*Accepted, error) {
	var said Accepted
	if len(content) > 0 {
		d := json.NewDecoder(bytes.NewReader(content))
		d.DisallowUnknownFields()
		if err := d.Decode(&said); err != nil {
			return nil, abi.Errorf(abi.CodeInvalidInput, `the answer must be {"plan": TEXT, "mode": MODE, "rules": [RULES]}, each optional: %w`, err)
		}
	}
	if said.Plan != nil {
		if err := checkPlan(*said.Plan); err != nil {
			return nil, err
		}
		if *said.Plan == p.Plan {
			said.Plan = nil
		}
	}
	if said.Mode == "" && len(p.Modes) > 0 {
		said.Mode = p.Modes[0]
	}
	if !slices.Contains(p.Modes, said.Mode) {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the plan cannot be accepted into the mode %.40q; it can into %v", said.Mode, p.Modes)
	}
	if p.NoRules && len(said.Rules) > 0 {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the answer can give no rules: nothing is remembered here")
	}
	return &said, checkRules(said.Rules)
}

func checkRules(rules []string) error {
	if n := len(rules); n > maxRules {
		return abi.Errorf(abi.CodeInvalidInput, "%d rules were given; at most %d", n, maxRules)
	}
	for i, rule := range rules {
		if len(rule) > maxRuleLength {
			return abi.Errorf(abi.CodeInvalidInput, "rule %d has %d bytes; at most %d", i+1, len(rule), maxRuleLength)
		}
		if _, _, err := permissions.ParseRule(permissions.Allow, rule, permissions.Source{Kind: permissions.SourceSession}, nil); err != nil {
			return abi.Errorf(abi.CodeInvalidInput, "rule %d: %w", i+1, err)
		}
	}
	return nil
}
