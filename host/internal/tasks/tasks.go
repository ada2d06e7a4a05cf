package tasks

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

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

// Info is what is known of a task.
type Info = capability.TaskInfo

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
	options Options
	dir     string // of the session's directory, or empty

	mu     sync.Mutex
	closed bool
	tasks  map[string]*task
	// order is that in which the tasks began, ended those that have, in the order in
	// which they did, and running how many have not.
	order, ended []*task
	running      int
	// next is the end that comes next, for which so many wait.
	next    *ending
	waiting int
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
	r := &Registry{options: o, tasks: make(map[string]*task), next: newEnding()}
	if o.Dir == nil {
		return r, nil
	}
	r.dir = o.Dir.Path()
	return r, r.recall()
}

// recall takes over what the directory knows, and writes down what was lost, so that who
// looks at the directory from outside does not take it for running.
func (r *Registry) recall() error {
	records := make(map[string][]json.RawMessage)
	for _, kind := range []string{recordBegan, recordEnded, recordShown, recordTold} {
		records[kind] = r.options.Dir.Recall(kind)
	}
	b := replay(r.dir, records)
	var ends []sessiondir.Record
	for _, end := range b.lose() {
		ends = append(ends, sessiondir.Record{Kind: recordEnded, Data: end})
	}
	for _, k := range b.order {
		t := r.newTask(k.info, func() {})
		t.told, t.ending, t.woke = k.told, true, true // that is nothing to be woken for
		close(t.over)
		r.tasks[t.info.ID] = t
		r.order = append(r.order, t)
	}
	for _, k := range b.ends {
		r.ended = append(r.ended, r.tasks[k.info.ID])
	}
	if len(ends) == 0 {
		return nil
	}
	return r.options.Dir.Append(ends...)
}

// Begin enters a task; see [capability.Tasks].
func (r *Registry) Begin(n capability.NewTask) (capability.Task, error) {
	if kinds[n.Kind] == "" || n.Stop == nil {
		return nil, abi.Errorf(abi.CodeInternal, "a task of the kind %q without what there has to be", n.Kind)
	}
	t, forgotten, err := r.enter(&n)
	if err != nil {
		return nil, err
	}
	if err := r.keep(sessiondir.Record{Kind: recordBegan, Data: t.record(r.dir, forgotten)}); err != nil {
		r.withdraw(t)
		return nil, abi.Errorf(abi.CodeIO, "the task cannot be kept: %w", err)
	}
	info := r.runs(t)
	r.removeOutputs(forgotten)
	r.notify(info)
	return t, nil
}

// enter gives a task its id and its place, for which others may have to go.
func (r *Registry) enter(n *capability.NewTask) (t *task, forgotten []*task, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, nil, abi.Errorf(abi.CodeCancelled, "the session is over; nothing more begins in the background")
	case r.running >= r.options.MaxRunning:
		return nil, nil, abi.Errorf(abi.CodeLimit, "as many tasks run in the background as may, %d; wait for one with TaskOutput, or end one with TaskStop: %s",
			r.running, namesOf(r.unended()))
	}
	id := newID(n.Kind)
	for r.tasks[id] != nil {
		id = newID(n.Kind)
	}
	t = r.newTask(infoOf(id, n), n.Stop)
	forgotten = r.forget(len(r.order) + 1 - r.options.MaxKept)
	r.tasks[id] = t
	r.order = append(r.order, t)
	r.running++
	return t, forgotten, nil
}

// forget takes so many of those away that ended first.
func (r *Registry) forget(n int) []*task {
	n = min(max(n, 0), len(r.ended))
	gone := slices.Clone(r.ended[:n])
	r.ended = slices.Delete(r.ended, 0, n)
	for _, t := range gone {
		delete(r.tasks, t.info.ID)
	}
	if n > 0 {
		r.order = slices.DeleteFunc(r.order, func(t *task) bool { return r.tasks[t.info.ID] != t })
	}
	return gone
}

// withdraw takes a task away that did not begin. What was forgotten for it stays so in
// this process; the next one knows it again.
func (r *Registry) withdraw(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tasks, t.info.ID)
	r.order = slices.DeleteFunc(r.order, func(other *task) bool { return other == t })
	r.running--
	close(t.over)
}

// runs has a task running that is kept now.
func (r *Registry) runs(t *task) Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.info.State = abi.TaskRunning
	return t.info
}

// List returns all tasks, in the order in which they began.
func (r *Registry) List() []Info {
	r.mu.Lock()
	list := make([]Info, len(r.order))
	for i, t := range r.order {
		list[i] = t.info
	}
	r.mu.Unlock()
	for i := range list {
		measure(&list[i])
	}
	return list
}

// Get returns a task; false is that there is none of that id.
func (r *Registry) Get(id string) (Info, bool) {
	t, err := r.find(id)
	if err != nil {
		return Info{}, false
	}
	return r.look(t), true
}

// keep writes records to the session's journal, if there is one. No lock is held: it
// waits for the disk.
func (r *Registry) keep(records ...sessiondir.Record) error {
	if r.options.Dir == nil {
		return nil
	}
	return r.options.Dir.Append(records...)
}

// keepIfItCan is keep for what goes on in memory where it fails.
func (r *Registry) keepIfItCan(records ...sessiondir.Record) {
	if err := r.keep(records...); err != nil {
		r.options.Logger.Warn("what a background task came to could not be kept; the next process will not know it", "error", err)
	}
}

func (r *Registry) notify(info Info) {
	if r.options.Notify != nil {
		r.options.Notify(info)
	}
}
