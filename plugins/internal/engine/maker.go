package engine

import (
	"context"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Policy says when a used instance may be put back to how it was after its
// start, instead of being thrown away. Either way memory is clean for every
// call. Instances are never put back after a call that failed, nor where the
// module does what cannot be undone, such as changing tables.
type Policy int

const (
	// PutBackPure puts instances back where their start took nothing from
	// outside, so that it cannot be told from a fresh start.
	PutBackPure Policy = iota
	// PutBackAll puts them back even where it did: random numbers drawn during
	// the start are then the same for every call.
	PutBackAll
	// PutBackNone makes a new instance for every call.
	PutBackNone
)

// Plan says what the instances of a [Pool] are made of. T is what a runner keeps
// beside each, such as the functions it looked up.
type Plan[T any] struct {
	// Name is the plugin's, for the log.
	Name string
	// Parts are the modules of one instance, in the order in which they are
	// instantiated.
	Parts []Part
	// Policy says when instances are put back.
	Policy Policy
	// Time bounds the start of one instance.
	Time time.Duration
	// Bind makes what the runner keeps beside an instance. It runs nothing of
	// the guest. The modules are those of Parts, in order.
	Bind func(modules []api.Module) (T, error)
	// Init, if not nil, brings a new instance to where calls begin: it calls what
	// the ABI says is called first, with ctx, which is the start's [Run]. It is
	// left out where an instance can be put to that point without.
	Init func(ctx context.Context, host T) error
	// Stack, if not nil, tells how much native stack the functions have that the
	// runner keeps, by [StackOf]: instances that have much of it are thrown away.
	Stack func(host T) int64
	// Fail makes the error of a start that failed, as [Pool.Take] returns it.
	Fail func(run *Run, err error) error
}

// Instance is one instance, used by one call at a time.
type Instance[T any] struct {
	// Host is what Plan.Bind made.
	Host T

	core *core
	size int64 // what it was counted for while it was idle
}

// Close frees an instance that Make returned.
func (in *Instance[T]) Close() { in.core.close() }

// maker makes the instances of a [Pool], by a snapshot of one that has started where it
// can.
type maker[T any] struct {
	engine *Engine
	plan   Plan[T]
	rooms  []*memories

	mu    sync.Mutex // the pool's too: what it keeps ready is of the snapshot
	snap  *snapshot
	fixed bool // instances cannot be put back
}

// create makes an instance, by a snapshot where there is one. One that is made
// ahead leaves a snapshot where there is none.
func (m *maker[T]) create(ctx context.Context, ahead bool) (*Instance[T], error) {
	run := &Run{}
	ctx = run.under(ctx, m.plan.Time)
	defer run.End()
	in, err := m.blank(ctx)
	if s := m.held(); s != nil {
		switch {
		case err != nil:
			s.drop()
		case m.revive(in.core, s, ahead):
			return in, nil
		default:
			// Half way to a snapshot is nothing to start from.
			m.forget(s)
			in.core.close()
			in, err = m.blank(ctx)
		}
	}
	if err == nil && m.plan.Init != nil {
		err = m.plan.Init(ctx, in.Host)
	}
	if err != nil {
		in.core.close()
		return nil, m.plan.Fail(run, err)
	}
	if ahead {
		m.learn(in.core, run)
	}
	return in, nil
}

// blank makes an instance that is not started. It is to be closed, also where
// there is an error.
func (m *maker[T]) blank(ctx context.Context) (*Instance[T], error) {
	c, err := m.engine.build(ctx, m.plan.Parts, m.rooms)
	in := &Instance[T]{core: c}
	if err == nil {
		in.Host, err = m.plan.Bind(c.modules)
	}
	return in, err
}

// held takes hold of the pool's snapshot, if there is one.
func (m *maker[T]) held() *snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.snap == nil {
		return nil
	}
	return m.snap.hold()
}

// revive puts a new instance to a snapshot, whose hold it takes over if it can.
func (m *maker[T]) revive(c *core, s *snapshot, ahead bool) (done bool) {
	if !ahead {
		return c.become(s)
	}
	m.engine.behind(func() { done = c.become(s) })
	return done
}

// forget drops a snapshot that no instance can be reset to.
func (m *maker[T]) forget(s *snapshot) {
	m.mu.Lock()
	ours := m.snap == s
	if ours {
		m.snap, m.fixed = nil, true
	}
	m.mu.Unlock()
	if ours {
		s.drop()
	}
	s.drop()
}

// learn makes the pool's snapshot of an instance that has just started, where
// that is allowed.
func (m *maker[T]) learn(c *core, run *Run) {
	m.mu.Lock()
	known := m.snap != nil || m.fixed
	why := c.fixed
	if run.outside && m.plan.Policy == PutBackPure {
		why = "its start took the time or random numbers"
	}
	m.fixed = m.fixed || why != ""
	m.mu.Unlock()
	if known {
		return
	}
	var s *snapshot
	if why == "" {
		m.engine.behind(func() { s, why = c.take(&m.engine.idle) })
	}
	m.mu.Lock()
	m.fixed = m.fixed || why != ""
	wanted := s != nil && m.snap == nil && run.Err() == nil // which it has where the pool is closed
	if wanted {
		m.snap = s
		c.snap = s.hold()
	}
	m.mu.Unlock()
	if why != "" {
		m.engine.opts.Logger.Debug("instances are made anew for every call, not put back", "plugin", m.plan.Name, "reason", why)
	}
	if !wanted {
		s.drop()
	}
}

// stack is how much native stack an instance keeps, in bytes.
func (m *maker[T]) stack(in *Instance[T]) int64 {
	if m.plan.Stack == nil {
		return 0
	}
	return m.plan.Stack(in.Host)
}
