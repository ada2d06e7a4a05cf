package testenv_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// failing stands in for a test whose failure is noted only.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Helper() {}

func (f *failing) Failed() bool { return len(f.said) > 0 }

func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func TestInTime(t *testing.T) {
	const late, timely = 3, 2
	tests := map[string]struct {
		took   []time.Duration // the last one must be reached
		wrong  bool            // the last one finds another fault
		failed bool
	}{
		"at once":         {[]time.Duration{timely}, false, false},
		"late once":       {[]time.Duration{late, timely}, false, false},
		"late each time":  {slices.Repeat([]time.Duration{late}, 10), false, true},
		"wrong, and late": {[]time.Duration{late, late}, true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f, n := &failing{TB: t}, 0
			testenv.InTime(f, timely, func() time.Duration {
				if n++; n == len(test.took) && test.wrong {
					f.Errorf("wrong")
				}
				return test.took[n-1]
			})
			if n != len(test.took) || f.Failed() != test.failed {
				t.Errorf("after %d of %d attempts: %q", n, len(test.took), f.said)
			}
		})
	}
}

// TestWork: computing is work, and on Linux waiting is none.
func TestWork(t *testing.T) {
	sum := 0
	if testenv.Work(func() {
		for i := range 20_000_000 {
			sum ^= i
		}
	}) < time.Millisecond {
		t.Error("computing is no work")
	}
	testenv.Permitted(t, testenv.Linux)
	const wait = 300 * time.Millisecond
	if work := testenv.Work(func() { time.Sleep(wait) }); work >= wait {
		t.Errorf("waiting is %v of work", work)
	}
}
