package abi

// What a guest cannot know by itself. Both operations touch nothing: a manifest declares
// them, and nobody has to grant them (see [NeedsGrant]).
const (
	// CapClockNow tells the time. It takes no arguments; the answer's head is [ClockOK],
	// without a body.
	CapClockNow = "clock.now"
	// CapRandomBytes draws random numbers that nobody can foresee. Its arguments are
	// [RandomArgs]; the answer's head is [RandomOK], its body the bytes.
	CapRandomBytes = "random.bytes"
)

// MaxRandom is how many bytes one random.bytes answers at most.
const MaxRandom = 64 << 10

// ClockOK is the answer to clock.now.
type ClockOK struct {
	// Unix is the time in nanoseconds since 1970, in UTC.
	Unix int64 `json:"unix_ns"`
	// Monotonic counts nanoseconds and is never put back. It begins anywhere, so that
	// only differences mean anything, and only within one call.
	Monotonic int64 `json:"monotonic_ns"`
}

// RandomArgs are the arguments of random.bytes.
type RandomArgs struct {
	// Length is how many bytes are wanted, up to [MaxRandom].
	Length int `json:"length"`
}

// RandomOK is the answer to random.bytes.
type RandomOK struct {
	Length int `json:"length"`
}

// NeedsGrant reports whether a person must grant a capability before a plugin may use
// it. Only those need none that touch nothing.
func NeedsGrant(capability string) bool {
	return capability != CapClockNow && capability != CapRandomBytes
}
