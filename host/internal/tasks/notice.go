package tasks

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Notice is the end of a task in a few words, for a model.
func Notice(t Info) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Background task %s", t.ID)
	if t.Title != "" {
		fmt.Fprintf(&b, " (%s)", t.Title)
	}
	b.WriteString(happened(&t))
	if t.Note != "" {
		b.WriteString(" " + t.Note)
	}
	if unread := t.Bytes - t.Shown; t.Output != "" && unread > 0 {
		fmt.Fprintf(&b, " TaskOutput reads the %d bytes of output that you have not seen.", unread)
	}
	return b.String()
}

// happened is how a task ended, as the end of a sentence.
func happened(t *Info) string {
	text := ""
	switch t.State {
	case abi.TaskCompleted:
		text = " completed"
	case abi.TaskFailed:
		text = " failed"
	case abi.TaskKilled:
		text = " was ended"
	case abi.TaskLost:
		text = " is lost"
	}
	if t.Exit != nil {
		text += fmt.Sprintf(" with exit status %d", *t.Exit)
	}
	if t.Reason != "" {
		text += ": " + fit(strings.TrimRight(t.Reason, ". \n"), maxTitle)
	}
	return text + "."
}
