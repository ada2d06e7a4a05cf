package ui

import "strings"

// Of what a failed call logged this much is shown, in lines and in bytes.
const (
	maxTailLines = 10
	maxTailBytes = 2000
	// maxMessageLines bounds the lines of one message among them: of a stack the
	// innermost come first.
	maxMessageLines = 7
)

// Tail keeps the last of what a call logged. The zero value is empty.
type Tail struct {
	lines   []string
	dropped bool
}

// Add adds a message of any number of lines.
func (t *Tail) Add(message string) {
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	if len(lines) > maxMessageLines {
		lines, t.dropped = append(lines[:maxMessageLines:maxMessageLines], "  ..."), true
	}
	for _, line := range lines {
		if len(t.lines) == maxTailLines {
			t.lines, t.dropped = append(t.lines[:0], t.lines[1:]...), true
		}
		t.lines = append(t.lines, clip(line, maxTailBytes-1))
	}
}

// Lines returns the last lines, each safe to show, and whether there was more.
func (t *Tail) Lines() (lines []string, more bool) {
	from, left := len(t.lines), maxTailBytes
	for from > 0 && len(t.lines[from-1]) < left {
		from--
		left -= len(t.lines[from]) + 1
	}
	for _, line := range t.lines[from:] {
		lines = append(lines, Line(strings.ReplaceAll(line, "\t", "  ")))
	}
	return lines, t.dropped || from > 0
}
