//go:build !linux && !darwin

package worker

import (
	"os"
	"syscall"
)

// processAttributes ask for nothing: a child ends with its parent because its
// standard input does.
func processAttributes() *syscall.SysProcAttr { return nil }

// resident returns 0: the memory that another process occupies cannot be told.
func resident(int) int64 { return 0 }

// apply bounds nothing here: there are no such limits.
func (limits) apply() error { return nil }

// closeInherited closes nothing: handles are not inherited here.
func closeInherited() {}

// pipes are the standard streams as they are.
func pipes() (in, out *os.File, err error) { return os.Stdin, os.Stdout, nil }
