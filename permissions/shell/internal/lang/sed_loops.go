package lang

// sedMayLoop reports whether a script may go round for ever within one cycle.
//
// It looks for a way round in the graph of the commands, out of which everything
// is left that cannot go on for ever: N and n take a line of input or end the
// script, and D, which starts again without a new line, makes the line shorter
// if nothing in the script makes it longer.
func sedMayLoop(commands []sedCommand) bool {
	graph := sedGraph{commands: commands, labels: map[string]int{}, state: make([]sedState, len(commands)+1)}
	for at, c := range commands {
		switch c.name {
		case ':':
			if _, taken := graph.labels[c.label]; taken {
				return true
			}
			graph.labels[c.label] = at
		case 's':
			graph.grows = graph.grows || c.grows
		case 'g', 'G', 'x':
			graph.grows = true
		}
	}
	return graph.cyclic()
}

type sedGraph struct {
	commands []sedCommand
	labels   map[string]int
	grows    bool
	state    []sedState
}

type sedState byte

const (
	sedNew sedState = iota
	sedOpen
	sedDone
)

// cyclic reports whether there is a way round anywhere: behind an N every
// command may be the next.
func (g *sedGraph) cyclic() bool {
	for at := range g.commands {
		if g.state[at] == sedNew && g.cyclicFrom(at) {
			return true
		}
	}
	return false
}

// cyclicFrom walks depth first, without recursion: a script may hold thousands
// of commands.
func (g *sedGraph) cyclicFrom(start int) bool {
	type frame struct{ at, edge int }
	stack := []frame{{at: start}}
	g.state[start] = sedOpen
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		next := g.next(top.at)
		if top.edge == len(next) {
			g.state[top.at] = sedDone
			stack = stack[:len(stack)-1]
			continue
		}
		to := next[top.edge]
		top.edge++
		switch g.state[to] {
		case sedOpen:
			return true
		case sedNew:
			g.state[to] = sedOpen
			stack = append(stack, frame{at: to})
		}
	}
	return false
}

// next returns where the script may go on behind a command without having taken
// a line of input. The place behind the last command is the end of the cycle.
func (g *sedGraph) next(at int) []int {
	if at == len(g.commands) {
		return nil
	}
	c := g.commands[at]
	var next []int
	switch c.name {
	case 'N', 'n', 'd', 'q', 'Q':
	case 'D':
		if g.grows {
			next = append(next, 0)
		}
	case 'b':
		next = append(next, g.target(c))
	case 't', 'T':
		next = append(next, g.target(c), at+1)
	default:
		next = append(next, at+1)
	}
	if !c.addressed {
		return next
	}
	if c.name == '{' {
		return append(next, c.end)
	}
	return append(next, at+1)
}

// target is where a branch goes: to its label, or to the end of the cycle. A
// label that is missing makes sed refuse the script.
func (g *sedGraph) target(c sedCommand) int {
	if at, ok := g.labels[c.label]; ok {
		return at
	}
	return len(g.commands)
}
