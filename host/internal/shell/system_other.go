//go:build !unix

package shell

import (
	"errors"
	"os"
	"syscall"
)

// carefully is nothing where commands do not run.
const carefully = 0

// signalName is a signal's name.
func signalName(s syscall.Signal) string { return s.String() }

func makeFIFO(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func readNow(f *os.File, b []byte) (int, error) { return f.Read(b) }
