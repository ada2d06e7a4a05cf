package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// Timeline prints a turn as it happens: a line for each call when it ends, and
// at the end their sum.
type Timeline struct {
	p       *Printer
	verbose bool
	start   time.Time
	counts  map[state]int
}

// NewTimeline prints to p; verbose adds capability calls, logs and progress.
func NewTimeline(p *Printer, verbose bool) *Timeline {
	return &Timeline{p: p, verbose: verbose, start: time.Now(), counts: make(map[state]int)}
}

// state is how a call ended.
type state int

const (
	ok state = iota
	failed
	denied
	cancelled
)

// look is how a state is shown: a word for files, a mark for terminals.
var looks = [...]struct {
	word, mark string
	style      Style
}{
	ok:        {"ok", "✓", Green},
	failed:    {"failed", "✗", Red},
	denied:    {"denied", "⊘", Yellow},
	cancelled: {"cancelled", "–", Dim},
}

func stateOf(r *abi.ToolResult) state {
	switch {
	case !r.IsError:
		return ok
	case r.Error == nil:
		return failed
	}
	switch r.Error.Code {
	case abi.CodeDenied, abi.CodeNeedsApproval, abi.CodeNotGranted:
		return denied
	case abi.CodeCancelled:
		return cancelled
	}
	return failed
}

// Event shows one event, if it is one to be shown.
func (t *Timeline) Event(e host.Event) {
	switch e.Kind {
	case host.EventFinished:
		t.finished(e)
	case host.EventCapability:
		t.detail(e, e.Capability, errorText(e.Err))
	case host.EventMessage, host.EventStop:
		t.p.Block(Yellow, string(e.Kind)+"  ", e.Reason)
	case host.EventHook:
		t.detail(e, "hook "+e.Hook.Hook, errorText(e.Err))
	case host.EventLog:
		t.detail(e, e.Log.Level, e.Log.Message)
	case host.EventProgress:
		t.detail(e, "progress", e.Progress.Message)
	case host.EventChanged:
		t.detail(e, "changed "+string(e.Change.Kind), string(e.Change.Value)+" "+errorText(e.Err))
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// finished prints the line of a call that ended.
func (t *Timeline) finished(e host.Event) {
	s := stateOf(e.Result)
	t.counts[s]++
	mark := fmt.Sprintf("%-10s", looks[s].word)
	if t.p.Terminal {
		mark = looks[s].mark + " "
	}
	spans := []Span{{looks[s].style, mark}, {Bold, e.Tool}}
	if e.Title != "" {
		spans = append(spans, Span{Plain, " " + e.Title})
	}
	spans = append(spans, Span{Dim, "  " + Elapsed(e.Elapsed) + "  " + Bytes(size(e.Result))})
	if s != ok {
		spans = append(spans, Span{looks[s].style, "  " + Reason(e.Result)})
	}
	t.p.Line(spans...)
}

// detail prints what happens inside a call, for those who want it.
func (t *Timeline) detail(e host.Event, what, text string) {
	if !t.verbose {
		return
	}
	line := fmt.Sprintf("    %s %s  %s  %s", e.Tool, e.CallID, Elapsed(e.Elapsed), what)
	if text != "" {
		line += ": " + text
	}
	t.p.Line(Span{Dim, line})
}

// End prints the sum.
func (t *Timeline) End() {
	var parts []string
	total := 0
	for s := range looks {
		if n := t.counts[state(s)]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, looks[s].word))
		}
	}
	plural := "s"
	if total == 1 {
		plural = ""
	}
	t.p.Line(Span{Dim, fmt.Sprintf("%d call%s in %s: %s", total, plural, Elapsed(time.Since(t.start)), strings.Join(parts, ", "))})
}

// size is the bytes of a result's content.
func size(r *abi.ToolResult) int {
	n := 0
	for _, b := range r.Content {
		n += len(b.Text) + len(b.Data)
	}
	return n
}

// Reason is why a call failed, without the marks that are for models.
func Reason(r *abi.ToolResult) string {
	text := r.Text()
	if r.Error != nil {
		text = r.Error.Error()
	}
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "<tool_use_error>"); ok {
		text = strings.TrimSuffix(inner, "</tool_use_error>")
	}
	return text
}

// Elapsed writes a duration for people.
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// Bytes writes a size for people.
func Bytes(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
