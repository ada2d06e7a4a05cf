package tasks_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// stoppable enters a task that ends so long after it was told to, and counts how often
// it was.
func stoppable(tb testing.TB, r *tasks.Registry, title string, after time.Duration) (capability.Task, *atomic.Int32) {
	tb.Helper()
	var told atomic.Int32
	stop := make(chan struct{}, 100)
	task, err := r.Begin(capability.NewTask{Kind: 'b', Title: title, Stop: func() {
		told.Add(1)
		stop <- struct{}{}
	}})
	if err != nil {
		tb.Fatal(err)
	}
	go func() {
		<-stop
		time.Sleep(after)
		task.End(capability.TaskOutcome{Killed: true, Exit: new(137)})
	}()
	return task, &told
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := memory(t, tasks.Options{})
		task := begin(t, r, "waits", "")
		wait := func(most time.Duration) (string, time.Duration) {
			began := time.Now()
			got, err := r.Wait(t.Context(), task.ID(), most)
			if err != nil {
				t.Error(err)
			}
			return got.State, time.Since(began)
		}
		if state, took := wait(0); state != abi.TaskRunning || took != 0 {
			t.Errorf("%s after %v", state, took)
		}
		if state, took := wait(time.Minute); state != abi.TaskRunning || took != time.Minute {
			t.Errorf("%s after %v", state, took)
		}
		time.AfterFunc(time.Second, func() { task.End(capability.TaskOutcome{}) })
		if state, took := wait(time.Minute); state != abi.TaskCompleted || took != time.Second {
			t.Errorf("%s after %v", state, took)
		}
		if state, took := wait(time.Minute); state != abi.TaskCompleted || took != 0 {
			t.Errorf("then %s after %v", state, took)
		}
	})
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := memory(t, tasks.Options{})
		task, told := stoppable(t, r, "waits", time.Minute)
		enough := errors.New("enough")
		for name, call := range map[string]func(ctx context.Context) error{
			"wait": func(ctx context.Context) error { _, err := r.Wait(ctx, task.ID(), time.Hour); return err },
			"next": func(ctx context.Context) error { _, err := r.NextEnd(ctx, time.Hour); return err },
			"stop": func(ctx context.Context) error { _, err := r.Stop(ctx, task.ID()); return err },
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			began := time.Now()
			time.AfterFunc(time.Second, func() { cancel(enough) })
			if err := call(ctx); abi.CodeOf(err) != abi.CodeCancelled || !errors.Is(err, enough) || time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		}
		if told.Load() != 1 {
			t.Errorf("it was told to end %d times", told.Load())
		}
		if got, err := r.Wait(t.Context(), task.ID(), time.Hour); err != nil || got.State != abi.TaskKilled {
			t.Errorf("in the end it is %+v, %v", got, err)
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := memory(t, tasks.Options{})
		task, _ := stoppable(t, r, "stops", 3*time.Second)
		var stops sync.WaitGroup
		for range 5 {
			stops.Go(func() {
				got, err := r.Stop(t.Context(), task.ID())
				if err != nil || got.State != abi.TaskKilled || got.Reason != "it was stopped with TaskStop" {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		}
		stops.Wait()
		got, err := r.Stop(t.Context(), task.ID())
		if err != nil || got.State != abi.TaskKilled || !strings.HasPrefix(got.Reason, "it had ended already: ") {
			t.Errorf("then %+v, %v", got, err)
		}
		if list := r.Notices(); len(list) > 0 {
			t.Errorf("who stopped them is told of %v", list)
		}
		deaf, told := stoppable(t, r, "deaf", 7*time.Second)
		began := time.Now()
		if _, err := r.Stop(t.Context(), deaf.ID()); abi.CodeOf(err) != abi.CodeTimeout || time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		if got, err := r.Stop(t.Context(), deaf.ID()); err != nil || got.State != abi.TaskKilled || told.Load() != 2 {
			t.Errorf("told %d times, it is %+v, %v", told.Load(), got, err)
		}
	})
}

func TestNextEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := memory(t, tasks.Options{})
		next := func(want string, after time.Duration) {
			t.Helper()
			began := time.Now()
			id, err := r.NextEnd(t.Context(), time.Minute)
			if err != nil || id != want || time.Since(began) != after {
				t.Errorf("%q after %v, %v; want %q after %v", id, time.Since(began), err, want, after)
			}
		}
		next("", time.Minute)
		one, two, three := begin(t, r, "one", ""), begin(t, r, "two", ""), begin(t, r, "three", "")
		one.End(capability.TaskOutcome{}) // while nobody waits
		two.End(capability.TaskOutcome{})
		next(one.ID(), 0)
		if _, err := r.Read(t.Context(), two.ID(), capability.TaskRead{}); err != nil {
			t.Error(err)
		}
		next("", time.Minute) // the other one is known by now
		time.AfterFunc(time.Second, func() { three.End(capability.TaskOutcome{}) })
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { next(three.ID(), time.Second) })
		}
		both.Wait()
		next("", time.Minute)
		if list := r.Notices(); len(list) != 2 {
			t.Errorf("the model is told of %v", list)
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := memory(t, tasks.Options{})
		quick, _ := stoppable(t, r, "quick", time.Second)
		ended := begin(t, r, "ended", "")
		ended.End(capability.TaskOutcome{})
		began := time.Now()
		if err := r.Close(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if got := get(t, r, quick.ID()); got.State != abi.TaskKilled || got.Reason != "the session ended" {
			t.Errorf("it is %+v", got)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Errorf("again: %v", err)
		}
		if _, err := r.Begin(capability.NewTask{Kind: 'b', Stop: func() {}}); abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("one more: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := memory(t, tasks.Options{})
		stoppable(t, r, "quick", time.Second)
		deaf, _ := stoppable(t, r, "deaf", time.Minute)
		began := time.Now()
		err := r.Close(t.Context())
		if err == nil || !strings.Contains(err.Error(), deaf.ID()) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if got, err := r.Wait(t.Context(), deaf.ID(), time.Hour); err != nil || got.State != abi.TaskKilled {
			t.Errorf("in the end it is %+v, %v", got, err)
		}
	})
}
