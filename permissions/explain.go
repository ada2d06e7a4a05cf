package permissions

import (
	"cmp"
	"slices"
	"strings"
)

// Explanation is how a decision came about.
type Explanation struct {
	Decision Decision
	// Chain is every step, the strongest first. A step may have no findings.
	Chain []Step
	// Asks are the findings that ask a person, one for each access or part of a command that
	// does, the strongest first.
	Asks []Finding
	// Remedy is the smallest set of allow rules that would let the request
	// pass; none where it passes, or no rules would.
	Remedy []string
	// Leave is what would let a request pass that asks to leave the sandbox; nil where
	// nothing would.
	Leave *Leave
}

// Step is one layer of the chain.
type Step struct {
	// Name is "deny", "must ask", "allow", "mode", "judge" or "person".
	Name     string
	Findings []Finding
}

// Explain judges as [Decide] does and lists all findings, also those that a stronger one
// overrides.
func Explain(p *Policy, r Request, e Evidence) Explanation {
	var found []Finding
	x := Explanation{Decision: decide(p, r, e, &found), Chain: make([]Step, len(stepNames))}
	for i, name := range stepNames {
		x.Chain[i].Name = name
	}
	for _, f := range found {
		s := &x.Chain[f.step()]
		if !slices.ContainsFunc(s.Findings, f.same) {
			s.Findings = append(s.Findings, f)
		}
	}
	for _, f := range x.Decision.asks {
		if !slices.ContainsFunc(x.Asks, f.same) {
			x.Asks = append(x.Asks, f)
		}
	}
	slices.SortStableFunc(x.Asks, func(f, g Finding) int { return cmp.Compare(f.step(), g.step()) })
	x.Remedy = remedy(p, r, e, &x.Decision)
	if x.Decision.held {
		x.Leave = leaveOf(p, r, e)
	}
	return x
}

// maxRemedy bounds the rules of a remedy; nobody reads more.
const maxRemedy = 16

// remedy adds the rules that decisions suggest until the request passes.
func remedy(p *Policy, r Request, e Evidence, d *Decision) []string {
	var rules []string
	for d.Verdict != Allow {
		more := d.Suggestions()
		if len(more) == 0 || len(rules)+len(more) > maxRemedy {
			return nil
		}
		rules = append(rules, more...)
		q, _, err := p.WithRules(RuleSet{Source: SourceSession, Allow: RuleTexts(rules...)})
		if err != nil {
			return nil
		}
		next := Decide(q, r, e)
		d = &next
	}
	return needed(p, r, e, rules)
}

// EveryEdit returns the allow rules for every edit inside the working directories, where
// they would let the request pass, and nothing less does: it asks about such edits and
// nothing else. What asks in spite of rules, as protected paths do, goes on asking.
func EveryEdit(p *Policy, r Request, e Evidence) []string {
	if d := Decide(p, r, e); d.Verdict != Ask {
		return nil
	}
	rules := make([]string, len(p.working))
	for i, dir := range p.working {
		rules[i] = strings.TrimSuffix(suggestPath(toolEdit, dir), ")") + "/**)"
	}
	q, warnings, err := p.WithRules(RuleSet{Source: SourceSession, Allow: RuleTexts(rules...)})
	if err != nil || len(warnings) > 0 {
		return nil
	}
	if d := Decide(q, r, e); d.Verdict != Allow {
		return nil
	}
	return rules
}

// needed leaves out the rules that are not needed beside the others.
func needed(p *Policy, r Request, e Evidence, rules []string) []string {
	for i := 0; i < len(rules) && len(rules) > 1; {
		fewer := slices.Delete(slices.Clone(rules), i, i+1)
		if q, _, err := p.WithRules(RuleSet{Source: SourceSession, Allow: RuleTexts(fewer...)}); err == nil {
			if d := Decide(q, r, e); d.Verdict == Allow {
				rules = fewer
				continue
			}
		}
		i++
	}
	return rules
}
