package worker

import (
	"context"
	"errors"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// explain says why a call ended whose context is over.
func (m *module) explain(ctx context.Context) error {
	cause := context.Cause(ctx)
	if known, ok := errors.AsType[*abi.Error](cause); ok {
		return known
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return abi.Errorf(abi.CodeTimeout, "the call ran into its time limit in plugin %s: %w", m.name, cause)
	}
	return abi.Errorf(abi.CodeCancelled, "the call was cancelled in plugin %s: %w", m.name, cause)
}

// patience is how many workers may die in a row before the next one has to wait,
// and maxRest the longest it does.
const (
	patience = 3
	maxRest  = 30 * time.Second
)

// restarts says when the next worker may be started.
type restarts struct {
	deaths int       // of workers, since one of them answered a call
	rest   time.Time // until then no worker is started
}

// died notes that a worker died before it had answered a call.
func (r *restarts) died() {
	r.deaths++
	if over := r.deaths - patience; over >= 0 {
		r.rest = time.Now().Add(min(100*time.Millisecond<<min(over, 10), maxRest))
	}
}

// gone notes that a worker has ended.
func (m *module) gone(p *process, answered, wanted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == p {
		m.process = nil
	}
	if answered {
		m.restarts.deaths = 0
	}
	if !wanted && !answered {
		m.restarts.died()
	}
}
