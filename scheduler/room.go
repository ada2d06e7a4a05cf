package scheduler

// room is what is under way: jobs whose turn has come and that are not complete,
// or behind whose result something goes on.
type room struct {
	count    int
	unsafe   int  // of them, those that are not safe
	unlocked int  // of them, those that are not locked
	alone    bool // one runs alone
	locks    lockTable
}

// fits reports whether a job may begin its turn beside all that is under way.
func (r *room) fits(e *entry) bool {
	t := &e.traits
	switch {
	case r.count == 0:
		return true
	case r.alone:
		return false
	case t.Safe && t.Locked:
		// Those that are not safe are locked: the others run alone.
		return r.unsafe == 0 || !r.locks.conflict(e, heldSafe)
	case t.Safe:
		return r.unsafe == 0
	case t.Locked:
		return r.unlocked == 0 && !r.locks.conflict(e, heldEffects)
	}
	return false
}

func (r *room) enter(e *entry) {
	r.alone = e.alone
	r.count++
	r.add(e, 1)
	if e.traits.Locked {
		r.locks.enter(e)
	}
}

func (r *room) leave(e *entry) {
	r.alone = false // it was the only one
	r.count--
	r.add(e, -1)
	if e.nodes != nil {
		r.locks.leave(e, e.holder())
	}
}

func (r *room) add(e *entry, by int) {
	if !e.traits.Safe {
		r.unsafe += by
	}
	if !e.traits.Locked {
		r.unlocked += by
	}
}

// outgrown reports whether a job that was begun beside others needs more room now
// than it was given.
func outgrown(given, now *Traits) bool {
	return given.Safe && !now.Safe || given.Locked && (!now.Locked || !covered(now.Locks, given.Locks))
}
