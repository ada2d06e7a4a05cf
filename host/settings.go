package host

import (
	"fmt"

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
}

// Apply puts other settings into force, for every session and at once: what
// was not decided yet is decided by them, calls that wait for a person
// included. With an error everything is as it was.
func (h *Host) Apply(s Settings) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	st := rules.Settings(s)
	states := make([]*rules.State, 0, len(h.open))
	for session := range h.open {
		states = append(states, session.core.Rules)
	}
	if err := rules.Apply(&st, states); err != nil {
		return fmt.Errorf("the settings cannot be put into force: %w", err)
	}
	h.settings = &st
	return nil
}
