// Package filelock takes the operating system's lock on an open file, which orders
// processes. The lock goes with the file: when a process dies, its lock is free.
// It also orders two openings of one file in the same process.
package filelock

import "errors"

// ErrLocked is that somebody else holds the lock.
var ErrLocked = errors.New("locked")
