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
	// folder is the node above the one that was found last, and folderName its name:
	// names that are locked one after the other mostly lie in one folder.
	folder     *lockNode
	folderName string
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
	users        int32 // jobs' locks that need the node
	// done are the jobs that here counts as heldEffects, with others among them
	// whose effects are applied by now.
	done [2][]*entry
}

// spareNodes is how many nodes stay without a user: names that are locked over and
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

// trim takes off one slash before a name and those after it, which do not count, so
// that "/" and "" are the name of all.
func trim(name string) string {
	return strings.TrimRight(strings.TrimPrefix(name, "/"), "/")
}

// conflict reports whether the locks of a job have a conflict with those of the first
// so many holders.
func (t *lockTable) conflict(e *entry, among holder) bool {
	for i, n := range t.resolve(e) {
		if n.conflicts(e.traits.Locks[i].Write, among) {
			return true
		}
	}
	return false
}

func (n *lockNode) conflicts(write bool, among holder) bool {
	if n.within.conflicts(write, among) {
		return true
	}
	for n = n.parent; n != nil; n = n.parent {
		if n.here.conflicts(write, among) {
			return true
		}
	}
	return false
}

// covers reports whether a lock of the name asks for nothing that one of h, of it or
// above it, does not have.
func (n *lockNode) covers(write bool, h holder) bool {
	for ; n != nil; n = n.parent {
		if n.here[h][1] > 0 || !write && n.here[h][0] > 0 {
			return true
		}
	}
	return false
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
	return !slices.ContainsFunc(locks, func(l Lock) bool { return !t.find(l.Name).covers(l.Write, heldUnsafe) })
}

// find returns the node of a name, which it makes if need be.
func (t *lockTable) find(name string) *lockNode {
	if t.root == nil {
		t.root = new(lockNode)
	}
	name = trim(name)
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return t.below(t.root, name)
	}
	if t.folder != nil && t.folderName == name[:slash] {
		return t.below(t.folder, name[slash+1:])
	}
	n := t.below(t.root, name)
	t.folder, t.folderName = n.parent, name[:slash]
	return n
}

// below returns the node of a name that is relative to another node.
func (t *lockTable) below(n *lockNode, name string) *lockNode {
	for name != "" {
		part, rest, _ := strings.Cut(name, "/")
		child := n.children[part]
		if child == nil {
			child = &lockNode{parent: n, part: part}
			if n.children == nil {
				n.children = make(map[string]*lockNode)
			}
			n.children[part] = child
			t.nodes++
		}
		n, name = child, rest
	}
	return n
}

// add counts a lock of the node in, or out again.
func (n *lockNode) add(write bool, h holder, by int32) {
	k := kind(write)
	n.here[h][k] += by
	for ; n != nil; n = n.parent {
		n.within[h][k] += by
	}
}

// resolve returns the nodes of a job's locks. It looks for them once: until the job
// has begun and ended its turn, or they are forgotten, they stay.
func (t *lockTable) resolve(e *entry) []*lockNode {
	if e.nodes != nil {
		return e.nodes
	}
	e.nodes = slices.Grow(e.node[:0], len(e.traits.Locks))
	for _, l := range e.traits.Locks {
		n := t.find(l.Name)
		n.users++
		e.nodes = append(e.nodes, n)
	}
	return e.nodes
}

// forget undoes resolve for a job that does not begin, or not with these locks.
func (t *lockTable) forget(e *entry) {
	for _, n := range e.nodes {
		t.drop(n)
	}
	e.nodes = nil
}

// drop ends one use of a node, and lets go of it if it has no other, and of those
// above it.
func (t *lockTable) drop(n *lockNode) {
	n.users--
	for t.nodes > spareNodes && n.parent != nil && n.users == 0 && len(n.children) == 0 {
		delete(n.parent.children, n.part)
		if n == t.folder {
			t.folder = nil
		}
		t.nodes--
		n = n.parent
	}
}

// enter counts the locks of a job that begins its turn.
func (t *lockTable) enter(e *entry) {
	for i, n := range t.resolve(e) {
		n.add(e.traits.Locks[i].Write, e.holder(), 1)
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
	for i, n := range e.nodes {
		n.add(e.traits.Locks[i].Write, h, -1)
		if h == heldEffects && n.here[h] == [2]int32{} {
			n.done = [2][]*entry{}
		}
		t.drop(n)
	}
}
