package testenv

import "testing"

var garbage, kept []byte

// TestHeapGrowth counts what is in use at a time, not what was made.
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
		"kept, then dropped": {func() {
			kept = make([]byte, 64*mib)
			for range 200 {
				garbage = make([]byte, mib)
			}
			kept = nil
		}, 60 * mib, 110 * mib},
	} {
		t.Run(name, func(t *testing.T) {
			if got := HeapGrowth(test.do); got < test.least || got > test.most {
				t.Errorf("grew by %d bytes, want %d to %d", got, test.least, test.most)
			}
		})
	}
}
