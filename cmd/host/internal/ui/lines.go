package ui

import (
	"fmt"
	"path/filepath"
	"strings"

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

// printout is what is to be printed of the calls for good.
type printout struct {
	// live says that what goes on is shown as it goes on: calls that read and
	// search are gathered, and nested calls wait for the one they belong to.
	live    bool
	verbose bool
	// mark says that states are shown as marks, not as words.
	mark bool
	// gathered are the last of the calls that ended: if more of their kind follow,
	// they make one line together.
	gathered []*entry
	above    outbox
}

// print prints a line of pieces for good.
func (p *printout) print(pieces ...piece) { p.above.add(paragraph{line: pieces}) }

// lead is what lines begin with: the state as a mark, or as a word in a column.
func (p *printout) lead(s state, depth int) piece {
	if p.mark {
		return keeps(looks[s].style, indent(depth)+looks[s].mark+" ")
	}
	return keeps(looks[s].style, fmt.Sprintf("%-*s ", wordWidth, looks[s].word)+indent(depth))
}

// blank is as wide as lead.
func (p *printout) blank() string {
	if p.mark {
		return "  "
	}
	return strings.Repeat(" ", wordWidth+1)
}

// endLine is the line of a call that ended.
func (p *printout) endLine(c *entry) []piece {
	line := []piece{
		p.lead(c.state, c.depth), keeps(Bold, c.tool), gives(Plain, titled(c.title)), gives(Dim, came(c.came)),
		keeps(Dim, "  "+Elapsed(c.elapsed)), spares(Dim, "  "+Bytes(c.bytes)),
	}
	if c.kept != "" {
		line = append(line, gives(Dim, "  kept in "+p.path(c.kept)))
	}
	if c.why != "" {
		line = append(line, gives(looks[c.state].style, "  "+c.why))
	}
	return line
}

// came is what came of a call, behind what it was.
func came(line string) string {
	if line == "" {
		return ""
	}
	return "  " + line
}

// cancelledFor stands in what the model is told of a call that was cancelled, between
// the call's name and why.
const cancelledFor = " was cancelled before it ended: "

// reason is why a call failed: all of it in a file, in short, or as the tool words it, where it
// is a line on a screen. Who interrupted needs no words that are for the model.
func (p *printout) reason(c *entry, e *host.Event) string {
	text := Reason(e.Result)
	switch {
	case !p.live:
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
	if e.Line != "" && c.state != cancelled {
		return safe(e.Line)
	}
	return safe(strings.Join(strings.Fields(clip(text, maxText)), " "))
}

// path is a path as far as it tells something: all sessions keep results alike.
func (p *printout) path(path string) string {
	if p.verbose || !p.live {
		return path
	}
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// detail prints what happens inside a call, for those who want it.
func (p *printout) detail(e *host.Event) {
	what, text := inside(e)
	if what == "" || !p.verbose {
		return
	}
	line := fmt.Sprintf("    %s %s  %s  %s", e.Tool, e.CallID, Elapsed(e.Elapsed), what)
	if text != "" {
		line += ": " + text
	}
	p.above.add(paragraph{line: []piece{keeps(Dim, line)}, detail: true})
}

// inside is what happened inside a call, if that is what an event tells.
func inside(e *host.Event) (what, text string) {
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
