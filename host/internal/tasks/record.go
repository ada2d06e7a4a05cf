package tasks

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// The kinds of records in the journal. Which of two records of different kinds comes
// first says nothing.
const (
	recordBegan = "task.began"
	recordEnded = "task.ended"
	recordShown = "task.shown"
	recordTold  = "task.told"
)

// began is the record that a task began.
type began struct {
	ID      string `json:"id"`
	Call    string `json:"call,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Plugin  string `json:"plugin,omitempty"`
	Title   string `json:"title,omitempty"`
	Command string `json:"command,omitempty"`
	// Output is relative to the session's directory where it lies there.
	Output string `json:"output,omitempty"`
	// Shown is how much of it was shown before the task began.
	Shown int64     `json:"shown,omitempty"`
	Time  time.Time `json:"time"`
	// Forgot are those that had to go for this one.
	Forgot []string `json:"forgot,omitempty"`
}

// ended is the record that a task ended.
type ended struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Exit   *int   `json:"exit,omitempty"`
	Reason string `json:"reason,omitempty"`
	Note   string `json:"note,omitempty"`
	Left   int    `json:"left,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	// Time is zero where nobody knows.
	Time time.Time `json:"time,omitzero"`
}

// shown is the record of how much of a task's output the session's model has seen. The
// last one of a task holds.
type shown struct {
	ID string `json:"id"`
	To int64  `json:"to"`
}

// told is the record that the model knows of tasks that they have ended.
type told struct {
	IDs []string `json:"ids"`
}

// kept is a task as its records tell of it.
type kept struct {
	info capability.TaskInfo
	told bool
}

// book is what the records of a session's tasks come to.
type book struct {
	tasks map[string]*kept
	// order is that in which they began, and ends that in which they ended.
	order, ends []*kept
}

// replay reads records, by kind. What it does not understand, or is about no task, it
// leaves out: a later version may have written it.
func replay(dir string, records map[string][]json.RawMessage) *book {
	b := &book{tasks: make(map[string]*kept)}
	var forgot []string
	for r := range decoded[began](records[recordBegan]) {
		forgot = append(forgot, r.Forgot...)
		b.begin(dir, &r)
	}
	for r := range decoded[ended](records[recordEnded]) {
		b.end(&r)
	}
	for r := range decoded[shown](records[recordShown]) {
		if t := b.tasks[r.ID]; t != nil && r.To >= 0 {
			t.info.Shown = r.To
		}
	}
	for r := range decoded[told](records[recordTold]) {
		for _, id := range r.IDs {
			if t := b.tasks[id]; t != nil {
				t.told = true
			}
		}
	}
	for _, id := range forgot {
		delete(b.tasks, id)
	}
	gone := func(t *kept) bool { return b.tasks[t.info.ID] != t }
	b.order, b.ends = slices.DeleteFunc(b.order, gone), slices.DeleteFunc(b.ends, gone)
	return b
}

func (b *book) begin(dir string, r *began) {
	if !isID(r.ID) || b.tasks[r.ID] != nil {
		return
	}
	t := &kept{info: capability.TaskInfo{
		ID: r.ID, Kind: kinds[r.ID[0]], State: abi.TaskRunning,
		Call: r.Call, Tool: r.Tool, Plugin: r.Plugin,
		Title: r.Title, Command: r.Command, Output: within(dir, r.Output), Shown: max(0, r.Shown), Began: r.Time,
	}}
	b.tasks[r.ID] = t
	b.order = append(b.order, t)
}

func (b *book) end(r *ended) {
	t := b.tasks[r.ID]
	if t == nil || t.info.Over() {
		return
	}
	switch r.State {
	case abi.TaskCompleted, abi.TaskFailed, abi.TaskKilled, abi.TaskLost:
	default:
		return
	}
	r.apply(&t.info)
	b.ends = append(b.ends, t)
}

// apply has a task ended.
func (r *ended) apply(t *capability.TaskInfo) {
	t.State, t.Exit, t.Reason, t.Note, t.Left = r.State, r.Exit, r.Reason, r.Note, r.Left
	t.Bytes, t.Ended = max(0, r.Bytes), r.Time
}

// lose has all tasks ended that have no end, and returns their ends.
func (b *book) lose() []ended {
	var ends []ended
	for _, k := range b.order {
		if k.info.Over() {
			continue
		}
		end := lost(&k.info)
		end.apply(&k.info)
		b.ends = append(b.ends, k)
		ends = append(ends, end)
	}
	return ends
}

// lost is the end of a task whose host ended before it did.
func lost(t *capability.TaskInfo) ended {
	return ended{ID: t.ID, State: abi.TaskLost, Reason: "the host ended before it did", Bytes: sizeOf(t.Output)}
}

// decoded goes through those records that are of a type.
func decoded[R any](records []json.RawMessage) func(yield func(R) bool) {
	return func(yield func(R) bool) {
		for _, data := range records {
			var r R
			if json.Unmarshal(data, &r) == nil && !yield(r) {
				return
			}
		}
	}
}

// relative is what a record says of an output: the directory may lie elsewhere, or under
// a name that is no UTF-8.
func relative(dir, output string) string {
	if dir == "" || output == "" {
		return output
	}
	rel, err := filepath.Rel(dir, output)
	if err != nil || !filepath.IsLocal(rel) {
		return output
	}
	return filepath.ToSlash(rel)
}

// within is the output of which a record says so.
func within(dir, output string) string {
	if output == "" || filepath.IsAbs(output) || dir == "" {
		return output
	}
	return filepath.Join(dir, filepath.FromSlash(output))
}
