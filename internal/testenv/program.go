package testenv

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a program for a test to run. No process is forked meanwhile: it would
// have the file open for writing until it becomes another program, and as long as that takes
// the system refuses to run the file ("text file busy").
func WriteProgram(tb testing.TB, path string, content []byte) {
	tb.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, content, 0o755)
	syscall.ForkLock.RUnlock()
	if err := errors.Join(err, os.Chmod(path, 0o755)); err != nil { // whatever the umask
		tb.Fatal(err)
	}
}

// AwaitForks waits until the processes that are being forked are programs of their own, for
// which files that were written before can be run.
func AwaitForks() {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}
