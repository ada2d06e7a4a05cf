package permissions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// Policy is everything one decision depends on besides the request: rules,
// mode, directories. It is immutable and safe for concurrent use; the With
// methods return changed copies.
type Policy struct {
	modes
	folders
	reading
	book
	// rules are all rules, sorted, so that the order they came in changes nothing, not
	// even which of two equal rules a decision names.
	rules  []*Rule
	guards protected.Paths
}

// modes are the mode of a policy and those it may not change to.
type modes struct {
	mode      Mode
	forbidden []Mode
	unasked   Unasked
	contained Contained
	// silent says that what would ask is denied, in any mode.
	silent bool
}

// Compile builds a policy. Malformed allow rules grant nothing and are warned
// about; a malformed deny or ask rule is an error, as leaving it out would
// loosen what its writer meant. All errors are reported at once.
func Compile(s Setup) (*Policy, []Warning, error) {
	if err := checkDirs(&s); err != nil {
		return nil, nil, err
	}
	p := &Policy{
		modes:   modes{mode: s.Mode, forbidden: slices.Clone(s.Forbidden), unasked: s.Unasked, contained: s.Contained},
		folders: newFolders(&s), reading: newReading(&s), guards: newGuards(&s),
	}
	warnings, err := p.take(s.Rules)
	if err != nil {
		return nil, warnings, err
	}
	return p, append(warnings, p.SetAside()...), nil
}

// take adds rule sets to a policy that is being built, and binds all rules.
func (p *Policy) take(sets []RuleSet) ([]Warning, error) {
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, func(a, b RuleSet) int { return int(a.Source) - int(b.Source) })
	l := loader{reading: &p.reading, folders: &p.folders, rules: p.rules}
	for i := range sets {
		l.load(&sets[i])
	}
	for i := range sets {
		if sets[i].Mode != "" {
			p.mode = sets[i].Mode
			break
		}
	}
	if err := p.checkMode(); err != nil {
		l.errs = append(l.errs, err)
	}
	if err := errors.Join(l.errs...); err != nil {
		return l.warnings, err
	}
	p.rules = l.rules
	slices.SortStableFunc(p.rules, compareRules)
	p.book = newBook(p.rules, &p.places)
	return l.warnings, nil
}

// checkMode sets the default and refuses unknown values and forbidden modes.
func (p *modes) checkMode() error {
	if p.mode == "" {
		p.mode = ModeDefault
	}
	if _, err := ParseMode(string(p.mode)); err != nil {
		return err
	}
	if !slices.Contains([]Unasked{"", UnaskedEdits, UnaskedAlways, UnaskedNever}, p.unasked) {
		return fmt.Errorf("unknown value %q for when confined commands run unasked; there are %s, %s and %s", p.unasked, UnaskedEdits, UnaskedAlways, UnaskedNever)
	}
	if err := p.checkContained(); err != nil {
		return err
	}
	if slices.Contains(p.forbidden, p.mode) {
		return fmt.Errorf("the mode %s is forbidden by policy", p.mode)
	}
	return nil
}

// Modes are the modes that policy does not forbid.
func (p *modes) Modes() []Mode {
	return slices.DeleteFunc(slices.Clone(allModes), func(m Mode) bool { return slices.Contains(p.forbidden, m) })
}

// WithMode returns the policy in another mode, or an error where that is
// unknown or forbidden. It asks as that mode does, also where p was silent.
func (p *Policy) WithMode(m Mode) (*Policy, error) {
	q := *p
	q.mode, q.silent = m, false
	if err := q.checkMode(); err != nil {
		return nil, err
	}
	return &q, nil
}

// Silent returns the policy in the same mode, where what would ask is denied, as in
// [ModeDontAsk]: such as in [ModePlan], if that was entered from there.
func (p *Policy) Silent() *Policy {
	q := *p
	q.silent = true
	return &q
}

// NeverAsks reports whether what would ask is denied: in ModeDontAsk, and where the policy is
// silent.
func (p *modes) NeverAsks() bool { return p.silent || p.mode == ModeDontAsk }

// WithCwd returns the policy for a session that has moved. Deny and ask rules
// with relative patterns bind there as well as where the session began; allow
// rules stay where it began, and the working directories are what they were.
func (p *Policy) WithCwd(cwd Dir) *Policy {
	q := *p
	q.places.cwd = cwd
	q.book = newBook(q.rules, &q.places)
	q.critical = criticalPaths(&q.places)
	return &q
}

// WithPlanFile returns the policy with another file that may be written in
// ModePlan.
func (p *Policy) WithPlanFile(file Dir) *Policy {
	q := *p
	q.planFile = slashed(file)
	return &q
}

// At returns the policy as it is at a later time: without the rules that have
// expired. It is the same policy where none has.
func (p *Policy) At(now time.Time) *Policy {
	if !slices.ContainsFunc(p.rules, func(r *Rule) bool { return r.expired(now) }) {
		return p
	}
	q := *p
	q.now = now
	q.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r *Rule) bool { return r.expired(now) })
	q.book = newBook(q.rules, &q.places)
	return &q
}

// WithRules returns the policy with one more rule set, such as what a person
// allowed for the session.
func (p *Policy) WithRules(set RuleSet) (*Policy, []Warning, error) {
	q := *p
	q.rules = slices.Clone(p.rules)
	q.working, q.workingReal = slices.Clone(p.working), slices.Clone(p.workingReal)
	warnings, err := q.take([]RuleSet{set})
	if err != nil {
		return nil, warnings, err
	}
	return &q, warnings, nil
}

// SetAside returns the allow rules that grant nothing in ModeAuto: those that come to allowing any
// command, so that a judge sees the commands that they would allow.
func (p *Policy) SetAside() []Warning {
	if p.mode != ModeAuto {
		return nil
	}
	var out []Warning
	for _, r := range p.rules {
		if r.overBroad() {
			out = append(out, Warning{Source: r.Source, Rule: r.text, Message: "it is set aside in the mode auto: it would allow any command"})
		}
	}
	return out
}

// Mode is the policy's mode.
func (p *modes) Mode() Mode { return p.mode }

// Rules returns the rules that count, by source, file and line.
func (p *Policy) Rules() []*Rule { return slices.Clone(p.rules) }
