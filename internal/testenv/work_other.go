//go:build !linux

package testenv

import "time"

// Work is the time that do takes: by the clock, because this system does not tell
// the processor time of a thread.
func Work(do func()) time.Duration { return Took(do) }
