package testenv

import (
	"testing"
	"time"
)

// Patience is how long a test waits for what comes soon if it comes at all: so
// long that no machine, busy or stalled, is taken for a hang, and short of the
// time that go test gives a package.
const Patience = time.Minute

// attempts is how often [InTime] may try.
const attempts = 10

// InTime fails the test where try, which returns how long the thing in question
// took, says more than limit each of several times. A machine that does other
// things too makes some of them late; what is slow by itself is late each time.
//
// Whatever else try checks it must check each time: no fault but lateness is to
// be tried again.
func InTime(tb testing.TB, limit time.Duration, try func() time.Duration) {
	tb.Helper()
	var took []time.Duration
	for range attempts {
		took = append(took, try())
		if took[len(took)-1] <= limit || tb.Failed() {
			return
		}
	}
	tb.Errorf("it took %v, over %v each time", took, limit)
}

// Took is how long do takes by the clock.
func Took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
