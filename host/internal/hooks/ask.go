package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// answer is what one hook said.
type answer struct {
	hook   *hook
	out    Output
	record Record
}

// ask runs one hook. docErr is why there is no document for a command.
func (h *hook) ask(ctx context.Context, in *Input, doc []byte, docErr error) answer {
	a := answer{hook: h, record: Record{
		Hook: h.Name, Source: h.Source, Event: in.Event, Started: time.Now(), Exit: noExit,
	}}
	limit := &abi.Error{Code: abi.CodeTimeout, Message: "it ran longer than its limit of " + h.Timeout.String()}
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, limit)
	defer cancel()
	err := docErr
	switch {
	case h.Func != nil:
		a.out, err = h.call(ctx, in)
	case err == nil:
		a.out, a.record.Exit, err = h.run(ctx, in, doc)
	}
	if err == nil {
		err = a.out.settle(in.Event)
	}
	if err != nil {
		a.out = failure(in.Event, err)
	}
	if bytes.Equal(a.out.UpdatedInput, in.ToolInput) {
		a.out.UpdatedInput = nil
	}
	a.record.Took = time.Since(a.record.Started)
	a.record.Verdict, a.record.Err = a.out.Verdict, err
	return a
}

// failure is what a hook comes to that has no answer.
func failure(e Event, err error) Output {
	switch {
	case e.during():
		return Output{Verdict: permissions.Deny, Reason: clean(err.Error())}
	case e != PreToolUse:
		return Output{Message: clean(err.Error())}
	}
	return Output{Verdict: permissions.Ask, Reason: clean(err.Error())}
}

// PanicError is the error of a function that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error names what it panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("it panicked: %v", e.Value) }

var errGoexit = errors.New("it ended its goroutine instead of returning")

// call runs a function. One that does not heed its context is left behind.
func (h *hook) call(ctx context.Context, in *Input) (Output, error) {
	if ctx.Err() != nil {
		return Output{}, context.Cause(ctx)
	}
	type returned struct {
		out Output
		err error
	}
	own := *in // what is left behind must reach nothing that is judged
	own.ToolInput = bytes.Clone(in.ToolInput)
	own.Aliases = slices.Clone(in.Aliases)
	done := make(chan returned, 1)
	go func() {
		r := returned{err: errGoexit}
		defer func() {
			if v := recover(); v != nil {
				r = returned{err: &PanicError{Value: v, Stack: debug.Stack()}}
			}
			done <- r
		}()
		r.out, r.err = h.Func(ctx, own)
	}()
	select {
	case r := <-done:
		return r.out, r.err
	case <-ctx.Done():
		return Output{}, context.Cause(ctx)
	}
}
