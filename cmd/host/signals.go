package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return fmt.Sprintf("interrupted (%v)", i.signal) }

// signals is what SIGINT and SIGTERM do: the first ends the command's context, so
// that a turn still gives its results, the second ends the process at once.
type signals struct {
	cancel context.CancelCauseFunc
	came   chan os.Signal
	done   chan struct{}

	mu        sync.Mutex
	interrupt func() bool
}

// interruptible returns a context that the first signal ends.
func interruptible(ctx context.Context) (context.Context, *signals) {
	s := &signals{came: make(chan os.Signal, 2), done: make(chan struct{})}
	ctx, s.cancel = context.WithCancelCause(ctx)
	signal.Notify(s.came, syscall.SIGINT, syscall.SIGTERM)
	go s.wait()
	return ctx, s
}

func (s *signals) wait() {
	first := true
	for {
		select {
		case sig := <-s.came:
			number, _ := sig.(syscall.Signal)
			switch {
			case number == syscall.SIGINT && first && s.softer():
			case !first:
				os.Exit(exitSignal + int(number))
			default:
				first = false
				s.cancel(interrupted{number})
			}
		case <-s.done:
			return
		}
	}
}

// onInterrupt has SIGINT call a function first. Where that reports that it has
// interrupted something, the signal does no more.
func (s *signals) onInterrupt(interrupt func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = interrupt
}

func (s *signals) softer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interrupt != nil && s.interrupt()
}

// stop gives signals back their usual meaning.
func (s *signals) stop() {
	signal.Stop(s.came)
	close(s.done)
	s.cancel(nil)
}

// signalCode is the exit code for a context that a signal ended, or 0.
func signalCode(ctx context.Context) int {
	if i, ok := errors.AsType[interrupted](context.Cause(ctx)); ok {
		return exitSignal + int(i.signal)
	}
	return exitOK
}
