package session

import (
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/toolset"
)

// Tuning is what may change of how the calls of all sessions run, and of what models are
// offered. It must not be changed once a [Host] has it.
type Tuning struct {
	Toolset toolset.Selection
	// Results bound the results of calls.
	Results results.Options
	Limits  Limits
}

// Tune puts other tuning into force: for turns that begin later what is about turns, and at
// once the rest. Sessions that are open take up limits of results by [Session.Limit].
func (h *Host) Tune(t *Tuning) { h.tuning.Store(t) }

// usual is what counts before a host is tuned.
var usual Tuning

// tuned is what counts now.
func (h *Host) tuned() *Tuning {
	if t := h.tuning.Load(); t != nil {
		return t
	}
	return &usual
}

// Limit has the limits of results count that the host was tuned to.
func (s *Session) Limit() { s.Storage.Results().Limit(s.Host.tuned().Results) }
