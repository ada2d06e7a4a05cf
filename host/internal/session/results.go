package session

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/results"
)

// turnResults are the results of a turn's calls, in call order.
type turnResults struct {
	// ids are those that were claimed; nil where there is one call only.
	ids map[string]bool
	// list is the results that have left, and left what their calls tell, where somebody
	// listens.
	list []abi.ToolResult
	left []pipeline.Teller
	// fitted is what was done to the size of those that are not short; the slice ends with
	// the last such.
	fitted []*results.Fitted
}

// newTurnResults makes the results of at most so many calls; 0 is any number.
func newTurnResults(calls int) turnResults {
	r := turnResults{list: make([]abi.ToolResult, 0, calls)}
	if calls != 1 {
		r.ids = make(map[string]bool, calls)
	}
	return r
}

// Claim refuses ids that results could not be matched to.
func (r *turnResults) Claim(id string) error {
	if id == "" {
		return abi.Errorf(abi.CodeInvalidInput, "the call has no id; give every call of a message an id of its own")
	}
	if r.ids[id] {
		return abi.Errorf(abi.CodeInvalidInput, "another call of this message has the id %q too; this one was not run: give every call an id of its own", id)
	}
	if r.ids != nil {
		r.ids[id] = true
	}
	return nil
}

// keep takes a result that leaves, for [turnResults.fit].
func (r *turnResults) keep(l pipeline.Leaving) {
	if l.Fitted != nil {
		for len(r.fitted) < len(r.list) {
			r.fitted = append(r.fitted, nil)
		}
		r.fitted = append(r.fitted, l.Fitted)
	}
	if l.Tell.Listens() {
		r.left = append(r.left, l.Tell)
	}
	r.list = append(r.list, *l.Result)
}

// fit holds the results of a turn of s to their budget together, when all of them have
// left. It returns the indices of the results that no longer show what they showed.
func (r *turnResults) fit(s *Session) (gone []int) {
	if len(r.fitted) == 0 {
		return nil
	}
	for _, replaced := range s.Storage.Results().Turn(r.list, r.fitted) {
		// A result may be replaced by a word about an earlier one that is the same, which
		// the model has. Where nothing can be kept it may have been cut.
		refers := replaced.Stored == nil && s.Host.tuned().Results.Duplicates && s.Storage.Dir() != ""
		if !refers {
			gone = append(gone, replaced.Index)
		}
		if len(r.left) == 0 {
			continue
		}
		r.left[replaced.Index].Replaced(r.list[replaced.Index], replaced.Stored)
	}
	return gone
}
