package scheduler

import "slices"

// fail cancels the siblings of a job that failed.
func (q *queue) fail(e *entry) {
	if !q.contexts.fail(e) {
		return
	}
	q.demoted = slices.DeleteFunc(q.demoted, func(e *entry) bool { return q.cancelIfReached(e) })
	batch := q.contexts.failure.batch
	for _, e := range q.all[q.next:] {
		if e == nil {
			continue // it was cancelled before, and has left
		}
		if batch != noBatch && e.batch != batch {
			break
		}
		q.cancelIfReached(e)
	}
}

// cancelIfReached ends a job that has not begun, if a failure cancels it, and
// reports whether one does.
func (q *queue) cancelIfReached(e *entry) bool {
	f := &q.contexts.failure
	if !f.reaches(e) {
		return false
	}
	q.cancel(e, f.err)
	return true
}

// cancelAll cancels every job whose turn has not come.
func (q *queue) cancelAll(cause error) {
	for _, e := range q.demoted {
		q.cancel(e, cause)
	}
	q.demoted = nil
	for ; q.next < len(q.all); q.next++ {
		if e := q.all[q.next]; e != nil {
			q.cancel(e, cause)
		}
	}
}

// withdraw ends a job that has not begun, or waits to begin again.
func (q *queue) withdraw(e *entry, why error) {
	q.demoted = slices.DeleteFunc(q.demoted, func(other *entry) bool { return other == e })
	q.cancel(e, why)
}

// cancel ends a job that has not begun.
func (q *queue) cancel(e *entry, why error) {
	if e.cancelled != nil {
		return
	}
	e.cancelled = why
	q.active.locks.forget(e)
	if e != q.rechecked { // then it is ended when it has answered
		q.cancelled = append(q.cancelled, e)
	}
}

// failCancelled gives a cancelled job its failure, and releases the mutex meanwhile.
func (q *queue) failCancelled(e *entry) {
	q.effects.mu.Unlock()
	defer func() {
		q.effects.mu.Lock()
		if e.own == nil {
			q.effects.hold(e)
		}
		q.options.observe(e, Completed)
	}()
	q.options.fail(e, e.cancelled)
	if e.own != nil {
		q.effects.settleNow(e)
	}
}
