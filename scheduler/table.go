package scheduler

import (
	"slices"
	"strings"
	"sync"
)

// Table keeps jobs of different schedulers, with locks that conflict, from running at
// once. Who asks first is first: a job waits for those that run and for those that wait
// before it. It says nothing of jobs that are not locked: these run alone in their own
// scheduler only. The zero value is ready for use.
type Table struct {
	mu      sync.Mutex
	running lockTable
	waiting []*claim
}

// claim is a job's place in a [Table], whose mutex guards it.
type claim struct {
	table *Table
	locks []Lock
	nodes []*lockNode   // of its locks; nil while it waits
	ready chan struct{} // closed when it waits no more; nil where it never did
}

// ask takes a job's locks. If they are not free it returns what is closed when they are
// the job's, as they are when it is asked again. The caller holds the mutex of the job's
// scheduler.
func (t *Table) ask(e *entry) <-chan struct{} {
	if t == nil || !e.traits.Locked || e.claim != nil && e.claim.ready == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := e.claim
	if c == nil {
		c = &claim{table: t, locks: e.traits.Locks}
		e.claim = c
		if !t.take(c, t.waiting) {
			c.ready = make(chan struct{})
			t.waiting = append(t.waiting, c)
		}
	}
	if c.nodes == nil {
		return c.ready
	}
	c.ready = nil
	return nil
}

// take gives a claim its locks, unless one that has its own, or waits before it, has a
// conflict with it.
func (t *Table) take(c *claim, before []*claim) bool {
	if slices.ContainsFunc(before, func(other *claim) bool { return conflicting(c.locks, other.locks) }) {
		return false
	}
	nodes, free := make([]*lockNode, len(c.locks)), true
	for i, l := range c.locks {
		nodes[i] = t.running.find(l.Name)
		nodes[i].users++
		free = free && !nodes[i].conflicts(l.Write, holders)
	}
	if !free {
		t.drop(nodes)
		return false
	}
	for i, n := range nodes {
		n.add(c.locks[i].Write, heldUnsafe, 1)
	}
	c.nodes = nodes
	return true
}

func (t *Table) drop(nodes []*lockNode) {
	for _, n := range nodes {
		t.running.drop(n)
	}
}

// release gives up a job's locks, or the wait for them.
func (e *entry) release() {
	c := e.claim
	if c == nil {
		return
	}
	e.claim = nil
	t := c.table
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range c.nodes {
		n.add(c.locks[i].Write, heldUnsafe, -1)
	}
	t.drop(c.nodes)
	var still []*claim
	for _, w := range t.waiting {
		switch {
		case w == c:
		case t.take(w, still):
			close(w.ready)
		default:
			still = append(still, w)
		}
	}
	t.waiting = still
}

// conflicting reports whether two sets of locks have a conflict.
func conflicting(a, b []Lock) bool {
	for _, x := range a {
		for _, y := range b {
			if (x.Write || y.Write) && (within(x.Name, y.Name) || within(y.Name, x.Name)) {
				return true
			}
		}
	}
	return false
}

// within reports whether a name is another, or lies below it.
func within(name, of string) bool {
	name, of = trim(name), trim(of)
	rest, ok := strings.CutPrefix(name, of)
	return ok && (rest == "" || of == "" || rest[0] == '/')
}
