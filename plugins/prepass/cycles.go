package prepass

// cycles tells the nodes of a graph apart that lie on cycles, while it is walked
// depth first: see Tarjan, "Depth-first search and linear graph algorithms", 1972.
type cycles struct {
	count uint32
	// order is the number under which a node was entered, from 1, and low the
	// lowest of those that it is known to lead back to.
	order, low []uint32
	// waiting are the nodes whose group is not complete, in order of entry.
	waiting   []int
	completed []bool
	// again says that a node was led back to.
	again []bool
}

func newCycles(nodes int) cycles {
	return cycles{
		order: make([]uint32, nodes), low: make([]uint32, nodes),
		completed: make([]bool, nodes), again: make([]bool, nodes),
	}
}

// enter begins the visit of a node.
func (c *cycles) enter(node int) {
	c.count++
	c.order[node], c.low[node] = c.count, c.count
	c.waiting = append(c.waiting, node)
}

// follow notes that a node leads to another, which was entered before.
func (c *cycles) follow(from, to int) {
	if c.completed[to] {
		return
	}
	c.low[from] = min(c.low[from], c.low[to])
	c.again[to] = c.again[to] || c.order[to] <= c.order[from]
}

// onCycle says whether a node lies on a cycle, once all it leads to was followed.
func (c *cycles) onCycle(node int) bool { return c.again[node] || c.low[node] < c.order[node] }

// complete ends the visit of a node, and returns those whose group is complete with
// it: all that lie on cycles with it, and itself.
func (c *cycles) complete(node int) []int {
	if c.low[node] < c.order[node] {
		return nil
	}
	at := len(c.waiting) - 1
	for c.waiting[at] != node {
		at--
	}
	group := c.waiting[at:]
	c.waiting = c.waiting[:at]
	for _, n := range group {
		c.completed[n] = true
	}
	return group
}
