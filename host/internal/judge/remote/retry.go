package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// maxTries is how often a request is made in all, and firstWait how long is waited
// before the second, where the server does not say; that doubles.
const (
	maxTries  = 3
	firstWait = 500 * time.Millisecond
)

// jitter spreads a time over its second half, so that calls that failed together
// do not come again together.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2) }

// pause waits, or reports false where ctx would be over by then.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// maxRetryAfter is more than any deadline: what is larger would overflow.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // which gives the largest there is
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(time.Until(date), 0), maxRetryAfter)
	}
	return 0
}
