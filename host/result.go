package host

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

// fit holds the call's result to its tool's limit. What is added to the result
// afterwards is for [call.noted].
func (c *call) fit(r *abi.ToolResult) {
	of := results.Call{Tool: c.name(), Title: c.title}
	if c.tool != nil {
		contract := c.tool.Contract()
		if n := contract.MaxResultChars; n != abi.DefaultMaxResultChars { // that is what manifests have that say nothing
			of.MaxChars = n
		}
		// A plugin's word is not enough to be unlimited: what is built in bounds itself.
		of.Unlimited = contract.Unlimited && c.tool.Source().Trusted
	}
	answered := r.Content
	c.fitted = c.session().storage.Results().Fit(of, r)
	if c.fitted != nil {
		c.files.Answered(r.Content, answered)
	}
	if c.fitted != nil && c.fitted.Stored != nil {
		c.tell.event(Event{Kind: EventPersisted, Stored: c.fitted.Stored, Elapsed: c.tell.elapsed()})
	}
}

// noted says how many blocks of the result were added behind what the tool answered:
// they are for the model, whatever becomes of the rest.
func (c *call) noted(n int) {
	if c.fitted != nil {
		c.fitted.Notes = n
	}
}

// keep takes a result that leaves, for [openTurn.fit].
func (t *openTurn) keep(c *call) {
	if c.fitted != nil {
		for len(t.fitted) < len(t.results) {
			t.fitted = append(t.fitted, nil)
		}
		t.fitted = append(t.fitted, c.fitted)
	}
	if t.told() {
		t.left = append(t.left, c)
	}
	t.results = append(t.results, c.result)
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
		c, result := t.left[replaced.Index], t.results[replaced.Index]
		c.tell.event(Event{Kind: EventReplaced, Result: &result, Stored: replaced.Stored, Elapsed: c.tell.elapsed()})
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

// encodeJSON encodes without escaping for HTML, which models read badly.
func encodeJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
