package scheduler

import (
	"slices"
	"sync"
)

// PoolOptions configure a [Pool].
type PoolOptions struct {
	// Max is how many slots there are; 0 is no bound.
	Max int
	// MaxPerGroup is how many of them jobs of one group hold at once; 0 is no
	// bound.
	MaxPerGroup int
	// Above is a further pool of which every slot needs one too, such as one that
	// several turns share; nil is none.
	Above *Pool
}

// Pool bounds how many jobs run at once, for one scheduler or for several. It is
// safe for concurrent use.
//
// Of the jobs of one scheduler that wait, the first in call order gets the next
// slot, passing over those whose group has no room. Schedulers take turns, so
// that a long turn does not starve a short one. Jobs that come back from
// [Slot.Lend] go before all others: they hold what they have got so far.
type Pool struct {
	options PoolOptions
	// above is the next pool above that bounds anything.
	above *Pool
	// mu guards this pool and all that hang together with it: it is that of the
	// topmost one, own if there is none. A slot is taken in all of them at once.
	mu  *sync.Mutex
	own sync.Mutex

	held   int
	groups map[string]int // slots held by group, where groups are bounded
	// returning and lines are the lines that wait for a slot of this pool, or of
	// one below it. No slot that heads one could be granted.
	returning, lines []*line
	// back is the line of those that lent a slot of this pool; nil before one did.
	back *line
}

// NewPool makes a pool. It panics if a bound is negative.
func NewPool(o PoolOptions) *Pool {
	if o.Max < 0 || o.MaxPerGroup < 0 {
		panic("scheduler: a pool with a negative bound")
	}
	p := &Pool{options: o, above: o.Above}
	p.mu = &p.own
	for p.above != nil && p.above.options.Max == 0 && p.above.options.MaxPerGroup == 0 {
		p.above = p.above.above
	}
	if p.above != nil {
		p.mu = p.above.mu
	}
	return p
}

// full reports whether the pool by itself has no slot for a job of the group.
func (p *Pool) full(group string) bool {
	o := &p.options
	return o.Max > 0 && p.held >= o.Max || o.MaxPerGroup > 0 && group != "" && p.groups[group] >= o.MaxPerGroup
}

// free reports whether there is a slot for a job of the group. The caller holds
// the mutex.
func (p *Pool) free(group string) bool {
	for ; p != nil; p = p.above {
		if p.full(group) {
			return false
		}
	}
	return true
}

// take takes a free slot. The caller holds the mutex.
func (p *Pool) take(group string) {
	for ; p != nil; p = p.above {
		p.count(group, 1)
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

func (p *Pool) count(group string, n int) {
	p.held += n
	if p.options.MaxPerGroup == 0 || group == "" {
		return
	}
	if p.groups == nil {
		p.groups = make(map[string]int)
	}
	if p.groups[group] += n; p.groups[group] == 0 {
		delete(p.groups, group)
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
				s.wake()
				return true
			}
		}
	}
	return false
}

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

func (l *line) insert(s *Slot) {
	if len(l.waiting) == 0 {
		for p := l.pool; p != nil; p = p.above {
			lines := p.linesOf(l)
			*lines = append(*lines, l)
		}
	}
	at, _ := slices.BinarySearchFunc(l.waiting, s.order, func(s *Slot, order int) int { return s.order - order })
	l.waiting = slices.Insert(l.waiting, at, s)
}

func (l *line) remove(s *Slot) {
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

// comeBack is the line of those that lent a slot of this pool: first come, first
// served.
func (p *Pool) comeBack() *line {
	if p.back == nil {
		p.back = &line{pool: p}
	}
	return p.back
}

// linesOf is the list of lines that l belongs to.
func (p *Pool) linesOf(l *line) *[]*line {
	if l == l.pool.back {
		return &p.returning
	}
	return &p.lines
}
