package host

import (
	"errors"
	"io"
	"os"
	"syscall"
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
