package engine

import (
	"math"
	"runtime/debug"
)

// buffer holds bytes, many of them outside of Go's heap, from where they can be
// given back when they are not needed any more.
type buffer struct {
	b    []byte
	back func() // gives b back where it is borrowed, else nil
}

func (b *buffer) close() {
	if b.back != nil {
		b.back()
	}
	*b = buffer{}
}

// newBuffer returns an empty buffer with room for size bytes.
func newBuffer(size int) buffer {
	if size > muchGarbage && size <= math.MaxInt32 {
		if room, back := borrow(size); back != nil {
			return buffer{room[:0], back}
		}
	}
	return buffer{b: make([]byte, 0, size)}
}

// outside moves a large buffer out of Go's heap, and gives back to the system what
// was left over from making it.
func (b *buffer) outside() {
	if len(b.b) <= muchGarbage {
		return
	}
	collect(len(b.b))
	if room, back := borrow(len(b.b)); back != nil {
		transfer(room, b.b)
		*b = buffer{room, back}
		collect(len(room))
	}
}

// muchGarbage is from how much garbage on it is worth a collection of its own, in
// bytes.
const muchGarbage = 4 << 20

// collect gives back to the system what was left over from a piece of work on
// size bytes, before the next one takes as much again. It takes some milliseconds
// where loading so large a module takes a hundred or more.
func collect(size int) {
	if size > muchGarbage {
		debug.FreeOSMemory()
	}
}
