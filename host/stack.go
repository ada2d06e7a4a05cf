package host

// deep is about the stack that judging a call and running a guest take, in
// bytes.
const deep = 12 << 10

// growStack grows the stack of a new goroutine at once, while there is next to
// nothing on it. Left to itself it grows in three or four steps, each of which
// copies what is there and adjusts every frame: a tenth of a small call's time.
//
//go:noinline
func growStack() byte {
	var room [deep]byte
	return room[len(room)-1]
}
