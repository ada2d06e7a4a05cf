package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// task is one task. The registry's mutex guards what is below it.
type task struct {
	registry *Registry
	stop     func()
	// over is closed when it has ended. reading is held by who reads its output, so that
	// each piece of it is shown once.
	over    chan struct{}
	reading chan struct{}

	info Info
	// ending says that it was told how it ended, told that the model knows, and woke
	// that somebody who waited for any end does.
	ending, told, woke bool
	// why is why the registry had it stopped.
	why string
}

func (r *Registry) newTask(info Info, stop func()) *task {
	return &task{registry: r, stop: stop, over: make(chan struct{}), reading: make(chan struct{}, 1), info: info}
}

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

// ID names the task.
func (t *task) ID() string { return t.info.ID }

// End says how it ended; see [capability.Task]. When it returns that is on the disk, and
// then everybody is told.
func (t *task) End(o capability.TaskOutcome) {
	r := t.registry
	r.mu.Lock()
	was, why, first := t.info, t.why, !t.ending
	t.ending = true
	r.mu.Unlock()
	if !first {
		return
	}
	end := outcome(&was, why, &o)
	r.keepIfItCan(sessiondir.Record{Kind: recordEnded, Data: end})
	r.notify(r.ends(t, &end))
	close(t.over)
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

// ends has a task ended, and wakes those who wait for any end.
func (r *Registry) ends(t *task, end *ended) Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	end.apply(&t.info)
	r.running--
	r.ended = append(r.ended, t)
	t.woke = r.waiting > 0
	r.next.id = t.info.ID
	close(r.next.done)
	r.next = newEnding()
	return t.info
}

// find returns the task of an id.
func (r *Registry) find(id string) (*task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tasks[id]; t != nil {
		return t, nil
	}
	if r.running == 0 {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no task %q, and none runs", fit(id, maxTitle))
	}
	return nil, abi.Errorf(abi.CodeNotFound, "there is no task %q; those that run are %s", fit(id, maxTitle), namesOf(r.unended()))
}

// unended returns the tasks that have not ended. The caller holds the mutex.
func (r *Registry) unended() []*task {
	var list []*task
	for _, t := range r.order {
		if !t.info.Over() {
			list = append(list, t)
		}
	}
	return list
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

// look is the task as it is now.
func (r *Registry) look(t *task) Info {
	r.mu.Lock()
	info := t.info
	r.mu.Unlock()
	measure(&info)
	return info
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

// removeOutputs removes the outputs of tasks that are forgotten, as far as they are the
// registry's.
func (r *Registry) removeOutputs(forgotten []*task) {
	for _, t := range forgotten {
		output := t.info.Output // nothing changes it any more
		if r.options.Outputs == "" || output == "" || filepath.Dir(output) != filepath.Clean(r.options.Outputs) {
			continue
		}
		if err := os.Remove(output); err != nil && !os.IsNotExist(err) {
			r.options.Logger.Warn("the output of a background task that is forgotten could not be removed", "task", t.info.ID, "file", output, "error", err)
		}
	}
}
