package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string {
	name, known := map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}[i.signal]
	if !known {
		name = i.signal.String()
	}
	return "the program was told to end (" + name + ")"
}

// signals is what SIGINT, SIGTERM and SIGHUP do: the first ends the command's
// context, so that a turn still gives its results, the second ends the process at
// once.
type signals struct {
	cancel context.CancelCauseFunc
	came   chan os.Signal
	done   chan struct{}

	mu        sync.Mutex
	interrupt func() bool
	last      func()
}

// interruptible returns a context that the first signal ends.
func interruptible(ctx context.Context) (context.Context, *signals) {
	s := &signals{came: make(chan os.Signal, 2), done: make(chan struct{}), last: func() {}}
	ctx, s.cancel = context.WithCancelCause(ctx)
	signal.Notify(s.came, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(s.came, syscall.SIGHUP)
	}
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
				s.beforeEnd()()
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

// hold has SIGINT do nothing until release is called. A program that is started meanwhile ignores
// it too.
func (s *signals) hold() (release func()) {
	signal.Ignore(syscall.SIGINT) // one that is merely passed over may still be under way at the end
	return func() { signal.Notify(s.came, syscall.SIGINT) }
}

// beforeExit has a function called before a signal ends the process at once.
func (s *signals) beforeExit(last func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
}

func (s *signals) beforeEnd() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
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
