package host

import (
	"errors"
	"fmt"

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
	defer h.holdSessions()()
	changed := make(map[*Session]*view, len(h.sessions))
	var errs []error
	for session := range h.sessions {
		newer := *session.current
		if err := session.compile(&newer, &s); err != nil {
			errs = append(errs, err)
		}
		changed[session] = &newer
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the settings cannot be put into force: %w", err)
	}
	h.settings.Store(&s)
	for session, newer := range changed {
		session.set(newer)
	}
	return nil
}

// holdSessions keeps every session as it is until the function it returns is
// called, so that none is compiled by settings that are being replaced. The caller
// holds the host's mutex, and keeps it.
func (h *Host) holdSessions() (release func()) {
	for session := range h.sessions {
		session.mu.Lock()
	}
	return func() {
		for session := range h.sessions {
			session.mu.Unlock()
		}
	}
}
