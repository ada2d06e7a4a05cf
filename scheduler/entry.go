package scheduler

import (
	"cmp"
	"context"
	"slices"
)

// noBatch is the batch of a job that runs alone, which is one of its own.
const noBatch = 0

// entry is a job with its place and state. The Scheduler's mutex guards it. But only
// the goroutine that has the job in hand writes traits, ctx, outcome and failed.
type entry struct {
	Job
	index     int
	batch     int
	traits    Traits
	state     State
	cancelled error // why it fails without having begun
	// asked is how many jobs that run alone had ended when it was last asked for its
	// traits.
	asked int64
	// own is its context if it is independent, and unwatch stops watching that.
	own     context.Context
	unwatch func() bool
	after   *entry // the next in a lineup
	// nodes are the places of its locks in the table, nil until they are needed. A single one
	// lies in node, which saves an allocation.
	nodes  []*lockNode
	node   [1]*lockNode
	claims bool   // its effects are held, for what it locked
	claim  *claim // its place in the table of all schedulers; nil before it asks, and after
	execution
}

// execution is what a job has from the beginning of its turn.
type execution struct {
	alone   bool
	settles bool            // the effects of others are due before it
	failed  bool            // Fail was called
	ctx     context.Context // ends when the job must not begin to run, or must stop
	slot    Slot
	parked  chan struct{} // closed when it need not wait for room for its result
	outcome Outcome
}

// changes reports whether a job, whose turn has come, may change what others use:
// its effects are settled before it releases what it locked.
func (e *entry) changes() bool { return e.alone || !e.traits.Safe || e.own != nil }

// runsAlone reports whether a job may run beside no other.
func (t *Traits) runsAlone() bool { return !t.Safe && !t.Locked }

// lineup are jobs whose turn has come and that no goroutine has in hand yet: first
// come, first served.
type lineup struct {
	head, tail *entry
	// mine is the job that waits for the goroutine that calls Wait. None does once
	// Wait was called, which lent says.
	mine *entry
	lent bool
}

func (l *lineup) push(e *entry) {
	if l.head == nil {
		l.head = e
	} else {
		l.tail.after = e
	}
	l.tail = e
}

// pop returns the first, nil if there is none.
func (l *lineup) pop() *entry {
	e := l.head
	if e == nil {
		return nil
	}
	l.head, e.after = e.after, nil
	if l.head == nil {
		l.tail = nil
	}
	return e
}

// insert puts a job where it belongs in a list in call order.
func insert(list []*entry, e *entry) []*entry {
	at, _ := slices.BinarySearchFunc(list, e, byIndex)
	return slices.Insert(list, at, e)
}

// pop takes the first off a list, which keeps no reference to it.
func pop(list *[]*entry) *entry {
	e := (*list)[0]
	(*list)[0] = nil
	*list = (*list)[1:]
	return e
}

func byIndex(a, b *entry) int { return cmp.Compare(a.index, b.index) }
