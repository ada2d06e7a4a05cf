package scheduler

import (
	"slices"
	"strings"
)

// lockTable knows who locks which names, as a tree of their parts. What it costs
// to ask depends on how deep a name lies, and not on how many others there are.
type lockTable struct {
	root  *lockNode
	nodes int // all below the root
}

// holder is what kind of job holds a lock.
type holder uint8

const (
	heldUnsafe  holder = iota // under way, and not safe
	heldSafe                  // under way, and safe
	heldEffects               // complete and safe, with effects that are not applied
	holders
)

// tally counts locks by holder: those that read and those that write.
type tally [holders][2]int32

// lockNode is a name.
type lockNode struct {
	parent   *lockNode
	part     string // the last part of the name
	children map[string]*lockNode
	// here counts the locks of the name, within those of it and all below it.
	here, within tally
	total        int32 // of within
	// done are the jobs that here counts as heldEffects, with others among them
	// whose effects are applied by now.
	done [2][]*entry
}

// spareNodes is how many nodes stay without a lock: names that are locked over and
// over need not be made anew.
const spareNodes = 64

// kind is the place of a lock in a tally.
func kind(write bool) int {
	if write {
		return 1
	}
	return 0
}

// conflicts reports whether a lock would have a conflict with one that is
// counted, of the first so many holders.
func (t *tally) conflicts(write bool, among holder) bool {
	for h := range among {
		if t[h][1] > 0 || write && t[h][0] > 0 {
			return true
		}
	}
	return false
}

// nextPart splits a name. One slash before it and those behind it do not count,
// so that "/" and "" are the name of all.
func nextPart(name string) (part, rest string, ok bool) {
	if name == "" {
		return "", "", false
	}
	part, rest, _ = strings.Cut(name, "/")
	return part, rest, true
}

func trim(name string) string {
	return strings.TrimRight(strings.TrimPrefix(name, "/"), "/")
}

// conflict reports whether locks have a conflict with those of the first so many
// holders.
func (t *lockTable) conflict(locks []Lock, among holder) bool {
	return slices.ContainsFunc(locks, func(l Lock) bool { return t.conflictOne(l, among) })
}

func (t *lockTable) conflictOne(l Lock, among holder) bool {
	n := t.root
	for part, rest, ok := nextPart(trim(l.Name)); ok && n != nil; part, rest, ok = nextPart(rest) {
		if n.here.conflicts(l.Write, among) {
			return true
		}
		n = n.children[part]
	}
	return n != nil && n.within.conflicts(l.Write, among)
}

// covers reports whether a lock asks for nothing that one of h does not have.
func (t *lockTable) covers(l Lock, h holder) bool {
	n := t.root
	for part, rest, ok := nextPart(trim(l.Name)); ok && n != nil; part, rest, ok = nextPart(rest) {
		if n.here.has(l.Write, h) {
			return true
		}
		n = n.children[part]
	}
	return n != nil && n.here.has(l.Write, h)
}

func (t *tally) has(write bool, h holder) bool {
	return t[h][1] > 0 || !write && t[h][0] > 0
}

// covered reports whether some locks ask for nothing that others do not have.
func covered(locks, by []Lock) bool {
	if slices.Equal(locks, by) {
		return true
	}
	var t lockTable
	for _, l := range by {
		t.find(l.Name).add(l.Write, heldUnsafe, 1)
	}
	return !slices.ContainsFunc(locks, func(l Lock) bool { return !t.covers(l, heldUnsafe) })
}

// find returns the node of a name, which it makes if need be.
func (t *lockTable) find(name string) *lockNode {
	if t.root == nil {
		t.root = new(lockNode)
	}
	n := t.root
	for part, rest, ok := nextPart(trim(name)); ok; part, rest, ok = nextPart(rest) {
		child := n.children[part]
		if child == nil {
			child = &lockNode{parent: n, part: part}
			if n.children == nil {
				n.children = make(map[string]*lockNode)
			}
			n.children[part] = child
			t.nodes++
		}
		n = child
	}
	return n
}

// add counts a lock of the node in, or out again.
func (n *lockNode) add(write bool, h holder, by int32) {
	k := kind(write)
	n.here[h][k] += by
	for ; n != nil; n = n.parent {
		n.within[h][k] += by
		n.total += by
	}
}

// prune lets go of a node that has no locks, and of those above it.
func (t *lockTable) prune(n *lockNode) {
	for t.nodes > spareNodes && n.parent != nil && n.total == 0 && len(n.children) == 0 {
		delete(n.parent.children, n.part)
		t.nodes--
		n = n.parent
	}
}

// enter counts the locks of a job that begins its turn.
func (t *lockTable) enter(e *entry) {
	h := e.holder()
	e.nodes = make([]*lockNode, len(e.traits.Locks))
	for i, l := range e.traits.Locks {
		e.nodes[i] = t.find(l.Name)
		e.nodes[i].add(l.Write, h, 1)
	}
}

func (e *entry) holder() holder {
	if e.traits.Safe {
		return heldSafe
	}
	return heldUnsafe
}

// leave counts the locks of a job, as those of a holder, out.
func (t *lockTable) leave(e *entry, h holder) {
	for i, l := range e.traits.Locks {
		n := e.nodes[i]
		n.add(l.Write, h, -1)
		if n.here[heldEffects] == [2]int32{} {
			n.done = [2][]*entry{}
		}
		t.prune(n)
	}
}

// claim counts the locks of a complete job until its effects are applied.
func (t *lockTable) claim(e *entry) {
	e.claims = true
	for i, l := range e.traits.Locks {
		n, k := e.nodes[i], kind(l.Write)
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

// claimed returns the jobs whose claims have a conflict with a lock, and releases
// them.
func (t *lockTable) claimed(l Lock) []*entry {
	var found []*entry
	n := t.root
	for part, rest, ok := nextPart(trim(l.Name)); ok && n != nil; part, rest, ok = nextPart(rest) {
		found = n.takeHere(l.Write, found)
		n = n.children[part]
	}
	if n != nil {
		found = n.takeWithin(l.Write, found)
	}
	// Only now: it may let go of nodes.
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
