package host

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/toolquay/toolquay/permissions"
)

// maxConfig bounds how much is read of a file of configuration.
const maxConfig = 1 << 20

// beginningOf reads a file, for [permissions.Walls.Find], and opens nothing that would
// have it wait.
func beginningOf(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, maxConfig))
}

// onceRead is [beginningOf] that reads each file once.
func onceRead() permissions.Read {
	type beginning struct {
		content []byte
		err     error
	}
	seen := make(map[string]beginning)
	return func(file string) ([]byte, error) {
		b, known := seen[file]
		if !known {
			b.content, b.err = beginningOf(file)
			seen[file] = b
		}
		return b.content, b.err
	}
}
