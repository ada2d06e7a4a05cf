//go:build !linux

package warm

import (
	"context"
	"time"
)

// shell is for Linux alone: it takes a PID namespace to be sure of.
type shell struct {
	kind   string
	expiry *time.Timer
}

func start(context.Context, func(context.Context, *Launch) (Process, error), *Launch, string) (*shell, error) {
	return nil, ErrUnfit
}

func (*shell) untouched() bool { return false }

func (*shell) run(context.Context, *Request) (Result, bool, error) { return Result{}, false, ErrUnfit }

func (*shell) kill() {}

func (*shell) close() {}
