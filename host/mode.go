package host

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/grants"
)

// ID names the session.
func (s *Session) ID() string { return s.id }

// Policy is what the session's calls are judged by now.
func (s *Session) Policy() *permissions.Policy { return s.fresh().Policy }

// Mode is the session's permission mode now.
func (s *Session) Mode() permissions.Mode { return s.view().Policy.Mode() }

// SetMode changes the mode, for all that is not decided yet. It fails where the
// mode is unknown or forbidden. Entering plan remembers the mode before it.
func (s *Session) SetMode(m permissions.Mode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.setMode(m)
}

func (s *Session) setMode(m permissions.Mode) error {
	was := s.current.Policy.Mode()
	policy, err := s.current.Policy.WithMode(m)
	if err != nil {
		return err
	}
	if m == permissions.ModePlan && was != permissions.ModePlan {
		s.before = was
	}
	s.change(policy)
	return nil
}

// LeavePlan goes back to the mode that plan was entered from; where that is
// forbidden by now, or the session began in plan, to the default one. It fails
// where the mode is another.
func (s *Session) LeavePlan() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mode := s.current.Policy.Mode(); mode != permissions.ModePlan {
		return fmt.Errorf("the mode is %s, not %s", mode, permissions.ModePlan)
	}
	if s.before != "" && s.setMode(s.before) == nil {
		return nil
	}
	return s.setMode(permissions.ModeDefault)
}

// set puts a view in place. The caller holds the mutex.
func (s *Session) set(v *view) {
	s.current = v
	s.newest.Store(v)
	close(s.changed)
	s.changed = make(chan struct{})
}

// change puts another policy in place. The caller holds the mutex.
func (s *Session) change(p *permissions.Policy) {
	newer := *s.current
	newer.Policy = p
	s.set(&newer)
}

// compile gives a view the policy of settings: their rules, what the person
// allowed, grants; in the mode and directory that the view was in. With an error
// the view is as it was. The caller holds the mutex.
func (s *Session) compile(v *view, st *Settings) error {
	newer := *v
	var err error
	if newer.bare, err = s.host.policy(s.base, v.plugins, st); err != nil {
		return err
	}
	newer.hooks = st.Hooks
	if err := s.complete(&newer, st); err != nil {
		return err
	}
	*v = newer
	return nil
}

// complete makes a view's policy out of the bare one of its settings. Allow rules
// that cannot be added are done without. The caller holds the mutex.
func (s *Session) complete(v *view, st *Settings) error {
	policy, granted := v.bare, s.grants()
	sets := []permissions.RuleSet{granted.Rules}
	for i := range s.given {
		if given := &s.given[i]; given.beside == nil || given.beside == st {
			sets = append(sets, given.rules)
		}
	}
	for _, set := range sets {
		if more, err := s.adding(policy, set); err != nil {
			s.host.options.Logger.Warn("what was allowed for a session does not count", "error", err)
		} else {
			policy = more
		}
	}
	policy, err := s.asNow(policy, v.Policy)
	if err != nil {
		return err
	}
	v.Policy, v.Grants = policy, granted
	return nil
}

// grants are those that count for the session now.
func (s *Session) grants() grants.View {
	if s.host.options.Grants == nil {
		return grants.View{}
	}
	granted := s.host.options.Grants.View(s.id, s.base.ProjectRoot, time.Now())
	if granted.Err != nil {
		s.host.options.Logger.Warn("the grants do not count", "error", granted.Err)
	}
	return granted
}

func (s *Session) adding(p *permissions.Policy, set permissions.RuleSet) (*permissions.Policy, error) {
	if len(set.Allow) == 0 {
		return p, nil
	}
	p, warnings, err := p.WithRules(set)
	s.host.warn(warnings)
	return p, err
}

// asNow puts a policy into the mode and directory of the one it takes the place
// of, or where it is the first, into the session's mode. A mode that is forbidden by
// now is left.
func (s *Session) asNow(p, was *permissions.Policy) (*permissions.Policy, error) {
	if was == nil {
		return p.WithMode(cmp.Or(s.options.Mode, p.Mode()))
	}
	q, err := p.WithMode(was.Mode())
	if err != nil {
		s.host.options.Logger.Warn("the session's mode is not offered any more", "mode", was.Mode(), "error", err)
		if q, err = p.WithMode(permissions.ModeDefault); err != nil {
			return nil, err
		}
	}
	return q.WithCwd(was.Cwd()), nil
}

// fresh is the view with what has run out or was revoked meanwhile taken out.
func (s *Session) fresh() *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if list := s.host.options.Grants; list != nil && list.Stale(s.current.Grants, now) {
		newer := *s.current
		if err := s.complete(&newer, s.host.settings.Load()); err != nil {
			// The mode was offered when the settings came into force.
			s.host.options.Logger.Error("a session goes by older grants", "error", err)
		} else {
			s.set(&newer)
		}
	}
	if p := s.current.Policy.At(now); p != s.current.Policy {
		s.change(p)
	}
	return s.current
}

var errNoOffer = errors.New("the rule was not offered")
