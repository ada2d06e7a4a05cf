package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// Trust remembers which projects the user trusts, by their real path. Nothing
// that a project brings and that could loosen anything takes effect before. A
// nil *Trust trusts nothing. It is safe for concurrent use.
type Trust struct {
	path string
	mu   sync.Mutex
	list map[string]time.Time
}

type trustFile struct {
	Version  int                  `json:"version"`
	Projects map[string]time.Time `json:"projects"`
}

// OpenTrust reads the projects trusted in a file; a missing file trusts none.
func OpenTrust(path string) (*Trust, error) {
	t := &Trust{path: path}
	return t, t.load()
}

func (t *Trust) load() error {
	t.list = make(map[string]time.Time)
	content, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file trustFile
	if err == nil {
		err = abi.Unmarshal(content, &file)
	}
	if err == nil && file.Version != 1 {
		err = fmt.Errorf("it is of version %d; this program knows version 1", file.Version)
	}
	if err != nil {
		return fmt.Errorf("reading the trusted projects from %s: %w; correct or delete the file, then trust the projects again", t.path, err)
	}
	maps.Copy(t.list, file.Projects)
	return nil
}

// Trusts reports whether a project's root is trusted.
func (t *Trust) Trusts(root string) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.list[root]
	return ok
}

// Roots lists the trusted projects, sorted.
func (t *Trust) Roots() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	roots := make([]string, 0, len(t.list))
	for root := range t.list {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	return roots
}

// Grant records that the user trusts a project.
func (t *Trust) Grant(root string, now time.Time) error {
	return t.update(func(list map[string]time.Time) { list[root] = now.UTC().Truncate(time.Second) })
}

// Revoke forgets a project and reports whether it was trusted.
func (t *Trust) Revoke(root string) (bool, error) {
	found := false
	err := t.update(func(list map[string]time.Time) {
		_, found = list[root]
		delete(list, root)
	})
	return found, err
}

func (t *Trust) update(change func(map[string]time.Time)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil {
		return err
	}
	change(t.list)
	content, err := json.MarshalIndent(trustFile{Version: 1, Projects: t.list}, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(t.path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(t.path, append(content, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording the trusted project: %w", err)
	}
	return nil
}
