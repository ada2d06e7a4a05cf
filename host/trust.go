package host

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/record"
)

// Trust remembers which projects the user trusts, by their real path. Nothing
// that a project brings and that could loosen anything takes effect before. A
// nil *Trust trusts nothing. It is safe for concurrent use.
type Trust struct {
	file record.File[time.Time]
	mu   sync.Mutex
	list map[string]time.Time
}

// OpenTrust reads the projects trusted in a file; a missing file trusts none.
func OpenTrust(path string) (*Trust, error) {
	file := record.File[time.Time]{Path: path, Key: "projects"}
	list, err := file.Read()
	if err != nil {
		return nil, fmt.Errorf("the trusted projects: %w", err)
	}
	return &Trust{file: file, list: list}, nil
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
	return slices.Sorted(maps.Keys(t.list))
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

// update changes the list as it now is on disk. Only what was written counts.
func (t *Trust) update(change func(map[string]time.Time)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, err := t.file.Update(change)
	if err != nil {
		return fmt.Errorf("recording the trusted project: %w", err)
	}
	t.list = list
	return nil
}
