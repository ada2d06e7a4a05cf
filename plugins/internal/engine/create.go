package engine

import "context"

// create makes an instance, by a snapshot where there is one. One that is made
// ahead leaves a snapshot where there is none.
func (p *Pool[T]) create(ctx context.Context, ahead bool) (*Instance[T], error) {
	run := &Run{}
	ctx = run.under(ctx, p.plan.Time)
	defer run.End()
	in, err := p.blank(ctx)
	if s := p.held(); s != nil {
		switch {
		case err != nil:
			s.drop()
		case p.revive(in.core, s, ahead):
			return in, nil
		default:
			// Half way to a snapshot is nothing to start from.
			p.forget(s)
			in.core.close()
			in, err = p.blank(ctx)
		}
	}
	if err == nil && p.plan.Init != nil {
		err = p.plan.Init(ctx, in.Host)
	}
	if err != nil {
		in.core.close()
		return nil, p.plan.Fail(run, err)
	}
	if ahead {
		p.learn(in.core, run.outside)
	}
	return in, nil
}

// blank makes an instance that is not started. It is to be closed, also where
// there is an error.
func (p *Pool[T]) blank(ctx context.Context) (*Instance[T], error) {
	c, err := p.engine.build(ctx, p.plan.Parts, p.rooms)
	in := &Instance[T]{core: c}
	if err == nil {
		in.Host, err = p.plan.Bind(c.modules)
	}
	return in, err
}

// held takes hold of the pool's snapshot, if there is one.
func (p *Pool[T]) held() *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.snap == nil {
		return nil
	}
	return p.snap.hold()
}

// revive puts a new instance to a snapshot, whose hold it takes over if it can.
func (p *Pool[T]) revive(c *core, s *snapshot, ahead bool) (done bool) {
	if !ahead {
		return c.become(s)
	}
	p.engine.behind(func() { done = c.become(s) })
	return done
}

// forget lets go of a snapshot that nothing can be put to.
func (p *Pool[T]) forget(s *snapshot) {
	p.mu.Lock()
	ours := p.snap == s
	if ours {
		p.snap, p.fixed = nil, true
	}
	p.mu.Unlock()
	if ours {
		s.drop()
	}
	s.drop()
}

// learn makes the pool's snapshot of an instance that has just started, where
// that is allowed.
func (p *Pool[T]) learn(c *core, outside bool) {
	p.mu.Lock()
	known := p.snap != nil || p.fixed
	why := c.fixed
	if outside && p.plan.Policy == PutBackPure {
		why = "its start took the time or random numbers"
	}
	p.fixed = p.fixed || why != ""
	p.mu.Unlock()
	if known {
		return
	}
	var s *snapshot
	if why == "" {
		p.engine.behind(func() { s, why = c.take(&p.engine.idle) })
	}
	p.mu.Lock()
	p.fixed = p.fixed || why != ""
	wanted := s != nil && p.snap == nil && !p.closed
	if wanted {
		p.snap = s
		c.snap = s.hold()
	}
	p.mu.Unlock()
	if why != "" {
		p.engine.opts.Logger.Debug("instances are made anew for every call, not put back", "plugin", p.plan.Name, "reason", why)
	}
	if !wanted {
		s.drop()
	}
}
