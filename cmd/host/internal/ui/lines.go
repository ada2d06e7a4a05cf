package ui

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// maxIndent bounds how far nested calls are set in.
const maxIndent = 8

func indent(depth int) string { return strings.Repeat("  ", max(0, min(depth, maxIndent))) }

// titled is a title behind a name.
func titled(title string) string {
	if title == "" {
		return ""
	}
	return " " + title
}

// print prints a line of pieces for good.
func (b *board) print(pieces ...piece) { b.above.add(paragraph{line: pieces}) }

// lead is what lines begin with: the state as a mark, or as a word in a column.
func (b *board) lead(s state, depth int) piece {
	if b.mark {
		return keeps(looks[s].style, indent(depth)+looks[s].mark+" ")
	}
	return keeps(looks[s].style, fmt.Sprintf("%-*s ", wordWidth, looks[s].word)+indent(depth))
}

// blank is as wide as lead.
func (b *board) blank() string {
	if b.mark {
		return "  "
	}
	return strings.Repeat(" ", wordWidth+1)
}

// printTree prints the line of a call that ended, and below it those of the calls
// that it made.
func (b *board) printTree(c *entry) {
	b.print(b.endLine(c)...)
	if c.state == failed {
		lines, _ := c.log.Lines()
		for _, line := range lines {
			b.print(keeps(Dim, b.blank()+indent(c.depth)+line))
		}
	}
	var run []*entry
	for _, in := range c.inner {
		switch {
		case in.phase != ended || !b.live: // has a line of its own
		case len(in.inner) == 0 && b.gathers(in):
			if !together(run, in) {
				b.printRun(run)
				run = nil
			}
			run = append(run, in)
		default:
			b.printRun(run)
			run = nil
			b.printTree(in)
		}
	}
	b.printRun(run)
}

// endLine is the line of a call that ended.
func (b *board) endLine(c *entry) []piece {
	line := []piece{
		b.lead(c.state, c.depth), keeps(Bold, c.tool), gives(Plain, titled(c.title)),
		keeps(Dim, "  "+Elapsed(c.elapsed)), spares(Dim, "  "+Bytes(c.bytes)),
	}
	if c.kept != "" {
		line = append(line, gives(Dim, "  kept in "+b.path(c.kept)))
	}
	if c.why != "" {
		line = append(line, gives(looks[c.state].style, "  "+c.why))
	}
	return line
}

// cancelledFor stands in what the model is told of a call that was cancelled, between
// the call's name and why.
const cancelledFor = " was cancelled before it ended: "

// reason is why a call failed: all of it in a file, in short where it is a line on
// a screen. Who interrupted needs no words that are for the model.
func (b *board) reason(c *entry, r *abi.ToolResult) string {
	text := Reason(r)
	switch {
	case !b.live:
		return Line(text)
	case c.state == interrupted && c.unbegun:
		return "interrupted before it began"
	case c.state == interrupted:
		return "interrupted"
	case c.state == cancelled && c.unbegun:
		if _, cause, ok := strings.Cut(text, cancelledFor); ok {
			text = "before it began: " + cause
		}
	}
	return safe(strings.Join(strings.Fields(clip(text, maxText)), " "))
}

// note prints something of a call that was printed before.
func (b *board) note(e *host.Event, style Style, text string) {
	b.flush()
	b.print(keeps(Dim, b.blank()+indent(e.Depth)+b.name(e.Tool)), gives(Dim, titled(e.Title)), gives(style, "  "+text))
}

// path is a path as far as it tells something: all sessions keep results alike.
func (b *board) path(path string) string {
	if b.verbose || !b.live {
		return path
	}
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// detail prints what happens inside a call, for those who want it.
func (b *board) detail(e *host.Event) {
	what, text := b.inside(e)
	if what == "" || !b.verbose {
		return
	}
	line := fmt.Sprintf("    %s %s  %s  %s", e.Tool, e.CallID, Elapsed(e.Elapsed), what)
	if text != "" {
		line += ": " + text
	}
	b.above.add(paragraph{line: []piece{keeps(Dim, line)}, detail: true})
}

// inside is what happened inside a call, if that is what an event tells.
func (b *board) inside(e *host.Event) (what, text string) {
	switch {
	case e.Kind == host.EventCapability:
		return e.Capability, errorText(e.Err)
	case e.Kind == host.EventHook && e.Hook != nil:
		return "hook " + e.Hook.Hook, errorText(e.Err)
	case e.Kind == host.EventLog && e.Log != nil:
		return e.Log.Level, e.Log.Message
	case e.Kind == host.EventProgress && e.Progress != nil:
		return "progress", newest(e.Progress)
	case e.Kind == host.EventChanged && e.Change != nil && e.Err != nil:
		return "refused to change " + string(e.Change.Kind), errorText(e.Err)
	case e.Kind == host.EventChanged && e.Change != nil:
		return "changed " + string(e.Change.Kind), string(e.Change.Value)
	}
	return "", ""
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
