package host

import (
	"context"
)

// maxDepth is how many calls may be above one that a call makes.
const maxDepth = 8

// callKey is the context key under which what runs in a call finds it. It carries
// no authority: what is found takes part in the call's turn, and is judged like any
// other call.
type callKey struct{}

// nesting is a turn's place under the call that made it.
type nesting struct {
	// above is the call whose context the turn was made with; nil for a model's.
	above *call
	// within is the nearest call of the same session among that one and those above
	// it, of which the turn is a part. That call waits for the turn, so the turn
	// cannot wait for the session's.
	within *call
	// depth is how many calls are above.
	depth int
}

// nestingOf finds the running call that a turn of s is made by, if it is.
func nestingOf(ctx context.Context, s *Session) nesting {
	above, _ := ctx.Value(callKey{}).(*call)
	if above == nil || !above.work.Enter() {
		return nesting{}
	}
	n := nesting{above: above, depth: above.turn.depth + 1}
	for c := above; c != nil && n.within == nil; c = c.turn.above {
		if c.turn.session == s {
			n.within = c
		}
	}
	return n
}

// leaveCall says to the call above that the turn is over.
func (n *nesting) leaveCall() {
	if n.above != nil {
		n.above.work.Leave()
	}
}

// lending does something that takes as long as the turn, while the call above lends
// its slot: else the turns of a pool could wait for one another.
func (n *nesting) lending(do func()) {
	if n.above == nil {
		do()
		return
	}
	n.above.lend(do)
}

// outermost is the turn that this one is part of in the end.
func (t *openTurn) outermost() *openTurn {
	for t.within != nil {
		t = t.within.turn
	}
	return t
}
