package host

import "github.com/toolquay/toolquay/host/internal/pipeline"

// stop has nothing more of a turn begin, nor of those that it is part of, as one of its
// calls tells. What a person is asked about that has not begun is not asked any more.
func stop(t *openTurn, tell pipeline.Teller, reason string) {
	if outermost(t).stopped.CompareAndSwap(nil, &reason) {
		tellingOf(tell).event(Event{Kind: EventStop, Reason: reason})
		t.session.rules.Recheck()
	}
}
