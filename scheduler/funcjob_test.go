package scheduler_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/scheduler"
)

// funcJob is a safe job made of functions, each of which may be missing.
type funcJob struct {
	name   string
	unsafe bool
	traits scheduler.Traits // but for Safe
	admit  func(context.Context) bool
	run    func(context.Context)
	do     func(context.Context, *scheduler.Slot) scheduler.Outcome // instead of run
	fail   func(error)
	settle func()
	yield  func()
	drop   func()
}

func (j *funcJob) Traits() scheduler.Traits {
	t := j.traits
	t.Safe = !j.unsafe
	return t
}

func (j *funcJob) Admit(ctx context.Context) bool { return j.admit == nil || j.admit(ctx) }

func (j *funcJob) Run(ctx context.Context, slot *scheduler.Slot) scheduler.Outcome {
	if j.do != nil {
		return j.do(ctx, slot)
	}
	if j.run != nil {
		j.run(ctx)
	}
	return scheduler.Outcome{}
}

func (j *funcJob) Fail(err error) {
	if j.fail != nil {
		j.fail(err)
	}
}

func (j *funcJob) Settle() {
	if j.settle != nil {
		j.settle()
	}
}

func (j *funcJob) Yield() {
	if j.yield != nil {
		j.yield()
	}
}

func (j *funcJob) Drop() {
	if j.drop != nil {
		j.drop()
	}
}

func add(t *testing.T, s *scheduler.Scheduler, jobs ...*funcJob) {
	t.Helper()
	for _, j := range jobs {
		if err := s.Add(j); err != nil {
			t.Fatal(err)
		}
	}
}

// goroutine is the first line of the stack, which names the goroutine.
func goroutine() string {
	buf := make([]byte, 64)
	line, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
	return line
}
