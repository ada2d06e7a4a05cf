package prepass

import (
	"bytes"
	"math"
)

const (
	// freeCall is the weight up to which a function without loops charges
	// nothing itself: its callers carry it, whether or not they get as far as to
	// call it. Charging costs a call about a nanosecond. Where more is carried,
	// loops pay for calls on paths that they seldom take, and come back for more
	// the sooner.
	freeCall = 30
	// freeStack is the frame size up to which a function, with all that it calls
	// and that does not pay, takes nothing from the stack budget: its callers
	// carry it.
	freeStack = 16 << 10
)

// plan says for each declared function what it pays.
type plan struct {
	// free is the fuel weight of a function that charges nothing itself, or 0.
	free []uint32
	// frame is what a function takes out of the stack budget, or 0.
	frame []uint32
	// frames says whether any function does.
	frames bool
	// advance is what a function with loops pays for them at a time, or 0 where
	// they pay for each turn.
	advance []uint32
	// oneLoop says that a function is all one loop, which pays for what little is
	// around it as well.
	oneLoop []bool
}

// graph is the call graph of the declared functions. Behind them there is one
// node for each type that call_indirect asks for, and last one for the host,
// which lead to all functions that may be meant.
type graph struct {
	m *module
	plan

	n         int // functions
	canonical []uint32
	members   [][]uint32 // of the nodes that are no functions
	foreign   bool       // what a table holds may be another module's

	state []uint8  // of each node
	must  []bool   // functions that have to pay
	cost  []uint32 // stack that a node takes and does not pay for
	cycles
	// holders is the most functions that may be under way at once, in a node and
	// below it, and hold fuel that they paid for in advance.
	holders []uint32
}

const (
	unseen = iota
	open
	done
)

// newPlan walks the call graph.
//
// Leaving out all functions that an edge leads back to in a walk depth first,
// what is left has no cycle: making these pay bounds all recursion, and what
// others take can be added up along the way.
func (m *module) newPlan() plan {
	g := &graph{m: m, n: len(m.code.bodies)}
	g.free = make([]uint32, g.n)
	g.frame = make([]uint32, g.n)
	g.must = make([]bool, g.n)
	g.gather()
	g.state = make([]uint8, g.n+len(g.members))
	g.cost = make([]uint32, g.n+len(g.members))
	g.cycles = newCycles(len(g.state))
	g.holders = make([]uint32, len(g.state))
	g.advance = make([]uint32, g.n)
	g.oneLoop = make([]bool, g.n)
	for node := range g.state {
		if g.state[node] == unseen {
			g.walk(node)
		}
	}
	return g.plan
}

// gather finds what calls to unknown functions may lead to.
func (g *graph) gather() {
	m := g.m
	g.canonical = canonicalTypes(m.types)
	g.members = make([][]uint32, len(m.types)+1)
	g.foreign = m.importedTables > 0
	for _, e := range m.exports {
		g.foreign = g.foreign || e.kind == kindTable
	}
	for i := m.imported; i < len(m.funcs); i++ {
		exported := m.exported != nil && m.exported[i]
		if exported {
			g.members[len(m.types)] = append(g.members[len(m.types)], uint32(i-m.imported))
		}
		if (m.reachable != nil && m.reachable[i]) || (exported && g.foreign) {
			t := g.canonical[m.funcs[i]]
			g.members[t] = append(g.members[t], uint32(i-m.imported))
		}
	}
}

// canonicalTypes gives equal types the same number.
func canonicalTypes(types []funcType) []uint32 {
	first := make(map[string]uint32, len(types))
	c := make([]uint32, len(types))
	for i, t := range types {
		key := string(t.params) + ">" + string(t.results)
		if _, ok := first[key]; !ok {
			first[key] = uint32(i)
		}
		c[i] = first[key]
	}
	return c
}

// visit is a node on the way of the walk and the next of its edges.
type visit struct{ node, next int }

// walk visits everything that can be reached from root.
func (g *graph) walk(root int) {
	path := []visit{{root, 0}}
	g.arrive(root)
	for len(path) > 0 {
		v := &path[len(path)-1]
		to, ok := g.edge(v.node, v.next)
		if !ok {
			g.leave(v.node)
			g.depart(v.node)
			path = path[:len(path)-1]
			if len(path) > 0 {
				g.follow(path[len(path)-1].node, v.node)
			}
			continue
		}
		v.next++
		switch {
		case to < 0:
		case g.state[to] == unseen:
			path = append(path, visit{to, 0})
			g.arrive(to)
		default:
			if g.state[to] == open {
				g.cycle(v.node, to)
			}
			g.follow(v.node, to)
		}
	}
}

func (g *graph) arrive(node int) {
	g.state[node] = open
	g.enter(node)
}

// depart ends the visit of a node. Whatever leads to one of the nodes on its cycles
// may lead to all of them.
func (g *graph) depart(node int) {
	g.state[node] = done
	group := g.complete(node)
	var most uint32
	for _, n := range group {
		most = max(most, g.holders[n])
	}
	for _, n := range group {
		g.holders[n] = most
	}
}

// cycle makes a function on a cycle pay that is closed by the edge.
func (g *graph) cycle(from, to int) {
	switch {
	case to < g.n:
		g.must[to] = true
	case from < g.n:
		g.must[from] = true
	default:
		for _, f := range g.members[to-g.n] {
			g.must[f] = true
		}
	}
}

