package tasks

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// Notices returns the tasks that have ended, and that the session's model was not told
// of: neither by this before, nor by reading or stopping them. It does so once.
func (r *Registry) Notices() []Info {
	r.mu.Lock()
	var list []Info
	var ids []string
	for _, t := range r.ended {
		if !t.told {
			t.told = true
			list = append(list, t.info)
			ids = append(ids, t.info.ID)
		}
	}
	r.mu.Unlock()
	if len(ids) > 0 {
		r.keepIfItCan(sessiondir.Record{Kind: recordTold, Data: told{ids}})
	}
	return list
}

// tell notes that the model knows that a task has ended.
func (r *Registry) tell(t *task) {
	r.mu.Lock()
	known := t.told
	t.told = true
	r.mu.Unlock()
	if !known {
		r.keepIfItCan(sessiondir.Record{Kind: recordTold, Data: told{[]string{t.info.ID}}})
	}
}

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
