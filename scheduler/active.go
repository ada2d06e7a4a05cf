package scheduler

// active are the jobs under way: those whose turn has come and that are not complete,
// or have leftovers.
type active struct {
	count     int
	unsafe    int  // of them, those that are not safe
	unlocked  int  // of them, those that are not locked
	admitting int  // of them, those that have not had a slot
	alone     bool // one runs alone
	locks     lockTable
}

// fits reports whether a job may begin its turn beside all that is under way.
func (a *active) fits(e *entry) bool {
	t := &e.traits
	switch {
	case a.count == 0:
		return true
	case a.alone:
		return false
	case t.Safe && t.Locked:
		// Those that are not safe are locked: the others run alone.
		return a.unsafe == 0 || !a.locks.conflict(e, heldSafe)
	case t.Safe:
		return a.unsafe == 0
	case t.Locked:
		return a.unlocked == 0 && !a.locks.conflict(e, heldEffects)
	}
	return false
}

func (a *active) enter(e *entry) {
	a.alone = e.alone
	a.count++
	a.add(e, 1)
	if e.traits.Locked {
		a.locks.enter(e)
	}
}

func (a *active) leave(e *entry) {
	a.alone = false // it was the only one
	a.count--
	a.add(e, -1)
	if e.nodes != nil {
		a.locks.leave(e, e.holder())
	}
	e.release()
}

func (a *active) add(e *entry, by int) {
	if !e.traits.Safe {
		a.unsafe += by
	}
	if !e.traits.Locked {
		a.unlocked += by
	}
}

// outgrown reports whether a job that was begun beside others needs more now
// than it was given.
func outgrown(given, now *Traits) bool {
	return given.Safe && !now.Safe || given.Locked && (!now.Locked || !covered(now.Locks, given.Locks))
}