// runs are the parts of the lists of [code] that belong to a body.
func (c *code) runs(f int) (edits []edit, chunks []chunk, calls []callSite, indirects []uint32) {
	b := &c.bodies[f]
	var a body
	if f > 0 {
		a = c.bodies[f-1]
	}
	return c.edits[a.edits:b.edits], c.chunks[a.chunks:b.chunks], c.calls[a.calls:b.calls], c.indirects[a.indirects:b.indirects]
}

// edge returns the i-th edge of a node; a negative one leads nowhere.
func (g *graph) edge(node, i int) (to int, ok bool) {
	host := g.n + len(g.m.types)
	if node >= g.n {
		members := g.members[node-g.n]
		if i < len(members) {
			return int(members[i]), true
		}
		if i == len(members) && node != host && g.foreign {
			return host, true
		}
		return 0, false
	}
	_, _, calls, indirects := g.m.code.runs(node)
	if i < len(calls) {
		return int(calls[i].callee) - g.m.imported, true
	}
	i -= len(calls)
	if i < len(indirects) {
		return g.n + int(g.canonical[indirects[i]]), true
	}
	if i == len(indirects) && g.m.opts.Reentrant && g.m.code.bodies[node].host {
		return host, true
	}
	return 0, false
}

// leave settles what a node pays, after all that it leads to.
func (g *graph) leave(node int) {
	below := g.below(node)
	if node >= g.n {
		g.cost[node] = below
		return
	}
	g.fuel(node)
	if g.m.code.bodies[node].loops {
		g.inAdvance(node)
	}
	frame := g.m.frameSize(node)
	total := addSat(frame, below)
	if g.must[node] || total > freeStack {
		g.frame[node] = min(total, math.MaxInt32)
		g.frames = true
		return
	}
	g.cost[node] = total
}

// inAdvance settles what a function with loops pays for them in advance.
//
// Functions that are all one loop pay nothing: standard Go makes such functions,
// which go to the head of the loop when they are called, and mostly only then. Nor
// do those on a cycle of calls: what each of their frames had in hand, a recursion
// could hoard. Of all others only so many are under way at once.
func (g *graph) inAdvance(node int) {
	g.oneLoop[node] = g.isOneLoop(node)
	if g.oneLoop[node] || g.onCycle(node) {
		return
	}
	g.holders[node]++
	g.advance[node] = min(loopAdvance, hoard/g.holders[node])
}

// isOneLoop says whether a function goes straight to its only loop, outside of
// which it does next to nothing.
func (g *graph) isOneLoop(node int) bool {
	edits, chunks, _, _ := g.m.code.runs(node)
	first := edits[0].arg
	for i, c := range chunks[1:] {
		if c.head == first || (i > 0 && c.head == first+1+uint32(i)) {
			return false
		}
	}
	return g.m.code.bodies[node].prompt && chunks[0].weight <= freeCall && chunks[1].blockType > 0
}

// below returns the most stack that what a node leads to takes without paying, and
// notes how many hold fuel there.
func (g *graph) below(node int) (stack uint32) {
	for i := 0; ; i++ {
		to, ok := g.edge(node, i)
		if !ok {
			return stack
		}
		if to < 0 {
			continue
		}
		cost := g.cost[to]
		if g.state[to] == open && to >= g.n {
			cost = freeStack
		}
		stack = max(stack, cost)
		g.holders[node] = max(g.holders[node], g.holders[to])
	}
}

// fuel adds the weights of callees that do not pay to the chunks that call them,
// and finds out whether the function has to pay itself.
func (g *graph) fuel(node int) {
	m := g.m
	edits, chunks, calls, _ := m.code.runs(node)
	for _, c := range calls {
		w := g.free[int(c.callee)-m.imported]
		m.code.chunks[c.chunk].weight = addSat(m.code.chunks[c.chunk].weight, w)
	}
	var total uint32
	first := edits[0].arg
	for i, c := range chunks {
		total = addSat(total, c.weight)
		if head := &m.code.chunks[c.head]; c.head != first+uint32(i) {
			head.extra = max(head.extra, c.weight)
		}
	}
	if !g.must[node] && !m.code.bodies[node].loops && total <= freeCall {
		g.free[node] = total
	}
}

// frameSize estimates the native stack frame of a function from above: what a
// frame always has, and a slot for every value that the function is given, makes,
// joins and passes on. wazero gives every value that does not stay in a register
// a slot of its own.
func (m *module) frameSize(f int) uint32 {
	b, t := &m.code.bodies[f], &m.types[m.funcs[m.imported+f]]
	slots := b.values + b.sets + b.joins + b.args + len(t.params) + len(t.results)
	size := 8
	if b.vectors || t.hasVectors() {
		size = 16
	}
	return uint32(min(96+uint64(size)*uint64(slots), math.MaxInt32))
}

// hasVectors reports whether a parameter or result is a vector.
func (t *funcType) hasVectors() bool {
	return bytes.IndexByte(t.params, typeV128) >= 0 || bytes.IndexByte(t.results, typeV128) >= 0
}

// addSat adds without running over.
func addSat(a, b uint32) uint32 {
	return uint32(min(uint64(a)+uint64(b), math.MaxInt32))
}
