package lists

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// version is that of the files.
const version = 1

// The ends of names: of what is kept, and of what was put aside.
const (
	keptSuffix  = ".json"
	asideSuffix = ".damaged"
)

// errDamaged is that of a file that is not what was written.
var errDamaged = errors.New("the file is damaged")

// damaged makes the error of a file that is not what was written of what is wrong with it.
func damaged(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// record is what a file holds.
type record interface {
	// written is the version that it was written by.
	written() int
	// check returns what is wrong with it, or nil.
	check() error
}

// readRecord reads a file of at most so many bytes.
func readRecord(path string, most int64, into record) error {
	f, info, err := privatedir.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > most {
		return fmt.Errorf("%s: %w: it has %d bytes", path, errDamaged, info.Size())
	}
	raw, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", path, damaged(err))
	}
	if v := into.written(); v != version {
		return fmt.Errorf("%s is of version %d; this program knows version %d", path, v, version)
	}
	if err := into.check(); err != nil {
		return fmt.Errorf("%s: %w", path, damaged(err))
	}
	return nil
}

// putAside gives a damaged file another name, and returns it.
func putAside(path string) (string, error) {
	aside := strings.TrimSuffix(path, keptSuffix) + asideSuffix
	return aside, os.Rename(path, aside)
}
