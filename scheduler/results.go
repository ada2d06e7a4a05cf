package scheduler

import (
	"slices"
	"sync"
)

// results lets results leave in call order, and bounds what those hold that have not
// left. One goroutine at a time lets them leave for all.
type results struct {
	options   *Options
	mu        *sync.Mutex // the Scheduler's, which guards all below
	jobs      *jobs
	held      int64    // bytes of results that have not left
	parked    []*entry // jobs that wait until less is held
	leaving   bool     // a goroutine is letting results leave
	discarded bool
}

// due reports whether a result can leave and no goroutine is letting it. The caller
// holds the mutex.
func (r *results) due() bool { return !r.leaving && r.ready() }

func (r *results) ready() bool {
	if r.jobs.left == len(r.jobs.all) {
		return false
	}
	first := r.jobs.first()
	return first.own == nil && first.state == Completed
}

// deliver lets results leave, as far as they are complete, after leaving was set. The
// caller holds the mutex.
func (r *results) deliver() {
	defer func() { r.leaving = false }() // a job may end the goroutine
	for r.ready() {
		r.yield(r.jobs.first())
	}
}

// yield releases the mutex while a result leaves, or is dropped.
func (r *results) yield(e *entry) {
	method, call := "Yield", e.Yield
	if r.discarded {
		method, call = "Drop", e.Drop
	}
	dropped := r.discarded
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		if !dropped {
			r.options.observe(e, Yielded)
		}
		// The turn may be long, so no reference to the job stays.
		r.jobs.forget(e)
		r.held -= e.outcome.Held
		r.unpark()
	}()
	r.options.report(e, guard(method, call))
}

// admits reports whether a job may make a result that takes memory. The first
// whose result has not left always may, or nothing would go on; if that one waits
// until it can run alone, so may all it waits for.
func (r *results) admits(e *entry) bool {
	if most := r.options.MaxHeld; most <= 0 || r.held <= most {
		return true
	}
	first := r.jobs.first()
	return first == e || first.state == Queued && first.cancelled == nil
}

// ask takes a slot for a job if there is one, and room for its result. If not, it returns
// what is closed when it is worth asking again.
func (r *results) ask(e *entry) <-chan struct{} {
	if r.admits(e) {
		return e.slot.ask()
	}
	e.slot.release(false)
	e.parked = make(chan struct{})
	r.parked = insert(r.parked, e)
	return e.parked
}

// unpark wakes the jobs that need not wait any more.
func (r *results) unpark() {
	r.parked = slices.DeleteFunc(r.parked, func(e *entry) bool {
		if !r.admits(e) {
			return false
		}
		e.slot.ask() // here, so that the first in call order is the first in line
		close(e.parked)
		return true
	})
}
