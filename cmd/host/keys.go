package main

import (
	"context"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// keysHelp says what the keys do while calls run.
const keysHelp = "keys: b moves what runs to the background, p enters plan mode, p twice leaves it, s stops the task that began last"

// keys is what the person at the terminal can do to a session, beside answering questions. A nil
// one, where nobody sits there, does nothing.
type keys struct {
	app     *app
	session *host.Session

	mu      sync.Mutex
	running []string // calls, by their ids
	// leaving says that the last key was the first of the two that leave plan mode: one alone
	// may have been typed for something else, and what it allows cannot be taken back.
	leaving bool
}

// watchKeys has keys steer a session until end is called.
func (a *app) watchKeys(ctx context.Context, s *host.Session) (k *keys, end func()) {
	if a.sitting == nil {
		return nil, func() {}
	}
	k = &keys{app: a, session: s}
	return k, a.sitting.Watch(ctx, func(key rune) {
		if says := k.press(ctx, key); says != "" {
			a.err.Printf("%s\n", says)
		}
	})
}

// event keeps which calls run.
func (k *keys) event(e host.Event) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch e.Kind {
	case host.EventStarted:
		k.running = append(k.running, e.CallID)
	case host.EventFinished:
		k.running = slices.DeleteFunc(k.running, func(id string) bool { return id == e.CallID })
	}
}

// press does what a key is for, and says what became of it.
func (k *keys) press(ctx context.Context, key rune) string {
	again := k.leaving
	k.leaving = false
	switch key {
	case 'b', 'B':
		return k.background()
	case 'p', 'P':
		return k.plan(again)
	case 's', 'S':
		return k.stop(ctx)
	case '\n', '\r':
		return ""
	}
	return keysHelp
}

func (k *keys) background() string {
	k.mu.Lock()
	running := slices.Clone(k.running)
	k.mu.Unlock()
	moved := false
	for _, id := range running {
		moved = k.session.MoveToBackground(id) || moved
	}
	if !moved {
		return "no command runs that can be moved to the background"
	}
	return ""
}

func (k *keys) plan(again bool) string {
	if k.session.Mode() == permissions.ModePlan {
		if k.leaving = !again; k.leaving {
			return "press p again to leave plan mode"
		}
		if err := k.session.LeavePlan(); err != nil {
			return "the mode stays plan: " + err.Error()
		}
	} else if err := k.session.SetMode(permissions.ModePlan); err != nil {
		return "the mode stays " + string(k.session.Mode()) + ": " + err.Error()
	}
	return "the mode is now " + string(k.session.Mode())
}

// stop ends the running task that began last. What became of it is told as of every task.
func (k *keys) stop(ctx context.Context) string {
	for _, t := range slices.Backward(k.session.Tasks()) {
		if t.Over() {
			continue
		}
		if _, err := k.session.StopTask(ctx, t.ID); err != nil {
			return "the task " + t.ID + " goes on: " + err.Error()
		}
		return ""
	}
	return "no background task runs"
}
