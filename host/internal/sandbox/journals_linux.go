//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// journals are those of other processes.
type journals struct {
	// dead are the files of the dead, left what these list, and held what is listed by
	// the living.
	dead       []string
	left, held map[string]fileID
}

// readJournals reads the journals in files, except the one of this process.
func readJournals(files []string, own *os.File) (*journals, error) {
	j := &journals{left: make(map[string]fileID), held: make(map[string]fileID)}
	for _, file := range files {
		if own != nil && file == own.Name() {
			continue
		}
		listed, alive, err := readJournal(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went with its folder
		}
		if err != nil {
			return nil, err
		}
		into := j.held
		if !alive {
			into, j.dead = j.left, append(j.dead, file)
		}
		for _, one := range listed {
			into[one.Path] = one.File
		}
	}
	return j, nil
}

// journalsIn are the journals in a folder for state.
func journalsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, journalsName))
	files := make([]string, 0, len(entries))
	for _, e := range entries {
		files = append(files, filepath.Join(dir, journalsName, e.Name()))
	}
	return files, err
}

// unlink removes a file that may not be there.
func unlink(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// listed is a placeholder in a journal. One without a file was about to be made.
type listed struct {
	Path string
	File fileID
}

// readJournal reads what a process holds, and whether it lives. A journal that has no
// list was made by a process that died before it made anything else.
func readJournal(path string) (list []listed, alive bool, err error) {
	f, _, err := privatedir.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	alive = errors.Is(filelock.Try(f), filelock.ErrLocked)
	_ = json.NewDecoder(f).Decode(&list) // what comes after the list is of a longer one before
	return list, alive, nil
}
