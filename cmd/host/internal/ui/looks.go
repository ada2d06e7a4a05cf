package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// state is how a call ended.
type state int

const (
	ok state = iota
	failed
	denied
	cancelled
	interrupted
	discarded
)

// looks are how states are shown: a word for files, a mark for terminals.
var looks = [...]struct {
	word, mark string
	style      Style
}{
	ok:          {"ok", "✓", Green},
	failed:      {"failed", "✗", Red},
	denied:      {"denied", "⊘", Yellow},
	cancelled:   {"cancelled", "–", Dim},
	interrupted: {"interrupted", "■", Yellow},
	discarded:   {"discarded", "∅", Dim},
}

// wordWidth is how wide the column of the words is.
const wordWidth = len("interrupted")

func stateOf(r *abi.ToolResult) state {
	switch {
	case r == nil, !r.IsError:
		return ok
	case r.Error == nil:
		return failed
	}
	switch r.Error.Code {
	case abi.CodeDenied, abi.CodeNeedsApproval, abi.CodeNotGranted:
		return denied
	case abi.CodeCancelled:
		return cancelled
	case abi.CodeInterrupted:
		return interrupted
	}
	return failed
}

// size is the bytes of a result's content.
func size(r *abi.ToolResult) int64 {
	var n int64
	for _, b := range r.Content {
		n += int64(len(b.Text) + len(b.Data))
		if b.Spilled != nil {
			n += b.Spilled.Bytes
		}
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
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return growing(d)
}

// growing writes a duration that still grows, in as little room as it can.
func growing(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// count writes a number of things.
func count(n int, one string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(one, "ch"):
		one += "es"
	default:
		one += "s"
	}
	return fmt.Sprintf("%d %s", n, one)
}

// share is how much of a total is done, from 0 to 1, whatever the numbers are.
func share(done, total float64) float64 {
	if part := done / total; part > 0 { // not where it is not a number
		return min(part, 1)
	}
	return 0
}

// bar is a bar of some cells, filled to a share of them.
func bar(share float64, width int) string {
	full := int(share * float64(width))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// spin is the mark of what runs, a different one in every frame.
func spin(now time.Time) string {
	return string(spinner[now.UnixNano()/int64(frameTime)%int64(len(spinner))])
}
