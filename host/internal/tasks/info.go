package tasks

import (
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

const (
	// maxTitle and maxText bound what is kept of a title, and of a command or a reason,
	// in bytes: a command may be longer than a record.
	maxTitle = 200
	maxText  = 4 << 10
)

// Info is what is known of a task.
type Info = capability.TaskInfo

// infoOf is what is known of a task before it runs.
func infoOf(id string, n *capability.NewTask) Info {
	began := n.Began
	if began.IsZero() {
		began = time.Now()
	}
	return Info{
		ID: id, Kind: kinds[n.Kind], State: abi.TaskPending,
		Call: n.Call.ID, Tool: n.Call.Tool, Plugin: n.Call.Plugin,
		Title: line(n.Title), Command: fit(n.Command, maxText), Output: n.Output, Shown: n.Shown, Began: began,
	}
}

// measure finds out how much the output of a task is that runs.
func measure(t *Info) {
	if !t.Over() {
		t.Bytes = sizeOf(t.Output)
	}
}

// sizeOf is the size of an output; 0 where there is none, or something else by now.
func sizeOf(output string) int64 {
	if output == "" {
		return 0
	}
	info, err := os.Lstat(output)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// fit cuts a text to so many bytes, and to valid UTF-8.
func fit(text string, most int) string {
	const cut = "…"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	n := most - len(cut)
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + cut
}

// line makes a title of a text: one line.
func line(text string) string {
	return fit(strings.Join(strings.Fields(text), " "), maxTitle)
}
