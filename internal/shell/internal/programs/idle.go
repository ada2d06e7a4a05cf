package programs

import (
	"slices"

	"github.com/toolquay/toolquay/permissions"
)

// idle are the devices that opening does nothing with: what is written there is gone or
// refused, and what is read is nothing, or what nobody has written. A command has no
// terminal, so /dev/tty cannot even be opened.
var idle = map[permissions.AccessKind][]string{
	permissions.AccessRead:  append([]string{"/dev/null", "/dev/tty"}, endless...),
	permissions.AccessWrite: {"/dev/null", "/dev/tty", "/dev/zero", "/dev/full"},
}

// endless are those of them that can be read for ever.
var endless = []string{"/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Idle reports whether a path is one of a device that may be opened as if it were not
// there.
func Idle(kind permissions.AccessKind, path string) bool { return slices.Contains(idle[kind], path) }

// Endless reports whether reading a path comes to no end.
func Endless(path string) bool { return slices.Contains(endless, path) }
