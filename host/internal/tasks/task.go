package tasks

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// task is one task. The table's mutex guards what is below its channels.
type task struct {
	stop func()
	// over is closed when it has ended. reading is held by who reads its output, so that
	// each piece of it is shown once.
	over    chan struct{}
	reading chan struct{}

	info Info
	// ending says that it was told how it ended, told that the model knows, and woke
	// that somebody who waited for any end does.
	ending, told, woke bool
	// why is why it was stopped.
	why string
}

func newTask(info Info, stop func()) *task {
	return &task{stop: stop, over: make(chan struct{}), reading: make(chan struct{}, 1), info: info}
}

// record is what the journal remembers of the beginning. What it reads is not changed
// any more.
func (t *task) record(dir string, forgotten []*task) began {
	r := began{
		ID: t.info.ID, Call: t.info.Call, Tool: t.info.Tool, Plugin: t.info.Plugin,
		Title: t.info.Title, Command: t.info.Command,
		Output: relative(dir, t.info.Output), Shown: t.info.Shown, Time: t.info.Began,
	}
	for _, f := range forgotten {
		r.Forgot = append(r.Forgot, f.info.ID)
	}
	return r
}

// namesOf names tasks for who is to choose one.
func namesOf(list []*task) string {
	const most = 10
	var names []string
	for _, t := range list[:min(most, len(list))] {
		names = append(names, fmt.Sprintf("%s (%s)", t.info.ID, fit(t.info.Title, 60)))
	}
	if more := len(list) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// outcome is the record of how a task ended.
func outcome(t *Info, why string, o *capability.TaskOutcome) ended {
	end := ended{ID: t.ID, State: abi.TaskCompleted, Reason: fit(o.Reason, maxText), Note: fit(o.Note, maxText), Left: o.Left, Bytes: sizeOf(t.Output), Time: time.Now()}
	if o.Exit != nil {
		exit := *o.Exit
		end.Exit = &exit
	}
	switch {
	case o.Killed:
		end.State = abi.TaskKilled
		if end.Reason == "" {
			end.Reason = why
		}
	case o.Reason != "" || o.Exit != nil && *o.Exit != 0:
		end.State = abi.TaskFailed
	}
	return end
}
