package main

import (
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
)

// Of what a failed call logged this much is shown, in lines and in bytes.
const (
	maxLastLines = 10
	maxLastBytes = 2000
	// maxMessageLines bounds the lines of one message among them.
	maxMessageLines = 7
)

// callLog is what plugins log during a call: shown as it comes, or kept until the call
// fails.
type callLog struct {
	out     *ui.Printer
	verbose bool
	// last are the newest lines, with how many came before them.
	last    []string
	dropped int
}

// take takes in an event, if it is a log line or progress.
func (l *callLog) take(e *host.Event) {
	switch {
	case e.Kind == host.EventLog && e.Log != nil:
		style := ui.Dim
		if e.Log.Level == "error" || e.Log.Level == "warn" {
			style = ui.Yellow
		}
		l.say(style, e.Log.Level, e.Log.Message)
	case e.Kind == host.EventProgress && e.Progress != nil && l.verbose && e.Progress.Message != "":
		l.say(ui.Dim, "progress", e.Progress.Message)
	}
}

func (l *callLog) say(style ui.Style, what, text string) {
	if l.verbose {
		l.out.Block(style, what+"  ", text)
		return
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > maxMessageLines { // of a stack the innermost come first
		lines = append(lines[:maxMessageLines:maxMessageLines], "  ...")
	}
	for _, line := range lines {
		if len(l.last) == maxLastLines {
			l.last = append(l.last[:0], l.last[1:]...)
			l.dropped++
		}
		l.last = append(l.last, line)
	}
}

// printLast prints the last lines of a call that failed, unless all of them were shown.
func (l *callLog) printLast(r *abi.ToolResult) {
	if !r.IsError || len(l.last) == 0 {
		return
	}
	from, left := len(l.last), maxLastBytes
	for from > 0 && len(l.last[from-1]) < left {
		from--
		left -= len(l.last[from]) + 1
	}
	lines := l.last[from:]
	if len(lines) == 0 { // one that is longer than all may be
		lines = []string{l.last[len(l.last)-1][:maxLastBytes]}
	}
	title := "What it logged:"
	if l.dropped+from > 0 {
		title = "The last of what it logged (-v shows all):"
	}
	l.out.Printf("\n%s\n", title)
	for _, line := range lines {
		l.out.Printf("  %s\n", ui.Line(line))
	}
}
