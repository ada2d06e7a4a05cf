package main

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
)

// callLog is what plugins log during a call: shown as it comes, or kept until the call
// fails.
type callLog struct {
	out     *ui.Printer
	verbose bool
	tail    ui.Tail
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
	l.tail.Add(text)
}

// printLast prints the last lines of a call that failed, unless all of them were shown.
func (l *callLog) printLast(r *abi.ToolResult) {
	lines, more := l.tail.Lines()
	if !r.IsError || len(lines) == 0 {
		return
	}
	title := "What it logged:"
	if more {
		title = "The last of what it logged (toolquay call -v shows all):"
	}
	l.out.Printf("\n%s\n", title)
	for _, line := range lines {
		l.out.Printf("  %s\n", line)
	}
}
