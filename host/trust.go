package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/record"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

// Trust remembers which projects the user trusts, by their real path, and what they
// were shown of each. Nothing that a project brings and that could loosen anything
// takes effect before it was shown. A nil *Trust trusts nothing. It is safe for
// concurrent use.
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

// UnmarshalJSON also reads the records of earlier versions, a time alone: they do not
// say what was shown, so that everything is shown again.
func (t *trusted) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &t.Since)
	}
	type plain trusted
	return json.Unmarshal(text, (*plain)(t))
}

// OpenTrust reads the projects trusted in a file; a missing file trusts none.
func OpenTrust(path string) (*Trust, error) {
	t := &Trust{file: record.File[trusted]{Path: path, Key: "projects"}}
	if err := t.refresh(); err != nil {
		return nil, err
	}
	return t, nil
}

// refresh reads the record again, for what other processes wrote to it.
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

// Trusts reports whether a project's root is trusted, whatever was shown of it.
func (t *Trust) Trusts(root string) bool { return t.shown(root) != nil }

// shown are the pins of a project, nil where it is not trusted.
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

// Roots lists the trusted projects, sorted.
func (t *Trust) Roots() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.list))
}

// Grant records that the user trusts a project and was shown these things of it,
// beside those that they were shown before.
func (t *Trust) Grant(root string, shown []settings.Brought, now time.Time) error {
	return t.update(func(list map[string]trusted) {
		project, ok := list[root]
		if !ok {
			project.Since = now.UTC().Truncate(time.Second)
		}
		project.add(shown)
		list[root] = project
	})
}

// Add records that the user was shown more of a project that they trust. It fails
// where they do not trust it any more.
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

func (t *trusted) add(shown []settings.Brought) {
	pins := slices.Clone(t.Shown)
	for _, b := range shown {
		pins = append(pins, b.Pin())
	}
	slices.Sort(pins)
	t.Shown = slices.Compact(pins)
}

// Revoke forgets a project and reports whether it was trusted.
func (t *Trust) Revoke(root string) (bool, error) {
	found := false
	err := t.update(func(list map[string]trusted) {
		_, found = list[root]
		delete(list, root)
	})
	return found, err
}

// update changes the list as it now is on disk. Only what was written counts.
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

// follow returns a function that reads the record and says what was shown of a
// project; nil where nothing is trusted.
func (t *Trust) follow(root string) func() (map[settings.Pin]bool, error) {
	if t == nil || root == "" {
		return nil
	}
	return func() (map[settings.Pin]bool, error) {
		err := t.refresh()
		return t.shown(root), err
	}
}

// Brings lists what the project brings that needs trust, and which of it the user was
// not shown yet. What is listed is what was read: pinning it pins nothing else.
func (p Project) Brings(dirs Dirs) (all, unseen []settings.Brought, err error) {
	sources := UserSettings(dirs, p)
	sources.SystemDir, sources.UserFile = "", ""
	loaded, err := settings.Load(sources)
	if err != nil {
		return nil, nil, err
	}
	all = loaded.Brings
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{plugins.Dir(plugins.OriginProject, p.Plugins())},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	for _, plugin := range set.Plugins() {
		if b, err := broughtPlugin(plugin); err == nil {
			all = append(all, b)
		}
	}
	shown := p.trust.shown(p.Root)
	for _, b := range all {
		if !shown[b.Pin()] {
			unseen = append(unseen, b)
		}
	}
	return all, unseen, nil
}

// broughtPlugin is a plugin as a project brings it. Its pin depends on every byte of
// its module and manifest. One that cannot be read is an error, and has no effect.
func broughtPlugin(p *plugins.Plugin) (settings.Brought, error) {
	fingerprint, err := p.Fingerprint()
	if err != nil {
		return settings.Brought{}, err
	}
	note := ", which asks for no capability"
	for i, claim := range p.Manifest().Capabilities {
		if i == 0 {
			note = ", which will ask for " + claim.Name
		} else {
			note += ", " + claim.Name
		}
	}
	return settings.Brought{
		Kind: settings.BringsPlugin, Text: p.Name + ", SHA-256 " + fingerprint, Note: note,
		Source: permissions.Source{Kind: permissions.SourceProject, File: p.Path},
	}, nil
}

// admits says of a project's plugins whether the user was shown them. It reads the
// record once for all.
func (p Project) admits() func(*plugins.Plugin) error {
	shown, err := p.trust.follow(p.Root)()
	return func(plugin *plugins.Plugin) error {
		if err != nil {
			return err
		}
		if shown == nil {
			return errors.New("the project is not trusted any more; toolquay trust shows and trusts what it brings")
		}
		b, err := broughtPlugin(plugin)
		if err == nil && !shown[b.Pin()] {
			err = errors.New("it is new since the project was trusted; toolquay trust shows and trusts what is new")
		}
		return err
	}
}
