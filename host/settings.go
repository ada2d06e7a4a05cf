package host

import (
	"fmt"
	"maps"
	"slices"

	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/permissions"
)

// Settings are what of the options may change while a host runs.
type Settings struct {
	// Rules are the permission rules in force, by source and in any order: they
	// are merged, and a deny anywhere stands.
	Rules []permissions.RuleSet
	// OnlyPolicyRules makes allow rules of other sources than policy grant
	// nothing.
	OnlyPolicyRules bool
	// ForbiddenModes are not offered. A session in one of them when they are
	// forbidden goes on in [permissions.ModeDefault].
	ForbiddenModes []permissions.Mode
	// Hooks run around calls; nil is none.
	Hooks *Hooks
	// Tuning is how calls run and what models are offered; nil leaves it as it is.
	Tuning *Tuning
}

// Apply puts other settings into force, for every session and at once: what
// was not decided yet is decided by them, calls that wait for a person
// included. Sessions that offer other tools by them tell observers (EventTools). How turns are
// scheduled counts for those that begin later. With an error everything is as it was.
func (h *Host) Apply(s Settings) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if s.Tuning != nil {
		if err := s.Tuning.check(); err != nil {
			return fmt.Errorf("the settings cannot be put into force: %w", err)
		}
	}
	st := rules.Settings{Rules: s.Rules, OnlyPolicyRules: s.OnlyPolicyRules, ForbiddenModes: s.ForbiddenModes, Hooks: s.Hooks}
	states := make([]*rules.State, 0, len(h.open)+len(h.programs))
	before := make(map[*Session]map[string]string, len(h.open))
	for session := range h.open {
		states = append(states, session.core.Rules)
		before[session] = session.offered()
	}
	for program := range h.programs {
		states = append(states, program.state)
	}
	if err := rules.Apply(&st, states); err != nil {
		return fmt.Errorf("the settings cannot be put into force: %w", err)
	}
	h.settings = &st
	if s.Tuning != nil {
		h.tune(h.sessions, s.Tuning)
		for session := range h.open {
			session.core.Limit()
		}
	}
	for session, tools := range before {
		session.tellOffered(tools)
	}
	return nil
}

// offered are the tools that the session offers its model, with their descriptions by their names,
// where somebody observes what becomes of them.
func (s *Session) offered() map[string]string {
	if s.news.observer == nil {
		return nil
	}
	tools := make(map[string]string)
	for _, t := range s.core.Tools.List(s.core.Next()) {
		if t.NotOffered == nil {
			tools[t.Tool.Name] = t.Description
		}
	}
	return tools
}

// tellOffered tells observers if the session offers others than before, or describes one
// differently, as skills are that rules deny.
func (s *Session) tellOffered(before map[string]string) {
	after, c := s.offered(), ToolsChange{}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if was, there := before[name]; !there {
			c.Added = append(c.Added, name)
		} else if was != after[name] {
			c.Changed = append(c.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[name]; !there {
			c.Removed = append(c.Removed, name)
		}
	}
	if len(c.Added)+len(c.Changed)+len(c.Removed) > 0 {
		s.news.tell(Event{Kind: EventTools, Tools: &c})
	}
}
