package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

const (
	// DefaultMaxRunning is how many tasks of a session run at once at most.
	DefaultMaxRunning = 32
	// DefaultMaxKept is how many it knows, those that have ended included.
	DefaultMaxKept = 1000
)

// Options say how a session's tasks are kept. The zero value keeps them in memory.
type Options struct {
	// Dir is the session's; nil is none, and then nothing outlasts the process. It is
	// closed after the registry.
	Dir *sessiondir.Dir
	// Outputs is a directory whose files are removed with the task whose output they
	// are, when it is forgotten; empty is none. Other outputs are left alone.
	Outputs string
	// MaxRunning and MaxKept bound the number of tasks; 0 is the usual one. When there
	// are too many, those that ended first are forgotten.
	MaxRunning, MaxKept int
	// Notify is told of each task that begins or has ended; nil tells nobody. It returns
	// soon, and is not told of those that were lost before the registry was opened.
	Notify func(Info)
	// Logger is told of what could not be kept; nil tells nobody.
	Logger *slog.Logger
}

// Registry has the background tasks of a session. It is safe for concurrent use.
type Registry struct {
	table  *table
	kept   recorder
	notify func(Info)
}

var _ capability.Tasks = (*Registry)(nil)

// Open returns the registry of a session, with the tasks that its directory knows. Those
// that ran when the process that had it ended are lost.
func Open(o Options) (*Registry, error) {
	if o.MaxRunning <= 0 {
		o.MaxRunning = DefaultMaxRunning
	}
	if o.MaxKept <= 0 {
		o.MaxKept = DefaultMaxKept
	}
	o.MaxKept = max(o.MaxKept, o.MaxRunning)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Notify == nil {
		o.Notify = func(Info) {}
	}
	r := &Registry{table: newTable(o.MaxRunning, o.MaxKept), kept: recorder{o.Dir, o.Outputs, o.Logger}, notify: o.Notify}
	if o.Dir == nil {
		return r, nil
	}
	return r, r.recall()
}

// recall takes over what the directory knows, and writes down what was lost, so that who
// looks at the directory from outside does not take it for running.
func (r *Registry) recall() error {
	records := make(map[string][]json.RawMessage)
	for _, kind := range []string{recordBegan, recordEnded, recordShown, recordTold} {
		records[kind] = r.kept.dir.Recall(kind)
	}
	b := replay(r.kept.dir.Path(), records)
	var ends []sessiondir.Record
	for _, end := range b.lose() {
		ends = append(ends, sessiondir.Record{Kind: recordEnded, Data: end})
	}
	r.table.restore(b)
	if len(ends) == 0 {
		return nil
	}
	return r.kept.keep(ends...)
}

// Begin enters a task; see [capability.Tasks].
func (r *Registry) Begin(n capability.NewTask) (capability.Task, error) {
	if kinds[n.Kind] == "" || n.Stop == nil {
		return nil, abi.Errorf(abi.CodeInternal, "a task of the kind %q without what there has to be", n.Kind)
	}
	t, forgotten, err := r.table.enter(&n)
	if err != nil {
		return nil, err
	}
	if err := r.kept.keep(sessiondir.Record{Kind: recordBegan, Data: t.record(r.kept.path(), forgotten)}); err != nil {
		r.table.withdraw(t)
		return nil, abi.Errorf(abi.CodeIO, "the task cannot be kept: %w", err)
	}
	info := r.table.runs(t)
	r.kept.removeOutputs(forgotten)
	r.notify(info)
	return &handle{r, t}, nil
}

// List returns all tasks, in the order in which they began.
func (r *Registry) List() []Info {
	r.table.mu.Lock()
	list := make([]Info, len(r.table.order))
	for i, t := range r.table.order {
		list[i] = t.info
	}
	r.table.mu.Unlock()
	for i := range list {
		measure(&list[i])
	}
	return list
}

// Get returns a task; false is that there is none of that id.
func (r *Registry) Get(id string) (Info, bool) {
	t, err := r.table.find(id)
	if err != nil {
		return Info{}, false
	}
	return r.table.look(t), true
}

// handle is a task as who began it has it.
type handle struct {
	registry *Registry
	task     *task
}

// ID names the task.
func (h *handle) ID() string { return h.task.info.ID }

// End says how it ended; see [capability.Task]. When it returns that is on the disk, and
// then everybody is told.
func (h *handle) End(o capability.TaskOutcome) {
	r, t := h.registry, h.task
	r.table.mu.Lock()
	was, why, first := t.info, t.why, !t.ending
	t.ending = true
	r.table.mu.Unlock()
	if !first {
		return
	}
	end := outcome(&was, why, &o)
	r.kept.keepIfItCan(sessiondir.Record{Kind: recordEnded, Data: end})
	r.notify(r.table.ends(t, &end))
	close(t.over)
}

