package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/scheduler"
)

// finishing makes the one result of a call out of what came of it.
type finishing struct{ *core }

// refuse ends the call with an error of the pipeline's, for the model.
func (c finishing) refuse(err error) { c.end(failed(err)) }

// failed is the result of a call that could not run to its end.
func failed(err error) abi.ToolResult {
	var known *abi.Error
	if !errors.As(err, &known) {
		known = &abi.Error{Code: abi.CodeInternal, Message: err.Error(), Err: err}
	}
	// The message is the whole chain's; the code is the nearest one's.
	text := strings.ReplaceAll(err.Error(), "</tool_use_error", `<\/tool_use_error`)
	return abi.ToolResult{
		Content: []abi.Block{abi.TextBlock("<tool_use_error>" + text + "</tool_use_error>")},
		IsError: true,
		Error:   &abi.Error{Code: known.Code, Message: err.Error(), Err: err},
	}
}

// end gives the call its one result. The first one stands.
func (c finishing) end(r abi.ToolResult) {
	if c.ended {
		return
	}
	c.ended = true
	r.ToolUseID = c.use.ID
	c.consultation.Cancel()
	if c.tool != nil {
		c.withhold(&r)
		r.Content = c.turn.Catalog().Refer(r.Content)
	}
	c.fit(&r)
	answered := len(r.Content)
	c.refuseChanges(&r)
	c.addOutdated(&r)
	c.addNotes(&r) // behind a result that was cut, too
	c.remarks.add(&r)
	c.noted(len(r.Content) - answered)
	c.result = r
	c.tell.Finished(r, c.ran()) // Fail may have the last word
}

// addOutdated tells the model, after the result of a call that may have changed files,
// which of the files that it has read are out of date now.
func (c finishing) addOutdated(r *abi.ToolResult) {
	if !c.ran() || c.traits.ReadOnly { // what changed during a read is not its doing
		return
	}
	if hint := c.files.OutdatedHint(); hint != "" {
		r.Content = append(slices.Clip(r.Content), abi.TextBlock(hint))
	}
}

// addTasks tells the model, once, of background tasks that have ended and of what it should know
// of its session, behind a result
// that leaves now: with one that was made and is not sent they would be lost. Results of
// calls that a call makes are no model's.
func (c finishing) addTasks() {
	if !c.turn.ByModel() {
		return
	}
	notice := c.session().Storage.Notice()
	if first := c.session().Notice.Swap(nil); first != nil {
		notice = strings.TrimSpace(*first + "\n" + notice)
	}
	if notice == "" {
		return
	}
	c.result.Content = append(slices.Clip(c.result.Content), abi.TextBlock(notice))
	if c.fitted != nil {
		c.fitted.Notes++
	}
}

// withhold takes out of a result what its tool has no right to: words in the
// conversation that are not a tool's.
func (c finishing) withhold(r *abi.ToolResult) {
	if len(r.Messages) == 0 || c.tool.Source().Trusted {
		return
	}
	r.Messages = nil
	c.Warn("messages for the conversation were left out of the result: only built-in tools may add them")
}

// maxViolation bounds what is said of structured content that does not fit, in bytes.
const maxViolation = 500

// holdStructured takes structured content out of a result that does not fit its tool's output
// schema. Where there is nothing else the model gets it as text.
func (c finishing) holdStructured(r *abi.ToolResult) {
	if len(r.Structured) == 0 {
		return
	}
	accepted, err := c.tool.AcceptOutput(r.Structured)
	if err == nil {
		r.Structured = accepted
		return
	}
	if len(r.Content) == 0 {
		r.Content = []abi.Block{abi.TextBlock(string(r.Structured))}
	}
	r.Structured = nil
	fault := visible.Short(err.Error(), maxViolation)
	c.Logger().Warn("structured content breaks the output schema of its tool, and was left out", "plugin", c.tool.Source().Plugin, "fault", fault)
	c.Warn("the structured content was left out of the result, as it breaks the output schema of %s: %s", c.from(), fault)
	c.remark("[The structured content of this result was left out. It breaks the output schema of " + c.from() + ": " + fault + "]")
}

// from names the call's tool, and its plugin.
func (c finishing) from() string {
	if plugin := c.tool.Source().Plugin; plugin != "" {
		return c.name() + " (plugin " + plugin + ")"
	}
	return c.name()
}

// fit holds the call's result to its tool's limit. What is added to the result
// afterwards is for [finishing.noted].
func (c finishing) fit(r *abi.ToolResult) {
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
	c.fitted = c.session().Storage.Results().Fit(of, r)
	if c.fitted != nil {
		c.files.Answered(r.Content, answered)
	}
	if c.fitted != nil && c.fitted.Stored != nil {
		c.tell.Persisted(c.fitted.Stored)
	}
}

// noted says how many blocks of the result were added behind what the tool answered:
// they are for the model, whatever becomes of the rest.
func (c finishing) noted(n int) {
	if c.fitted != nil {
		c.fitted.Notes = n
	}
}

// addNotes puts what hooks want the model told behind what the tool said.
func (c finishing) addNotes(r *abi.ToolResult) {
	for _, text := range c.notes {
		doc, err := json.Marshal(text)
		if err != nil {
			continue
		}
		r.Content = append(slices.Clip(r.Content), abi.TextBlock("A hook says: "+string(doc)))
	}
	c.notes = nil
}

// HeldBy is about the memory that a result takes, in bytes.
func HeldBy(r *abi.ToolResult) int64 {
	n := len(r.Structured) + len(r.Meta)
	for i := range r.Content {
		b := &r.Content[i]
		n += len(b.Text) + len(b.Data)
		if b.Spilled != nil {
			n += len(b.Spilled.Head) + len(b.Spilled.Tail)
		}
	}
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return int64(n)
}

// reason says why a tool could not run to its end: what ended it from outside, or
// else what it says itself.
func (c finishing) reason(ctx context.Context, err error) error {
	if panicked, ok := errors.AsType[*scheduler.PanicError](err); ok {
		return c.panicked(panicked)
	}
	if ctx.Err() != nil {
		return c.ending(context.Cause(ctx), true)
	}
	return err
}

// scheduled is what the scheduler is told. What was ended from outside has not failed
// by itself, and cancels none of its siblings.
func (c finishing) scheduled(ctx context.Context) scheduler.Outcome {
	o := scheduler.Outcome{Failed: c.result.IsError && ctx.Err() == nil, Leftovers: c.work.End()}
	if o.Leftovers != nil {
		c.turn.NoteLeftovers()
	}
	if c.turn.Holds() {
		o.Held = HeldBy(&c.result)
	}
	return o
}

// panicked logs a panic, which is a defect of the host's, and says so.
func (c finishing) panicked(p *scheduler.PanicError) error {
	c.Logger().Error("a tool call panicked", "panic", p.Value, "stack", string(p.Stack))
	return abi.Errorf(abi.CodeInternal, "%s failed inside the host: %v", c.use.Name, p.Value)
}
