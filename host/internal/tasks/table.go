package tasks

import (
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// table has the tasks of a session in memory. Its mutex also guards what changes of each
// task.
type table struct {
	maxRunning, maxKept int

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

func newTable(maxRunning, maxKept int) *table {
	return &table{maxRunning: maxRunning, maxKept: maxKept, tasks: make(map[string]*task), next: newEnding()}
}

// restore takes over the tasks of earlier processes, all of which have ended.
func (b *table) restore(from *book) {
	for _, k := range from.order {
		t := newTask(k.info, func() {})
		t.told, t.ending, t.woke = k.told, true, true // that is nothing to be woken for
		close(t.over)
		b.tasks[t.info.ID] = t
		b.order = append(b.order, t)
	}
	for _, k := range from.ends {
		b.ended = append(b.ended, b.tasks[k.info.ID])
	}
}

// ending is the end of a task that somebody waits for, whichever it is. id is set before
// done is closed.
type ending struct {
	done chan struct{}
	id   string
}

func newEnding() *ending { return &ending{done: make(chan struct{})} }

// enter gives a task its id and its place, for which others may have to go.
func (b *table) enter(n *capability.NewTask) (t *task, forgotten []*task, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, nil, abi.Errorf(abi.CodeCancelled, "the session is over; nothing more begins in the background")
	case b.running >= b.maxRunning:
		return nil, nil, abi.Errorf(abi.CodeLimit, "as many tasks run in the background as may, %d; wait for one with TaskOutput, or end one with TaskStop: %s",
			b.running, namesOf(b.unended()))
	}
	id := newID(n.Kind)
	for b.tasks[id] != nil {
		id = newID(n.Kind)
	}
	t = newTask(infoOf(id, n), n.Stop)
	forgotten = b.forget(len(b.order) + 1 - b.maxKept)
	b.tasks[id] = t
	b.order = append(b.order, t)
	b.running++
	return t, forgotten, nil
}

// forget takes so many of those away that ended first.
func (b *table) forget(n int) []*task {
	n = min(max(n, 0), len(b.ended))
	gone := slices.Clone(b.ended[:n])
	b.ended = slices.Delete(b.ended, 0, n)
	for _, t := range gone {
		delete(b.tasks, t.info.ID)
	}
	if n > 0 {
		b.order = slices.DeleteFunc(b.order, func(t *task) bool { return b.tasks[t.info.ID] != t })
	}
	return gone
}

// withdraw takes a task away that did not begin. What was forgotten for it stays so in
// this process; the next one knows it again.
func (b *table) withdraw(t *task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tasks, t.info.ID)
	b.order = slices.DeleteFunc(b.order, func(other *task) bool { return other == t })
	b.running--
	close(t.over)
}

// runs has a task running that is kept now.
func (b *table) runs(t *task) Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.info.State = abi.TaskRunning
	return t.info
}

// ends has a task ended, and wakes those who wait for any end.
func (b *table) ends(t *task, end *ended) Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	end.apply(&t.info)
	b.running--
	b.ended = append(b.ended, t)
	t.woke = b.waiting > 0
	b.next.id = t.info.ID
	close(b.next.done)
	b.next = newEnding()
	return t.info
}

// find returns the task of an id.
func (b *table) find(id string) (*task, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tasks[id]; t != nil {
		return t, nil
	}
	if b.running == 0 {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no task %q, and none runs", fit(id, maxTitle))
	}
	return nil, abi.Errorf(abi.CodeNotFound, "there is no task %q; those that run are %s", fit(id, maxTitle), namesOf(b.unended()))
}

// unended returns the tasks that have not ended. The caller holds the mutex.
func (b *table) unended() []*task {
	var list []*task
	for _, t := range b.order {
		if !t.info.Over() {
			list = append(list, t)
		}
	}
	return list
}

// look is the task as it is now.
func (b *table) look(t *task) Info {
	b.mu.Lock()
	info := t.info
	b.mu.Unlock()
	measure(&info)
	return info
}

// unheard returns a task that has ended and that nobody was told of. Now somebody is.
func (b *table) unheard() string {
	for _, t := range b.ended {
		if !t.told && !t.woke {
			t.woke = true
			return t.info.ID
		}
	}
	return ""
}

// halt tells tasks to end, and keeps why.
func (b *table) halt(why string, list ...*task) {
	b.mu.Lock()
	for _, t := range list {
		if t.why == "" {
			t.why = why
		}
	}
	b.mu.Unlock()
	for _, t := range list {
		t.stop()
	}
}
