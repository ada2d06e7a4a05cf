package display

import (
	"encoding/json"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// Bounds of what is shown, in code points.
const (
	maxLine  = 240
	maxValue = 120
)

// Call is a call as it is shown. It does not change: a call whose input is rewritten gets
// another one. A nil one is a call of which nothing is known. It is safe for concurrent use.
type Call struct {
	// Tool is the tool's contract.
	Tool *abi.Tool
	// Said is what the guest says of this call.
	Said abi.Assessment
	// Title is shown where no template says what the call does.
	Title string
	// Fields decodes the input.
	Fields func() (map[string]json.RawMessage, error)
	// Cwd is the working directory; paths below it are shown from there.
	Cwd string
}

// Queued is the line of a call that waits for its turn.
func (c *Call) Queued() string {
	if c == nil {
		return ""
	}
	if line := c.render(abi.LineQueued, values{}); line != "" {
		return line
	}
	return c.Use()
}

// Use is the line that says what the call does.
func (c *Call) Use() string {
	if c == nil {
		return ""
	}
	if c.said(abi.LineUse) == "" && c.Said.Rendering != "" {
		return bounded(oneLine(c.Said.Rendering, maxLine))
	}
	if line := c.render(abi.LineUse, values{}); line != "" {
		return line
	}
	return bounded(oneLine(c.Title, maxLine))
}

// Output is what a call has put out so far: the end of it, and how much it is.
type Output struct {
	Tail         string
	Lines, Bytes int64
}

// Progress is the line of a report.
func (c *Call) Progress(p *abi.Progress, o Output) string {
	last := lastLine(o.Tail)
	if c != nil {
		v := values{own: map[string]value{
			abi.NameMessage: textValue(p.Message), abi.NameDone: numberValue(p.Done), abi.NameTotal: numberValue(p.Total),
			abi.NameLines: numberValue(float64(o.Lines)), abi.NameBytes: numberValue(float64(o.Bytes)), abi.NameTail: textValue(last),
		}}
		if line := c.render(abi.LineProgress, v); line != "" {
			return line
		}
	}
	if line := bounded(oneLine(p.Message, maxLine)); line != "" {
		return line
	}
	return bounded(oneLine(last, maxLine))
}

// lastLine is the last line of an output that holds something. Of a line that is written over
// and over it is what stands there now.
func lastLine(output string) string {
	output = strings.TrimRight(output, " \t\r\n")
	return strings.TrimSpace(output[strings.LastIndexAny(output, "\r\n")+1:])
}

// Ended is the line of the call's result: what came of it, or why nothing did.
func (c *Call) Ended(r *abi.ToolResult) string {
	switch {
	case c == nil && !r.IsError:
		return ""
	case c == nil:
		return bounded(oneLine(reasonOf(r), maxLine))
	case !r.IsError:
		return c.render(abi.LineResult, values{result: r.Structured, own: map[string]value{
			abi.NameText: textValue(firstLine(r)),
		}})
	}
	return c.failed(r)
}

// failed is the line of a result that is an error.
func (c *Call) failed(r *abi.ToolResult) string {
	kind := abi.LineError
	if rejected(r) {
		kind = abi.LineRejection
	}
	reason := reasonOf(r)
	own := map[string]value{abi.NameError: textValue(reason)}
	if r.Error != nil {
		own[abi.NameCode] = textValue(string(r.Error.Code))
	}
	if line := c.render(kind, values{result: r.Structured, own: own}); line != "" {
		return line
	}
	return bounded(oneLine(reason, maxLine))
}

// Classifier is what a judge is shown of the input, word for word, and "" where that is all
// of it.
func (c *Call) Classifier() string {
	if c == nil {
		return ""
	}
	if c.Said.ClassifierText != "" {
		return c.Said.ClassifierText
	}
	t, err := parsed(c.Tool.ClassifierText)
	if err != nil || len(t.Pieces) == 0 {
		return ""
	}
	return c.filling(abi.LineUse, values{whole: true}).text(t.Pieces)
}

// rejected reports whether a call was not allowed to run, or was ended from outside.
func rejected(r *abi.ToolResult) bool {
	if r.Error == nil {
		return false
	}
	switch r.Error.Code {
	case abi.CodeDenied, abi.CodeNeedsApproval, abi.CodeNotGranted, abi.CodeCancelled, abi.CodeInterrupted:
		return true
	}
	return false
}

// reasonOf is what the model is told of a call that did not end well.
func reasonOf(r *abi.ToolResult) string {
	if r.Error != nil {
		return r.Error.Error()
	}
	text := strings.TrimSpace(r.Text())
	if inner, ok := strings.CutPrefix(text, "<tool_use_error>"); ok {
		text = strings.TrimSuffix(inner, "</tool_use_error>")
	}
	return text
}

// firstLine is the first line of a result's text that is not blank, as far as it may be
// shown.
func firstLine(r *abi.ToolResult) string {
	for i := range r.Content {
		text := r.Content[i].Text
		if s := r.Content[i].Spilled; s != nil {
			text = s.Head
		}
		text = strings.TrimLeft(text[:min(len(text), maxRaw)], " \t\r\n")
		if text != "" {
			line, _, _ := strings.Cut(text, "\n")
			return line
		}
	}
	return ""
}

// said is the guest's template of a kind.
func (c *Call) said(kind abi.LineKind) string {
	if c.Said.Lines == nil {
		return ""
	}
	return c.Said.Lines.Line(kind)
}

// template is the template of a kind: the guest's, or else the manifest's.
func (c *Call) template(kind abi.LineKind) string {
	if text := c.said(kind); text != "" {
		return text
	}
	return c.Tool.Lines.Line(kind)
}

// render fills the template of a kind in, if there is one. Where the guest's does not parse
// the manifest's counts.
func (c *Call) render(kind abi.LineKind, v values) string {
	t, err := parsed(c.template(kind))
	if err != nil {
		t, err = parsed(c.Tool.Lines.Line(kind))
	}
	if err != nil || len(t.Pieces) == 0 {
		return ""
	}
	return bounded(collapsed(c.filling(kind, v).text(t.Pieces)))
}

func (c *Call) filling(kind abi.LineKind, v values) *filling {
	return &filling{call: c, kind: kind, values: v}
}

// bounded makes a text of one line safe to show, and cuts it.
func bounded(text string) string { return cut(visible.Line(text), maxLine) }
