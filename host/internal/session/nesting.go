package session

import (
	"cmp"
	"context"

	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/traits"
	"github.com/toolquay/toolquay/permissions"
)

// nesting is a turn's place under the call that made it.
type nesting struct {
	// above is the call whose context the turn was made with; nil for a model's.
	above *pipeline.Call
	// within is the nearest call of the same session among that one and those above
	// it, of which the turn is a part. That call waits for the turn, so the turn
	// cannot wait for the session's.
	within *pipeline.Call
	caller permissions.Caller
}

// nestingOf finds the running call that a turn of s is made by, if it is.
func nestingOf(ctx context.Context, s *Session) nesting {
	n := nesting{caller: s.caller}
	above := pipeline.Running(ctx)
	if above == nil || !above.Work().Enter() {
		n.caller.Chain = cmp.Or(n.caller.Chain, s.Calls.ID)
		return n
	}
	from := above.Turn().Caller()
	n.above, n.caller.Parent, n.caller.Depth = above, above.ID(), max(from.Depth+1, n.caller.Depth)
	n.caller.Chain = cmp.Or(n.caller.Chain, from.Chain)
	for c := above; c != nil && n.within == nil; c = turnOf(c).above {
		if turnOf(c).session == s {
			n.within = c
		}
	}
	return n
}

// ByModel reports whether the turn's calls are the model's own.
func (n *nesting) ByModel() bool { return n.within == nil }

// Above are the calls of the session that the turn is made by, the nearest first.
func (n *nesting) Above() []traits.Held {
	var above []traits.Held
	for c := n.within; c != nil; c = turnOf(c).within {
		above = append(above, c.Held())
	}
	return above
}

// Caller says who makes the turn's calls.
func (n *nesting) Caller() permissions.Caller { return n.caller }

// leaveCall says to the call above that the turn is over.
func (n *nesting) leaveCall() {
	if n.above != nil {
		n.above.Work().Leave()
	}
}

// lending does something that takes as long as the turn, while the call above lends
// its slot: else the turns of a pool could wait for one another.
func (n *nesting) lending(do func()) {
	if n.above == nil {
		do()
		return
	}
	n.above.Lend(do)
}

// outermost is the turn that t is part of in the end.
func outermost(t *Turn) *Turn {
	for t.within != nil {
		t = turnOf(t.within)
	}
	return t
}

// turnOf is the turn of a call.
func turnOf(c *pipeline.Call) *Turn {
	t, _ := c.Turn().(*Turn) // there are no others
	return t
}
