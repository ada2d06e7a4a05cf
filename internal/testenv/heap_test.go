package testenv

import (
	"runtime"
	"testing"
)

var garbage, kept []byte

// TestHeapGrowth counts what is in use, not what was made. No test can hold that something
// is seen that is dropped again: how soon a collection ends is the machine's to say.
func TestHeapGrowth(t *testing.T) {
	const mib = 1 << 20
	for name, test := range map[string]struct {
		do          func()
		least, most uint64
	}{
		"garbage": {func() {
			for range 200 {
				garbage = make([]byte, mib)
			}
		}, 0, 32 * mib},
		"kept": {func() {
			kept = make([]byte, 64*mib)
			runtime.GC()
		}, 60 * mib, 110 * mib},
	} {
		t.Run(name, func(t *testing.T) {
			if got := HeapGrowth(test.do); got < test.least || got > test.most {
				t.Errorf("grew by %d bytes, want %d to %d", got, test.least, test.most)
			}
			garbage, kept = nil, nil
		})
	}
}
