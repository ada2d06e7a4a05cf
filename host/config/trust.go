package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/record"
	"github.com/toolquay/toolquay/permissions/settings"
)

// Trust records which projects the user trusts, by their real path, and what they were
// shown of each. Anything a project brings that could loosen a restriction takes effect
// only after the user was shown it. A nil *Trust trusts nothing. It is safe for concurrent
// use.
type Trust struct {
	file record.File[trusted]
	mu   sync.Mutex
	list map[string]trusted
}

// trusted is the record of one project.
type trusted struct {
	Since time.Time `json:"since"`
	// Shown are the pins of what the user was shown.
	Shown []settings.Pin `json:"shown"`
}

// UnmarshalJSON also reads the records of earlier versions, which are a time alone. They
// do not say what was shown, so everything is shown again.
func (t *trusted) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &t.Since)
	}
	type plain trusted
	return json.Unmarshal(text, (*plain)(t))
}

// OpenTrust reads the trusted projects from a file. A missing file trusts none.
func OpenTrust(path string) (*Trust, error) {
	t := &Trust{file: record.File[trusted]{Path: path, Key: "projects"}}
	if err := t.refresh(); err != nil {
		return nil, err
	}
	return t, nil
}

// refresh reads the file again, for changes of other processes.
func (t *Trust) refresh() error {
	list, err := t.file.Read()
	if err != nil {
		return fmt.Errorf("the trusted projects: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = list
	return nil
}

// Trusts reports whether the user trusts the project with this root.
func (t *Trust) Trusts(root string) bool { return t.shown(root) != nil }

// Roots lists the roots of the trusted projects, sorted.
func (t *Trust) Roots() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.list))
}

// TrustProject records that the user trusts a project and what they were shown of it, in
// addition to what they were shown before.
func (t *Trust) TrustProject(root string, shown []settings.Brought, now time.Time) error {
	return t.update(func(list map[string]trusted) {
		project, ok := list[root]
		if !ok {
			project.Since = now.UTC().Truncate(time.Second)
		}
		project.add(shown)
		list[root] = project
	})
}

// Add records that the user was shown more of a project they trust. It fails if they do
// not trust it any more.
func (t *Trust) Add(root string, shown ...settings.Brought) error {
	var err error
	found := false
	if t != nil {
		err = t.update(func(list map[string]trusted) {
			var project trusted
			if project, found = list[root]; found {
				project.add(shown)
				list[root] = project
			}
		})
	}
	if err == nil && !found {
		err = fmt.Errorf("the project %s is not trusted any more; toolquay trust shows and trusts what it brings", root)
	}
	return err
}

// Revoke removes a project and reports whether it was trusted.
func (t *Trust) Revoke(root string) (bool, error) {
	found := false
	err := t.update(func(list map[string]trusted) {
		_, found = list[root]
		delete(list, root)
	})
	return found, err
}

// add adds the pins of what was shown.
func (t *trusted) add(shown []settings.Brought) {
	pins := slices.Clone(t.Shown)
	for _, b := range shown {
		pins = append(pins, b.Pin())
	}
	slices.Sort(pins)
	t.Shown = slices.Compact(pins)
}

// update changes the list as it is on disk now. If it cannot be written, nothing changes.
func (t *Trust) update(change func(map[string]trusted)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, err := t.file.Update(change)
	if err != nil {
		return fmt.Errorf("recording the trusted project: %w", err)
	}
	t.list = list
	return nil
}

// shown returns the pins of a project, nil if it is not trusted.
func (t *Trust) shown(root string) map[settings.Pin]bool {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	project, ok := t.list[root]
	if !ok {
		return nil
	}
	pins := make(map[settings.Pin]bool, len(project.Shown))
	for _, pin := range project.Shown {
		pins[pin] = true
	}
	return pins
}

// follow returns a function that reads the file again and returns the pins of a project.
// It returns nil if nothing can be trusted.
func (t *Trust) follow(root string) func() (map[settings.Pin]bool, error) {
	if t == nil || root == "" {
		return nil
	}
	return func() (map[settings.Pin]bool, error) {
		err := t.refresh()
		return t.shown(root), err
	}
}
