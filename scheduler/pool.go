package scheduler

import "sync"

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
	// back is the line of those that lent a slot of this pool: first come, first served.
	back line
}

// NewPool makes a pool. It panics if a bound is negative.
func NewPool(o PoolOptions) *Pool {
	if o.Max < 0 || o.MaxPerGroup < 0 {
		panic("scheduler: a pool with a negative bound")
	}
	p := &Pool{options: o, above: o.Above}
	p.mu, p.back.pool = &p.own, p
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

// linesOf is the list of lines that l belongs to.
func (p *Pool) linesOf(l *line) *[]*line {
	if l == &l.pool.back {
		return &p.returning
	}
	return &p.lines
}
