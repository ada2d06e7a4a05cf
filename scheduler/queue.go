package scheduler

import (
	"context"
	"sync/atomic"
)

// queue is the jobs in call order, with what decides which of them begins next. The
// Scheduler's mutex guards it. Its methods start no goroutines: the caller calls hire
// before it releases the mutex.
type queue struct {
	jobs
	options  *Options
	contexts contexts
	active   active
	effects  effects
	// demoted are jobs that came to need more than they have and wait to run alone, in
	// call order, and cancelled those that are to fail without having begun.
	demoted, cancelled []*entry
	begun              lineup
	rechecked          *entry // the job that is asked again for its traits, if there is one
	// alones counts the jobs that ran alone and have ended; it is written with the
	// mutex held.
	alones atomic.Int64
	closed bool
}

// beginNext begins the turn of every job that may have it now, or cancels them all
// where nothing is to begin any more.
func (q *queue) beginNext() {
	switch {
	case q.contexts.over():
		q.cancelAll(q.contexts.reason())
	case len(q.demoted) == 0:
		q.beginFitting()
	case q.active.count == 0:
		q.begin(pop(&q.demoted), true)
	}
}

// beginFitting begins the turns of the jobs that may run beside those under way.
func (q *queue) beginFitting() {
	for ; q.next < len(q.all); q.next++ {
		e := q.all[q.next]
		if e == nil || e.cancelled != nil {
			continue
		}
		if e.traits.Locked && e.asked != q.alones.Load() {
			// What its locks name may be something else by now. Only the first job is asked: if
			// all were, each would be asked again after every job that runs alone before it.
			if q.rechecked == nil {
				q.rechecked = e
			}
			return
		}
		alone := e.traits.runsAlone()
		if !alone && q.active.admitting >= q.options.MaxAdmitting || !q.active.fits(e) {
			return
		}
		q.begin(e, alone)
	}
}

// begin starts a job's turn.
func (q *queue) begin(e *entry, alone bool) {
	e.alone = alone
	q.effects.makeDue(e)
	q.active.enter(e)
	q.active.admitting++
	e.ctx = q.contexts.of(e, false)
	q.options.observe(e, Admitting)
	if q.options.Lend != nil && !q.begun.lent && q.options.Lend(e.Job) {
		e, q.begun.mine = q.begun.mine, e
	}
	if e != nil {
		q.begun.push(e)
	}
}

// answered notes what the rechecked job said; before is how many jobs that run alone
// had ended when it was asked.
func (q *queue) answered(now *Traits, before int64) {
	e := q.rechecked
	q.rechecked = nil
	if e.cancelled != nil { // meanwhile
		q.cancelled = append(q.cancelled, e)
		return
	}
	e.asked = before
	q.active.locks.forget(e)
	e.traits.Safe, e.traits.Locked, e.traits.Locks = now.Safe, now.Locked, now.Locks
	if now.runsAlone() {
		q.split(e)
	}
}

// execute counts a job that has a slot, and gives it the context to run with.
func (q *queue) execute(e *entry) {
	q.active.admitting--
	if e.traits.Block {
		e.ctx = q.contexts.of(e, true)
		q.contexts.block(1)
	}
	q.options.observe(e, Executing)
}

// end notes that a job's turn has ended, and reports whether the job has leftovers: then
// it keeps what it locked.
func (q *queue) end(e *entry, how ending) (leftovers bool) {
	if e.alone {
		q.alones.Add(1)
	}
	if e.state == Admitting {
		q.active.admitting--
	} else if e.traits.Block {
		q.contexts.block(-1)
	}
	if how == demoted {
		q.active.leave(e)
		q.demote(e)
		return false
	}
	if !e.changes() {
		q.effects.hold(e)
	}
	q.options.observe(e, Completed)
	if e.outcome.unfinished() {
		return true
	}
	q.active.leave(e)
	return false
}

// demote puts a job back that must run alone.
func (q *queue) demote(e *entry) {
	e.traits.Safe, e.traits.Locked, e.traits.Locks, e.nodes = false, false, nil, nil
	e.batch = noBatch
	q.options.observe(e, Queued)
	switch {
	case e.ctx.Err() != nil: // it was cancelled meanwhile
		q.cancel(e, context.Cause(e.ctx))
	case !q.cancelIfReached(e):
		q.demoted = insert(q.demoted, e)
	}
}
