package scheduler

import "slices"

// line is where the jobs of one scheduler wait for slots of a pool. The pool's
// mutex guards it.
type line struct {
	pool    *Pool
	waiting []*Slot // by their order
}

// first is the first that there is a slot for.
func (l *line) first() *Slot {
	for i, s := range l.waiting {
		same := i > 0 && s.group == l.waiting[i-1].group // as one there is none for
		if !same && l.pool.free(s.group) {
			return s
		}
	}
	return nil
}

// insert has a slot wait in the line.
func (l *line) insert(s *Slot) {
	s.waiting, s.inLine = make(chan struct{}), l
	if len(l.waiting) == 0 {
		for p := l.pool; p != nil; p = p.above {
			lines := p.linesOf(l)
			*lines = append(*lines, l)
		}
	}
	at, _ := slices.BinarySearchFunc(l.waiting, s.order, func(s *Slot, order int) int { return s.order - order })
	l.waiting = slices.Insert(l.waiting, at, s)
}

// remove takes a slot out of the line, and ends its wait.
func (l *line) remove(s *Slot) {
	close(s.waiting)
	s.waiting, s.inLine = nil, nil
	at := slices.Index(l.waiting, s)
	l.waiting = slices.Delete(l.waiting, at, at+1)
	if len(l.waiting) > 0 {
		return
	}
	for p := l.pool; p != nil; p = p.above {
		lines := p.linesOf(l)
		at := slices.Index(*lines, l)
		*lines = slices.Delete(*lines, at, at+1)
	}
}

// give gives a slot back, and on to those that waited for it. The caller holds
// the mutex.
func (p *Pool) give(group string) {
	// Only those that wait at a pool that was full can go on, and who waits at one
	// of them waits at all above it too.
	var top *Pool
	for ; p != nil; p = p.above {
		if p.full(group) {
			top = p
		}
		p.count(group, -1)
	}
	if top != nil {
		for !top.full("") && top.serve() {
		}
	}
}

// serve grants one slot to the first line that has a use for it, which then goes
// behind the others, and reports whether there was one.
func (p *Pool) serve() bool {
	for _, lines := range []*[]*line{&p.returning, &p.lines} {
		for i, l := range *lines {
			if s := l.first(); s != nil {
				*lines = append(slices.Delete(*lines, i, i+1), l)
				l.remove(s)
				l.pool.take(s.group)
				s.held = true
				return true
			}
		}
	}
	return false
}