// Read reads on in a task's output; see [capability.Tasks]. A piece ends with a whole
// code point, and with a filter with a whole line, as long as there may be more to come:
// what a running task has written half is left for the next read.
func (r *Registry) Read(ctx context.Context, id string, want capability.TaskRead) (capability.TaskText, error) {
	t, err := r.table.find(id)
	if err != nil {
		return capability.TaskText{}, err
	}
	select {
	case t.reading <- struct{}{}:
		defer func() { <-t.reading }()
	case <-ctx.Done():
		return capability.TaskText{}, givenUp(ctx)
	}
	// The task first and then its output: of one that has ended all of it is there.
	out := capability.TaskText{Task: r.table.look(t)}
	out.From, out.To = out.Task.Shown, out.Task.Shown
	err = readOutput(ctx, &out, want.Filter)
	if !want.Peek && (err == nil || errors.Is(err, errCut)) {
		r.show(t, &out)
	}
	return out, err
}

// show notes what the model was shown.
func (r *Registry) show(t *task, out *capability.TaskText) {
	r.table.mu.Lock()
	further := t.info.Shown != out.To
	t.info.Shown = out.To
	ends := out.Task.Over() && !t.told
	t.told = t.told || ends
	r.table.mu.Unlock()
	var records []sessiondir.Record
	if further {
		records = append(records, sessiondir.Record{Kind: recordShown, Data: shown{t.info.ID, out.To}})
	}
	if ends {
		records = append(records, sessiondir.Record{Kind: recordTold, Data: told{[]string{t.info.ID}}})
	}
	if len(records) > 0 {
		r.kept.keepIfItCan(records...)
	}
}

// Wait waits for the end of a task; see [capability.Tasks].
func (r *Registry) Wait(ctx context.Context, id string, most time.Duration) (Info, error) {
	t, err := r.table.find(id)
	if err != nil {
		return Info{}, err
	}
	if err := waitFor(ctx, t.over, most); err != nil {
		return Info{}, err
	}
	return r.table.look(t), nil
}

// Stop ends a task; see [capability.Tasks].
func (r *Registry) Stop(ctx context.Context, id string) (Info, error) {
	t, err := r.table.find(id)
	if err != nil {
		return Info{}, err
	}
	info := r.table.look(t)
	if info.Over() {
		r.tell(t)
		info.Reason = already(info.Reason)
		return info, nil
	}
	r.table.halt("it was stopped with TaskStop", t)
	if err := waitFor(ctx, t.over, stopWait); err != nil {
		return Info{}, err
	}
	if info = r.table.look(t); !info.Over() {
		return Info{}, abi.Errorf(abi.CodeTimeout, "task %s (%s) was told to end and has not within %v; look again with TaskOutput", id, info.Title, stopWait)
	}
	r.tell(t)
	return info, nil
}

// tell notes that the model knows that a task has ended.
func (r *Registry) tell(t *task) {
	r.table.mu.Lock()
	known := t.told
	t.told = true
	r.table.mu.Unlock()
	if !known {
		r.kept.keepIfItCan(sessiondir.Record{Kind: recordTold, Data: told{[]string{t.info.ID}}})
	}
}

// NextEnd waits for the end of any task; see [capability.Tasks]. An end that came while
// nobody waited is returned at once, so that none is missed by who looked a moment too
// early, and only once, so that nobody is kept from waiting.
func (r *Registry) NextEnd(ctx context.Context, most time.Duration) (string, error) {
	r.table.mu.Lock()
	if id := r.table.unheard(); id != "" {
		r.table.mu.Unlock()
		return id, nil
	}
	next := r.table.next
	r.table.waiting++
	r.table.mu.Unlock()
	err := waitFor(ctx, next.done, most)
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	r.table.waiting--
	return next.id, err
}

// Notices returns the tasks that have ended, and that the session's model was not told
// of: neither by this before, nor by reading or stopping them. It does so once.
func (r *Registry) Notices() []Info {
	r.table.mu.Lock()
	var list []Info
	var ids []string
	for _, t := range r.table.ended {
		if !t.told {
			t.told = true
			list = append(list, t.info)
			ids = append(ids, t.info.ID)
		}
	}
	r.table.mu.Unlock()
	if len(ids) > 0 {
		r.kept.keepIfItCan(sessiondir.Record{Kind: recordTold, Data: told{ids}})
	}
	return list
}

// Close ends all tasks and waits until they have, for 5 s at most. Nothing begins any
// more. It fails where some have not ended; they are lost then, if their host ends first.
func (r *Registry) Close(ctx context.Context) error {
	r.table.mu.Lock()
	r.table.closed = true
	running := r.table.unended()
	r.table.mu.Unlock()
	r.table.halt("the session ended", running...)
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	for i, t := range running {
		select {
		case <-t.over:
		case <-ctx.Done():
			return fmt.Errorf("background tasks have not ended with the session: %s", namesOf(running[i:]))
		}
	}
	return nil
}
