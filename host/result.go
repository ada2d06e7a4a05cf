package host

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/results"
)

// keep takes a result that leaves, for [openTurn.fit].
func (t *openTurn) keep(l pipeline.Leaving) {
	if l.Fitted != nil {
		for len(t.fitted) < len(t.results) {
			t.fitted = append(t.fitted, nil)
		}
		t.fitted = append(t.fitted, l.Fitted)
	}
	if t.told() {
		t.left = append(t.left, tellingOf(l.Tell))
	}
	t.results = append(t.results, *l.Result)
}

// fit holds the results of the turn to their budget together, when all of them have
// left. Those of a turn that a call of the session makes are for that call, and no
// model's affair. It returns the places of the results that do not show what they
// showed.
func (t *openTurn) fit() (gone []int) {
	if len(t.fitted) == 0 || t.within != nil {
		return nil
	}
	for _, replaced := range t.session.storage.Results().Turn(t.results, t.fitted) {
		if !t.session.refers(&replaced) {
			gone = append(gone, replaced.Index)
		}
		if !t.told() {
			continue
		}
		l, result := t.left[replaced.Index], t.results[replaced.Index]
		l.event(Event{Kind: EventReplaced, Result: &result, Stored: replaced.Stored, Elapsed: l.elapsed()})
	}
	return gone
}

// refers reports whether a result was replaced by a word about an earlier one that is
// the same, which the model has. Where nothing can be kept it may have been cut.
func (s *Session) refers(r *results.Replacement) bool {
	return r.Stored == nil && s.host.options.Results.Duplicates && s.storage.Dir() != ""
}

// Fit holds the results of one turn, in call order, to what a model is to be sent of
// them (see [results.Options]), and returns them as they are to be sent: what was
// replaced before is replaced the same way, whoever asks and whenever. It is for
// those who keep results as they left ([EventResult]) and put together anew what
// they send; what [Session.Results] returns has gone through it.
func (s *Session) Fit(rs []abi.ToolResult) []abi.ToolResult {
	rs = slices.Clone(rs)
	s.storage.Results().Turn(rs, nil)
	return rs
}
