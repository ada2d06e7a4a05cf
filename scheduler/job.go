package scheduler

import (
	"context"
	"errors"
	"fmt"
)

// Job is one call to be ordered. Its methods are called one at a time, from
// different goroutines, with everything that one did visible to the next.
type Job interface {
	// Safe reports whether the job may run beside other safe jobs. It is asked
	// by Add, and again after Admit. A panic counts as false.
	Safe() bool
	// Admit is called when the job's turn has come, before it holds a slot. It
	// may take as long as a person takes. False says that the job has ended
	// here, with a result of its own.
	//
	// It is called a second time if the job became unsafe and had to wait until
	// it can run alone: the session may be another by then. What a person has
	// approved for the same input should stand.
	Admit(ctx context.Context) bool
	// Run does the work, in a slot. It must return soon after ctx ends.
	Run(ctx context.Context)
	// Fail gives the job a failure for its result, in place of any other: the
	// cause of the context's end, a [*PanicError], or [ErrExited]. It is called
	// at most once, before Yield; Admit and Run are not called after it.
	Fail(err error)
	// Settle applies the job's effects on the session. It is called once for
	// every job, also where there are none.
	Settle()
	// Yield lets the result leave. It is called once for every job, strictly in
	// call order and never for two jobs at once. A slow Yield holds back later
	// results but no work. It must not call Wait.
	Yield()
}

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
	// ErrExited is the failure of a job that ended its goroutine.
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
