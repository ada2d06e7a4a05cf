// Package record keeps small lists in JSON files that several processes change:
// what a person granted, what they trust.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/filelock"
)

// maxSize is the largest file in bytes.
const maxSize = 4 << 20

// version is the only format there is.
const version = 1

// File is where a list is kept: {"version": 1, KEY: {name: item, ...}}.
type File[T any] struct {
	Path string
	// Key is the list's name in the file, and for people.
	Key string
}

// Read returns the list; a missing file holds none. A file that cannot be read
// or understood is an error: guessing would give or take rights.
func (f File[T]) Read() (map[string]T, error) {
	info, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return make(map[string]T), nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSize) {
		err = errors.New("it is not a regular file of reasonable size")
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(f.Path)
	}
	var file map[string]json.RawMessage
	if err == nil {
		err = abi.Unmarshal(content, &file)
	}
	if err == nil && string(file["version"]) != "1" {
		err = fmt.Errorf("its version is %.20q; this program knows version %d", file["version"], version)
	}
	list := make(map[string]T)
	if err == nil && file[f.Key] != nil {
		err = abi.Unmarshal(file[f.Key], &list)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w; correct or delete the file, then trust again what it held", f.Path, err)
	}
	return list, nil
}

// Update changes the list as it now is on disk, so that processes do not lose
// each other's changes, and returns it as it was written.
func (f File[T]) Update(change func(map[string]T)) (map[string]T, error) {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	unlock, err := filelock.Path(f.Path+".lock", lockWait)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	defer unlock()
	list, err := f.Read()
	if err != nil {
		return nil, err
	}
	change(list)
	content, err := json.MarshalIndent(map[string]any{"version": version, f.Key: list}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	if len(content) >= maxSize { // nothing could read it
		return nil, fmt.Errorf("writing %s: the list would be over its limit of %d bytes; nothing was recorded", f.Path, maxSize)
	}
	if err := atomicfile.Write(f.Path, append(content, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("writing %s: %w", f.Path, err)
	}
	return list, nil
}

// lockWait is how long a process waits for another that writes, which takes milliseconds.
const lockWait = 5 * time.Second
