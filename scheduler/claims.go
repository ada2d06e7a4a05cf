package scheduler

import "slices"

// claim counts the locks of a complete job until its effects are applied.
func (t *lockTable) claim(e *entry) {
	e.claims = true
	for i, l := range e.traits.Locks {
		n, k := e.nodes[i], kind(l.Write)
		n.users++
		n.add(l.Write, heldEffects, 1)
		if int32(len(n.done[k])) > 2*n.here[heldEffects][k]+spareEffects {
			n.done[k] = slices.DeleteFunc(n.done[k], func(e *entry) bool { return !e.claims })
		}
		n.done[k] = append(n.done[k], e)
	}
}

// release ends what claim began.
func (t *lockTable) release(e *entry) {
	e.claims = false
	t.leave(e, heldEffects)
}

// claimed returns the jobs whose claims have a conflict with the locks of a job, and
// releases them.
func (t *lockTable) claimed(by *entry) []*entry {
	var found []*entry
	for i, n := range t.resolve(by) {
		write := by.traits.Locks[i].Write
		found = n.takeWithin(write, found)
		for n = n.parent; n != nil; n = n.parent {
			found = n.takeHere(write, found)
		}
	}
	for _, e := range found {
		t.leave(e, heldEffects)
	}
	return found
}

// takeHere appends the jobs whose claim of this name is in conflict. Each is taken
// off the list once, so that all calls together cost no more than all claims.
func (n *lockNode) takeHere(write bool, found []*entry) []*entry {
	for k := range n.done {
		if k == kind(false) && !write {
			continue
		}
		for _, e := range n.done[k] {
			if e.claims {
				e.claims = false
				found = append(found, e)
			}
		}
		n.done[k] = nil
	}
	return found
}

// takeWithin does takeHere for a name and all below it.
func (n *lockNode) takeWithin(write bool, found []*entry) []*entry {
	if claims := n.within[heldEffects]; claims[1] == 0 && (!write || claims[0] == 0) {
		return found
	}
	found = n.takeHere(write, found)
	for _, child := range n.children {
		found = child.takeWithin(write, found)
	}
	return found
}
