package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return fmt.Sprintf("interrupted (%v)", i.signal) }

// interruptible returns a context that the first SIGINT or SIGTERM ends, so that
// a turn still gives its results. The second ends the process at once.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				if !first {
					os.Exit(exitSignal + int(number))
				}
				cancel(interrupted{number})
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// signalCode is the exit code for a context that a signal ended, or 0.
func signalCode(ctx context.Context) int {
	if i, ok := errors.AsType[interrupted](context.Cause(ctx)); ok {
		return exitSignal + int(i.signal)
	}
	return exitOK
}
