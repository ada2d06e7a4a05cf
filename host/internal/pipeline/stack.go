package pipeline

// deep is about the stack that judging a call and running a guest take, in
// bytes.
const deep = 12 << 10

// GrowStack grows the stack of a new goroutine at once, while there is next to
// nothing on it. Left to itself it grows in three or four steps, each of which
// copies what is there and adjusts every frame: a tenth of a small call's time.
func GrowStack() { reserve(-1) }

// reserve has a large frame, which its prologue makes room for. The frame is not
// cleared unless it is used, which no caller asks for.
//
//go:noinline
func reserve(used int) byte {
	if used < 0 {
		return 0
	}
	var room [deep]byte
	room[used%deep] = 1
	return room[len(room)-1]
}
