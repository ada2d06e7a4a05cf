//go:build unix

package gitconfig

import "syscall"

// unblocked has FIFOs opened at once.
const unblocked = syscall.O_NONBLOCK
