package engine

import (
	"bytes"
	"runtime"
)

// stretch is how much memory is cleared or copied at once, in bytes: some 30 us
// of work, 100 us where the memory is used for the first time. It cannot be
// interrupted, and a garbage collection waits for it, which everything else may
// be waiting for.
const stretch = 256 << 10

// wipe clears memory, and lets others run now and then.
func wipe(b []byte) {
	for ; len(b) > stretch; b = b[stretch:] {
		clear(b[:stretch])
		runtime.Gosched()
	}
	clear(b)
}

// transfer copies memory, and lets others run now and then.
func transfer(to, from []byte) {
	for ; len(from) > stretch; to, from = to[stretch:], from[stretch:] {
		copy(to, from[:stretch])
		runtime.Gosched()
	}
	copy(to, from)
}

var zeros [comparePage]byte

func isZero(b []byte) bool {
	for ; len(b) > comparePage; b = b[comparePage:] {
		if !bytes.Equal(b[:comparePage], zeros[:]) {
			return false
		}
	}
	return bytes.Equal(b, zeros[:len(b)])
}
