package scheduler

import (
	"context"
	"errors"
	"fmt"
)

// Job is one call to be ordered. Its methods are called one at a time, from
// different goroutines, with everything that one did visible to the next. They may
// call the Scheduler, but for Wait and Drain, which would wait for them. A goroutine
// goes on with other jobs: a method that changes it, as by runtime.LockOSThread, must
// put it back, or end it.
type Job interface {
	// Traits says what orders the job. They are asked by Add, again after Admit, and,
	// of a locked job before its turn comes, if one that ran alone has ended since:
	// names may mean something else by then. A panic counts as the zero value, which
	// runs alone.
	Traits() Traits
	// Admit is called when the job's turn has come, before it holds a slot. It
	// may take as long as a person takes. False says that the job has ended
	// here, with a result of its own.
	//
	// It is called a second time if the job came to need more room than it has
	// (it is not safe any more, or its locks are others) and had to wait until it
	// can run alone: the session may be another by then. What a person has
	// approved for the same input should stand.
	Admit(ctx context.Context) bool
	// Run does the work, in a slot. It must return soon after ctx ends; what
	// cannot end so soon is left over in the outcome. The cause of ctx says why it
	// ended: that of the scheduler's own context, a [*CascadeError], or what
	// Interrupt or Discard were given.
	Run(ctx context.Context, slot *Slot) Outcome
	// Fail gives the job a failure for its result, in place of any other: the
	// cause of the context's end, a [*CascadeError], what Interrupt was given, a
	// [*PanicError], or [ErrExited]. It is called at most once, before Yield; Admit
	// and Run are not called after it.
	Fail(err error)
	// Settle applies the job's effects on the session. It is called once for
	// every job, also where there are none. It must not end its goroutine, which may be
	// the one that calls Wait.
	Settle()
	// Yield lets the result leave. It is called once for every job that is not
	// dropped, strictly in call order and never for two jobs at once. A slow Yield
	// holds back later results but no work.
	Yield()
	// Drop takes the place of Yield after Discard: the result does not leave.
	Drop()
}

// Traits are what orders a job.
type Traits struct {
	// Safe says that the job may run beside other safe jobs, whatever they lock.
	Safe bool
	// Locked says that Locks are all that the job touches: it may run beside jobs
	// that are locked too and with which it has no conflict.
	Locked bool
	Locks  []Lock
	// Cascade says that the job's failure cancels its siblings with the same
	// trait, and theirs it; see [Cascade].
	Cascade bool
	// Block says that an interrupt lets the job run to its end once it runs.
	Block bool
	// Group bounds jobs together, such as those of one plugin; see [PoolOptions].
	// Empty is no group.
	Group string
}

// Lock is one resource that a job reads or writes. Names are slash-separated
// paths; one that lies below another is part of it. Two locks conflict where one
// of them writes and they have the same name, or the name of one lies below the
// other's.
type Lock struct {
	Name  string
	Write bool
}

// Outcome is what a job's Run came to.
type Outcome struct {
	// Failed says that the result is an error, which is what cascades.
	Failed bool
	// Leftovers, if not nil, is closed when all that goes on after the result has
	// ended: until then, but no longer than [LeftoverOptions].Timeout, the job keeps
	// its locks, or everything to itself. It holds no slot.
	Leftovers <-chan struct{}
	// Held is how many bytes of memory the result takes until it has left.
	Held int64
}

// Cascade says how far the failure of a job with the trait reaches.
type Cascade uint8

// The reaches.
const (
	// CascadeBatch cancels jobs, with the trait, of the same batch: those that
	// run, and those behind it in the queue before the next one that must run
	// alone.
	CascadeBatch Cascade = iota
	// CascadeTurn cancels all that come after it too.
	CascadeTurn
	// CascadeOff cancels none.
	CascadeOff
)

// CascadeError is why a job was cancelled by the failure of another.
type CascadeError struct {
	// Failed is the job that failed.
	Failed Job
}

// Error says no more than that there was one: what the job is its maker knows.
func (e *CascadeError) Error() string { return "a job beside it failed" }

// State is how far a job has come.
type State uint8

// The states of a job, in order. Only a job that became unsafe goes back, from
// Admitting to Queued.
const (
	Queued    State = iota
	Admitting       // its turn has come
	Executing       // it holds a slot
	Completed       // it has its result
	Yielded         // the result has left
)

// String returns the state's name in lower case.
func (s State) String() string {
	names := [...]string{"queued", "admitting", "executing", "completed", "yielded"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("state %d", s)
}

var (
	// ErrClosed is what Add answers after Close.
	ErrClosed = errors.New("scheduler: closed to new jobs")
	// ErrExited is the failure of a job that ended its goroutine, or whose
	// goroutine ended while it applied the effects of those before it.
	ErrExited = errors.New("scheduler: the job ended its goroutine")
)

// PanicError is the failure of a job that panicked.
type PanicError struct {
	// Method is the one of [Job] that panicked, such as "Run".
	Method string
	// Value is what it panicked with.
	Value any
	// Stack is the goroutine's stack at that moment.
	Stack []byte
}

// Error names the method and the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic in %s: %v", e.Method, e.Value) }

// Unwrap returns the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Partition groups jobs, named by their place in call order, into the batches
// they run in: consecutive safe ones together, every other one alone.
func Partition(safe []bool) [][]int {
	var batches [][]int
	for i, s := range safe {
		if last := len(batches) - 1; s && i > 0 && safe[i-1] {
			batches[last] = append(batches[last], i)
			continue
		}
		batches = append(batches, []int{i})
	}
	return batches
}
