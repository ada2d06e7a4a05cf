package testenv

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a program for a test to run. It lets no other goroutine fork meanwhile: the
// child would have the file open for writing until it has executed its own program, and until
// then the system refuses to run the file ("text file busy").
func WriteProgram(tb testing.TB, path string, content []byte) {
	tb.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, content, 0o755)
	syscall.ForkLock.RUnlock()
	if err := errors.Join(err, os.Chmod(path, 0o755)); err != nil { // whatever the umask
		tb.Fatal(err)
	}
}

// AwaitForks waits until all children that are being forked have executed their programs.
// After it, files that were written before it can be run; see [WriteProgram].
func AwaitForks() {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}
