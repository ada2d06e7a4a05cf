package scheduler

import (
	"slices"
	"sync"
)

// effects are the changes of the session that are not settled yet: those of safe jobs that are
// complete. It settles all jobs, in order.
type effects struct {
	options  *Options
	locks    *lockTable
	mu       *sync.Mutex // the Scheduler's, which guards the table and all below
	settling sync.Mutex  // held while effects are applied; it is taken before mu
	// open are those that may have touched anything, and locked those that claim
	// what they locked; of these some are settled, and claims counts those that
	// are not.
	open, locked []*entry
	claims       int
	// due are those whose effects a job that has begun its turn must see, in the
	// order in which they are applied, and applying says that others are just now.
	due      []*entry
	applying bool
}

// spareEffects is how many jobs that are settled may stay in a list.
const spareEffects = 16

// hold keeps the effects of a complete job until they are due. The caller holds
// the mutex.
func (f *effects) hold(e *entry) {
	if e.nodes == nil {
		f.open = append(f.open, e)
		return
	}
	f.locks.claim(e)
	f.claims++
	if len(f.locked) > 2*f.claims+spareEffects { // drop the settled ones
		f.locked = slices.DeleteFunc(f.locked, func(e *entry) bool { return !e.claims })
	}
	f.locked = append(f.locked, e)
}

// takeAll returns all whose effects are held, in call order. The caller holds the
// mutex.
func (f *effects) takeAll() []*entry {
	due := f.open
	for _, e := range f.locked {
		if e.claims {
			f.locks.release(e)
			due = append(due, e)
		}
	}
	f.open, f.locked, f.claims = nil, nil, 0
	slices.SortFunc(due, byIndex)
	return due
}

// takeDue returns, in call order, those whose effects a job that runs beside
// others must see. The caller holds the mutex.
func (f *effects) takeDue(e *entry) []*entry {
	due := f.open
	f.open = nil
	if f.claims > 0 {
		found := f.locks.claimed(e)
		f.claims -= len(found)
		due = append(due, found...)
	}
	slices.SortFunc(due, byIndex)
	return due
}

// makeDue notes which effects a job must see that begins its turn. That is done here
// so that their order does not depend on which other jobs begin at the same moment.
// It does not depend on which job is quicker either: no job has to see those of a safe
// job that is still under way. The caller holds the mutex.
func (f *effects) makeDue(e *entry) {
	switch {
	case e.alone:
		f.due = append(f.due, f.takeAll()...)
	case !e.traits.Safe:
		f.due = append(f.due, f.takeDue(e)...)
	}
	e.settles = f.applying || len(f.due) > 0
}

// settleBefore applies the effects that were due when a job began its turn. If
// another goroutine is applying them, it waits for that.
func (f *effects) settleBefore(e *entry) {
	if !e.settles {
		return
	}
	f.settling.Lock()
	defer f.settling.Unlock()
	f.mu.Lock()
	due := f.due
	f.due, f.applying = nil, true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.applying = false
	}()
	f.settle(due)
}

// settleNow applies the effects of a job that is not safe, before it releases what it
// locked.
func (f *effects) settleNow(e *entry) {
	f.settling.Lock()
	defer f.settling.Unlock()
	p := guard("Settle", e.Settle)
	if p != nil && !e.failed {
		f.options.fail(e, p) // its result has not left
		return
	}
	f.options.report(e, p)
}

// settleRest applies what is left in the end.
func (f *effects) settleRest() {
	f.settling.Lock()
	defer f.settling.Unlock()
	f.mu.Lock()
	due := f.takeAll()
	f.mu.Unlock()
	f.settle(due)
}

// settle applies the effects of jobs whose results may have left already. The
// caller holds the settling mutex.
func (f *effects) settle(due []*entry) {
	// Deferred, because a job may end its goroutine.
	defer func() {
		if len(due) > 0 {
			f.settle(due)
		}
	}()
	for len(due) > 0 {
		e := due[0]
		due = due[1:]
		f.options.report(e, guard("Settle", e.Settle))
	}
}
