package task

import (
	"context"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

const (
	// MaxSleep is the longest sleep.
	MaxSleep = time.Hour
	// tellSleep is how often it is told what is left.
	tellSleep = 5 * time.Second
)

// sleepPlan is one task.sleep.
type sleepPlan struct {
	capability.OfSession
	scope capability.Scope
	most  time.Duration
}

func planSleep(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.SleepArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	if args.Duration < 1 || args.Duration > MaxSleep.Milliseconds() {
		return nil, abi.Errorf(abi.CodeInvalidInput, "a sleep of %d ms; it is 1 to %d", args.Duration, MaxSleep.Milliseconds())
	}
	return &sleepPlan{targetSleep, scope, time.Duration(args.Duration) * time.Millisecond}, nil
}

// Do waits: no process does, and no goroutine but the caller's. A rehearsal does not.
func (p *sleepPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if p.scope.Rehearse {
		return abi.Answer{OK: abi.SleepOK{Slept: p.most.Milliseconds()}}, nil
	}
	began := time.Now()
	woken, err := p.sleep(ctx, began.Add(p.most))
	if err != nil {
		return abi.Answer{}, err
	}
	return abi.Answer{OK: abi.SleepOK{Slept: time.Since(began).Milliseconds(), Woken: woken}}, nil
}

// sleep waits until a time, or until a task has ended, whose id it returns.
func (p *sleepPlan) sleep(ctx context.Context, until time.Time) (woken string, err error) {
	for {
		left := time.Until(until)
		if left <= 0 {
			return "", nil
		}
		woken, err := p.doze(ctx, min(left, tellSleep))
		if err != nil || woken != "" {
			return woken, err
		}
		if left -= tellSleep; left > 0 {
			p.scope.Report(abi.Progress{
				Message: fmt.Sprintf("asleep; %v left", left.Round(time.Second)),
				Done:    (p.most - left).Seconds(), Total: p.most.Seconds(),
			})
		}
	}
}

// doze waits for so long, or until a task has ended.
func (p *sleepPlan) doze(ctx context.Context, most time.Duration) (woken string, err error) {
	if p.scope.Tasks != nil {
		return p.scope.Tasks.NextEnd(ctx, most)
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-timer.C:
		return "", nil
	case <-ctx.Done():
		return "", abi.Errorf(abi.CodeOfEnd(ctx), "the sleep was given up: %w", context.Cause(ctx))
	}
}
