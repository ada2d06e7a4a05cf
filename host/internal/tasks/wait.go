package tasks

import (
	"context"
	"time"
)

// stopWait is how long a task that is stopped may take to end.
const stopWait = 5 * time.Second

// waitFor waits until a channel is closed, or for so long.
func waitFor(ctx context.Context, done <-chan struct{}, most time.Duration) error {
	if most <= 0 {
		return nil
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
		return givenUp(ctx)
	}
	return nil
}

// already is the reason of a task that was to be stopped and had ended.
func already(reason string) string {
	if reason == "" {
		return "it had ended already"
	}
	return "it had ended already: " + reason
}
