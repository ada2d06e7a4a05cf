package scheduler

import "context"

// Slot is a running job's right to run. It is safe for concurrent use. The zero
// value is of no pool: it is there always, and to lend it is to do nothing.
type Slot struct {
	line  *line  // where to wait for it; its pool's mutex guards what follows
	order int    // the job's place in call order
	group string // see [Traits]

	held  bool
	ended bool // the job has ended
	lends int  // goroutines that lend it now
	// waiting is closed, and set to nil, when there is no need to wait any more:
	// the slot is held, or lent again, or the job has ended.
	waiting chan struct{}
	inLine  *line // the one it waits in
}

// Lend gives the slot to others while do runs, such as while a person is asked,
// and waits for one again before it returns. It reports false where ctx ended
// before there was one, or the job had ended; then the job must come to its end
// soon.
//
// Where several goroutines of a job lend at a time, the slot is given from the
// beginning of the first do to the end of the last: a goroutine that is done
// while another still lends does not wait. So a job never holds its slot while it
// waits for jobs of its own that need one.
func (s *Slot) Lend(ctx context.Context, do func()) (ok bool) {
	if s.line == nil {
		do()
		return ctx.Err() == nil
	}
	s.lend()
	defer func() { ok = s.takeBack(ctx) }() // in any case: do may panic
	do()
	return
}

// lend gives the slot to others.
func (s *Slot) lend() {
	mu := s.line.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.lends++
	s.letGo()
}

// takeBack takes the slot again for the last goroutine that lent it.
func (s *Slot) takeBack(ctx context.Context) bool {
	p := s.line.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s.lends--
	for {
		// Again after each wait: it may have ended because the context of another
		// goroutine did.
		wait := s.request(&p.back)
		if wait == nil {
			return !s.ended && ctx.Err() == nil
		}
		p.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if ctx.Err() != nil {
			if s.waiting == wait {
				s.letGo()
			}
			return false
		}
	}
}

// ask takes the slot if there is one. If not, it returns what is closed when it
// is worth asking again.
func (s *Slot) ask() <-chan struct{} {
	p := s.line.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.request(s.line)
}

// request is ask for a job that waits in the line given. The caller holds the
// mutex.
func (s *Slot) request(in *line) chan struct{} {
	if s.held || s.ended || s.lends > 0 {
		return nil
	}
	if s.waiting == nil {
		if p := in.pool; p.free(s.group) {
			p.take(s.group)
			s.held = true
			return nil
		}
		if n := len(in.waiting); in == &in.pool.back && n > 0 {
			s.order = in.waiting[n-1].order + 1
		}
		in.insert(s)
	}
	return s.waiting
}

// release gives up the slot, or the wait for it; for good if the job has ended.
func (s *Slot) release(ended bool) {
	mu := s.line.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.ended = ended
	s.letGo()
}

// letGo gives up the slot, or the wait for it. The caller holds the mutex.
func (s *Slot) letGo() {
	switch {
	case s.held:
		s.held = false
		s.line.pool.give(s.group)
	case s.waiting != nil:
		s.inLine.remove(s)
	}
}
