package rules

import (
	"cmp"
	"errors"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// PlanMode is the mode plan of a session, as its calls enter and leave it.
type PlanMode struct{ *State }

// Mode is the mode in force.
func (s PlanMode) Mode() permissions.Mode { return s.View().Policy.Mode() }

// Enter changes to the mode plan, and reports whether it was in force before.
func (s PlanMode) Enter() (already bool, err error) {
	err = s.change(func(v *View) (*View, error) {
		if already = v.Policy.Mode() == permissions.ModePlan; already {
			return v, nil
		}
		return v.inMode(permissions.ModePlan)
	})
	if err != nil {
		return false, abi.Errorf(abi.CodeDenied, "%w", err)
	}
	return already, nil
}

// Into are the modes that a plan may be accepted into: that before plan first, and acceptEdits.
func (s PlanMode) Into() []permissions.Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.into(s.now.Load())
}

// into leaves out the modes that are forbidden or looser than the limit. The mutex is held.
func (s PlanMode) into(v *View) (modes []permissions.Mode) {
	for _, m := range []permissions.Mode{v.afterPlan(), permissions.ModeAcceptEdits} {
		limited, _ := m.Stricter(cmp.Or(s.loosest, m))
		if limited == m && !slices.Contains(modes, m) && slices.Contains(v.Policy.Modes(), m) {
			modes = append(modes, m)
		}
	}
	return modes
}

// LimitPlans has plans be accepted into no looser mode than this one.
func (s *State) LimitPlans(loosest permissions.Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loosest = loosest
}

// Leave changes from the mode plan into one of [PlanMode.Into], and adds the rules that the
// person gave, all of it or nothing.
func (s PlanMode) Leave(into permissions.Mode, rules []string) error {
	return s.change(func(v *View) (*View, error) {
		if mode := v.Policy.Mode(); mode != permissions.ModePlan {
			return nil, errNotPlanning(mode)
		}
		if modes := s.into(v); !slices.Contains(modes, into) {
			return nil, abi.Errorf(abi.CodeDenied, "the mode %s cannot be left for %s, but for %v", permissions.ModePlan, into, modes)
		}
		newer, err := s.compiler.give(v, given{rules: permissions.RuleSet{Source: permissions.SourceSession, Allow: permissions.RuleTexts(rules...)}})
		if err != nil {
			return nil, abi.Errorf(abi.CodeInvalidInput, "the rules of the answer: %w", err)
		}
		return newer.inMode(into)
	})
}

// PlacePlan sets the one file that may be written in the mode plan, for a session that began
// without.
func (s *State) PlacePlan(path string) error {
	file := File(path)
	if file.Path == "" {
		return errors.New("there is no plan file")
	}
	return s.change(func(v *View) (*View, error) {
		s.compiler.Setup.PlanFile = file
		newer := v.with(v.Policy.WithPlanFile(file))
		newer.bare = v.bare.WithPlanFile(file)
		return newer, nil
	})
}

// PlanFile is the one file that may be written in the mode plan; empty is none.
func (s *State) PlanFile() permissions.Dir {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compiler.Setup.PlanFile
}
