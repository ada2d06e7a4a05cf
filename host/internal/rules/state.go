package rules

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// State has the view of a session that is in force. It is safe for concurrent use.
type State struct {
	compiler *Compiler

	mu sync.Mutex // held where the view changes
	// loosest is the loosest mode that a plan may be accepted into; empty is any.
	loosest permissions.Mode
	// came is the setup of a session that is in a worktree as it was before.
	came permissions.Setup
	// now is read without the mutex only by IsCurrent.
	now atomic.Pointer[View]
	// changed is closed when the view changes, and replaced by another.
	changed chan struct{}
}

// New returns the state of a session that begins with some settings and tools, in the
// directory and mode of its compiler. It fails if the rules cannot be compiled or the mode
// is unknown or forbidden.
func New(c *Compiler, st *Settings, set tool.Set) (*State, error) {
	first, err := c.compile(View{Cwd: c.Setup.Cwd.Path, Settings: st, Tools: set, beforePlan: c.BeforePlan, tree: new(tree)})
	if err != nil {
		return nil, err
	}
	s := &State{compiler: c, changed: make(chan struct{})}
	s.now.Store(first)
	return s, nil
}

// Apply puts settings into force for sessions, for all of them at once. With an error
// everything is as it was. Two calls that share sessions must not overlap.
func Apply(st *Settings, sessions []*State) error {
	defer lock(sessions)()
	newer, errs := make([]*View, len(sessions)), make([]error, len(sessions))
	for i, s := range sessions {
		v := *s.now.Load()
		v.Settings = st
		newer[i], errs[i] = s.compiler.compile(v)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, s := range sessions {
		s.put(newer[i])
	}
	return nil
}

// lock keeps the views of sessions as they are until unlock is called, so that none is
// compiled from settings that are being replaced.
func lock(sessions []*State) (unlock func()) {
	for _, s := range sessions {
		s.mu.Lock()
	}
	return func() {
		for _, s := range sessions {
			s.mu.Unlock()
		}
	}
}

// Home returns the home directory that rules are about.
func (s *State) Home() permissions.Dir {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compiler.Setup.Home
}

// View returns the view in force. Its policy may include rules that have expired or were
// revoked since; see [State.Fresh].
func (s *State) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Load()
}

// Fresh takes rules that have expired or were revoked out of the view in force, adds new
// grants, and returns it.
func (s *State) Fresh() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, now := s.now.Load(), time.Now()
	if list := s.compiler.Grants; list != nil && list.Stale(v.Grants, now) {
		if newer, err := s.compiler.complete(*v); err != nil {
			// The mode was offered when the settings came into force.
			s.compiler.Logger.Error("a session goes by older grants", "error", err)
		} else {
			v = s.put(newer)
		}
	}
	if p := v.Policy.At(now); p != v.Policy {
		v = s.put(v.with(p))
	}
	return v
}

// IsCurrent reports whether a view is the one in force. It waits for nothing.
func (s *State) IsCurrent(v *View) bool { return s.now.Load() == v }

// Changed returns a channel that is closed with the next change of the view or call of
// [State.Recheck].
func (s *State) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Recheck has those who wait for changes look again, without any change.
func (s *State) Recheck() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(s.now.Load())
}

// SetMode changes the mode. It fails if the mode is unknown or forbidden. Entering plan
// remembers the mode before it.
func (s *State) SetMode(m permissions.Mode) error {
	return s.change(func(v *View) (*View, error) { return v.inMode(m) })
}

// LeavePlan returns to the mode that plan was entered from, or if that is forbidden by now
// or the session began in plan, to the default one. It fails if the mode is not plan.
func (s *State) LeavePlan() error {
	return s.change(func(v *View) (*View, error) {
		if mode := v.Policy.Mode(); mode != permissions.ModePlan {
			return nil, errNotPlanning(mode)
		}
		return v.inMode(v.afterPlan())
	})
}

// Allow adds allow rules that a person gave, and commands that they let leave the sandbox.
// What was also written to a settings file counts until other settings are applied, and the
// rest until the session ends.
func (s *State) Allow(rules, outside []string, written bool) error {
	return s.change(func(v *View) (*View, error) {
		g := given{rules: permissions.RuleSet{
			Source: permissions.SourceSession, Allow: permissions.RuleTexts(rules...), Outside: permissions.RuleTexts(outside...),
		}}
		if written {
			g.until = v.Settings
		}
		return s.compiler.give(v, g)
	})
}

// SetTools changes the tools whose names the rules use, and returns the view in force.
func (s *State) SetTools(set tool.Set) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.now.Load(); was.Tools != set {
		return s.put(s.compiler.withTools(was, set))
	}
	return s.now.Load()
}

// WithTools returns what the view in force would be with other tools. It changes
// nothing.
func (s *State) WithTools(set tool.Set) *View {
	return s.compiler.withTools(s.View(), set)
}

// change replaces the view by what it is turned into, unless that fails.
func (s *State) change(turn func(*View) (*View, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	newer, err := turn(s.now.Load())
	if err == nil {
		s.put(newer)
	}
	return err
}

// put puts a view into force and returns it. The mutex is held.
func (s *State) put(v *View) *View {
	before := s.now.Swap(v).Policy.Mode()
	if mode := v.Policy.Mode(); mode != before && s.compiler.Moved != nil {
		s.compiler.Moved(before, mode)
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return v
}
