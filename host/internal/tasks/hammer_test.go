package tasks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// TestHammer has many tasks begin, write, be read, waited for, listed and stopped at
// once. Each of them ends once and is told of once at most, and each byte is shown once.
func TestHammer(t *testing.T) {
	t.Parallel()
	const workers, each, text = 8, 30, "one line\n"
	var began, over atomic.Int32
	r := newRoom(t, tasks.Options{MaxRunning: workers + 1, MaxKept: workers * each, Notify: func(i tasks.Info) {
		if i.Over() {
			over.Add(1)
		} else {
			began.Add(1)
		}
	}})
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var lookers, work sync.WaitGroup
	noticed := make(map[string]bool)
	lookers.Go(func() {
		for ctx.Err() == nil {
			for _, n := range r.Notices() { // between the end and who stopped it there is time for one
				if noticed[n.ID] {
					t.Errorf("the model was told twice of %s", n.ID)
				}
				noticed[n.ID] = true
			}
			if _, err := tasks.Read(r.folder.Path()); err != nil {
				t.Error(err)
			}
		}
	})
	lookers.Go(func() {
		for ctx.Err() == nil {
			_, _ = r.NextEnd(ctx, time.Millisecond) // it is given up in the end
			if n := len(r.List()); n > workers*each {
				t.Errorf("%d tasks", n)
			}
		}
	})
	for w := range workers {
		work.Go(func() {
			for i := range each {
				hammer(t, r.Registry, filepath.Join(dir, fmt.Sprint(w, "-", i)), text)
			}
		})
	}
	work.Wait()
	cancel()
	lookers.Wait()
	if began.Load() != workers*each || over.Load() != workers*each || len(r.Notices()) != 0 {
		t.Errorf("%d began, %d ended, and of some the model does not know", began.Load(), over.Load())
	}
	before := r.List()
	r.again()
	for i, got := range r.List() {
		if got.State != before[i].State || got.Shown != int64(len(text)) {
			t.Errorf("%s is %s and was %s; %d bytes were shown", got.ID, got.State, before[i].State, got.Shown)
		}
	}
}

// hammer is the life of one task.
func hammer(t *testing.T, r *tasks.Registry, output, text string) {
	t.Helper()
	stop := make(chan struct{})
	task, err := r.Begin(capability.NewTask{Kind: 'b', Title: output, Output: output, Stop: sync.OnceFunc(func() { close(stop) })})
	if err != nil {
		t.Error(err)
		return
	}
	var shown atomic.Int64
	read := func() {
		got, err := r.Read(t.Context(), task.ID(), capability.TaskRead{})
		if err != nil {
			t.Error(err)
		}
		shown.Add(int64(len(got.Text)))
	}
	write(t, output, text)
	var all sync.WaitGroup
	all.Go(read)
	all.Go(read)
	all.Go(func() {
		if got, err := r.Stop(t.Context(), task.ID()); err != nil || got.State != abi.TaskKilled {
			t.Error(got, err)
		}
	})
	all.Go(func() {
		if got, err := r.Wait(t.Context(), task.ID(), time.Minute); err != nil || !got.Over() {
			t.Error(got, err)
		}
	})
	<-stop
	time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) //nolint:gosec // it is any time
	task.End(capability.TaskOutcome{Killed: true})
	all.Wait()
	if shown.Load() != int64(len(text)) {
		t.Errorf("%d bytes were shown", shown.Load())
	}
}
