package ui

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

func TestTailIsBounded(t *testing.T) {
	t.Parallel()
	numbered := func(from, to int) []string {
		var lines []string
		for i := from; i <= to; i++ {
			lines = append(lines, strconv.Itoa(i))
		}
		return lines
	}
	long := strings.Repeat("x", 3000)
	for name, tt := range map[string]struct {
		messages, want []string
		more           bool
	}{
		"nothing":  {nil, nil, false},
		"tabs":     {[]string{"\tat"}, []string{"  at"}, false},
		"few":      {[]string{"a\n", "b\x1b[2J"}, []string{"a", `b\x1b[2J`}, false},
		"ten":      {numbered(1, 10), numbered(1, 10), false},
		"more":     {numbered(1, 13), numbered(4, 13), true},
		"a stack":  {[]string{strings.Join(numbered(1, 30), "\n")}, append(numbered(1, 7), "  ..."), true},
		"long":     {[]string{"a", long, "b"}, []string{"b"}, true},
		"one line": {[]string{long}, []string{clip(long, maxTailBytes-1)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tail Tail
			for _, m := range tt.messages {
				tail.Add(m)
			}
			got, more := tail.Lines()
			if !slices.Equal(got, tt.want) || more != tt.more {
				t.Errorf("got %q, %t", got, more)
			}
		})
	}
}

// TestTimelineShowsTheLogOfFailures below the line of the call; with verbose all was
// shown before.
func TestTimelineShowsTheLogOfFailures(t *testing.T) {
	t.Parallel()
	for _, verbose := range []bool{false, true} {
		p, out := printer(0, false)
		timeline := NewTimeline(p, verbose)
		event := func(id string, kind host.EventKind, r *abi.ToolResult) {
			timeline.Event(host.Event{Kind: kind, Tool: "T", CallID: id, Log: &abi.Log{Level: "error", Message: "panicked\n at " + id}, Result: r})
		}
		for _, id := range []string{"good", "bad"} {
			event(id, host.EventQueued, nil)
			event(id, host.EventStarted, nil)
			event(id, host.EventLog, nil)
			event(id, host.EventFinished, &abi.ToolResult{IsError: id == "bad", Content: []abi.Block{abi.TextBlock(id)}})
		}
		timeline.End()
		got := out.String()
		if want := "bad\n            panicked\n             at bad\n"; strings.Contains(got, want) == verbose || strings.Contains(got, "\n             at good\n") {
			t.Errorf("verbose %t: got\n%s", verbose, got)
		}
	}
}
