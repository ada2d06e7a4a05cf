package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// stopWait is how long a task that is stopped may take to end.
const stopWait = 5 * time.Second

// ending is the end of a task that somebody waits for, whichever it is. id is set before
// done is closed.
type ending struct {
	done chan struct{}
	id   string
}

func newEnding() *ending { return &ending{done: make(chan struct{})} }

// Wait waits for the end of a task; see [capability.Tasks].
func (r *Registry) Wait(ctx context.Context, id string, most time.Duration) (Info, error) {
	t, err := r.find(id)
	if err != nil {
		return Info{}, err
	}
	if err := waitFor(ctx, t.over, most); err != nil {
		return Info{}, err
	}
	return r.look(t), nil
}

// waitFor waits until a channel is closed, or for so long.
func waitFor(ctx context.Context, done <-chan struct{}, most time.Duration) error {
	if most <= 0 {
		return nil
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
		return givenUp(ctx)
	}
	return nil
}

func givenUp(ctx context.Context) error {
	return abi.Errorf(abi.CodeOfEnd(ctx), "waiting for a background task was given up: %w", context.Cause(ctx))
}

// Stop ends a task; see [capability.Tasks].
func (r *Registry) Stop(ctx context.Context, id string) (Info, error) {
	t, err := r.find(id)
	if err != nil {
		return Info{}, err
	}
	info := r.look(t)
	if info.Over() {
		r.tell(t)
		info.Reason = already(info.Reason)
		return info, nil
	}
	r.halt("it was stopped with TaskStop", t)
	if err := waitFor(ctx, t.over, stopWait); err != nil {
		return Info{}, err
	}
	if info = r.look(t); !info.Over() {
		return Info{}, abi.Errorf(abi.CodeTimeout, "task %s (%s) was told to end and has not within %v; look again with TaskOutput", id, info.Title, stopWait)
	}
	r.tell(t)
	return info, nil
}

// already is the reason of a task that was to be stopped and had ended.
func already(reason string) string {
	if reason == "" {
		return "it had ended already"
	}
	return "it had ended already: " + reason
}

// halt tells tasks to end, and keeps why.
func (r *Registry) halt(why string, list ...*task) {
	r.mu.Lock()
	for _, t := range list {
		if t.why == "" {
			t.why = why
		}
	}
	r.mu.Unlock()
	for _, t := range list {
		t.stop()
	}
}

// NextEnd waits for the end of any task; see [capability.Tasks]. An end that came while
// nobody waited is returned at once, so that none is missed by who looked a moment too
// early, and only once, so that nobody is kept from waiting.
func (r *Registry) NextEnd(ctx context.Context, most time.Duration) (string, error) {
	r.mu.Lock()
	if id := r.unheard(); id != "" {
		r.mu.Unlock()
		return id, nil
	}
	next := r.next
	r.waiting++
	r.mu.Unlock()
	err := waitFor(ctx, next.done, most)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting--
	return next.id, err
}

// unheard returns a task that has ended and that nobody was told of. Now somebody is.
func (r *Registry) unheard() string {
	for _, t := range r.ended {
		if !t.told && !t.woke {
			t.woke = true
			return t.info.ID
		}
	}
	return ""
}

// Close ends all tasks and waits until they have, for 5 s at most. Nothing begins any
// more. It fails where some have not ended; they are lost then, if their host ends first.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	running := r.unended()
	r.mu.Unlock()
	r.halt("the session ended", running...)
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
