package plugins

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/record"
)

// Grants records which plugins a person granted the capabilities they declare. Each
// grant is pinned to the bytes of module and manifest: changing a plugin revokes its
// grant.
//
// A nil *Grants holds none. It is safe for concurrent use.
type Grants struct {
	file record.File[Grant]
	mu   sync.Mutex
	list map[string]Grant
}

// Grant is a person's grant to one plugin.
type Grant struct {
	// Fingerprint is [Plugin.Fingerprint] in hexadecimal.
	Fingerprint  string    `json:"fingerprint"`
	Capabilities []string  `json:"capabilities"`
	Granted      time.Time `json:"granted"`
}

// OpenGrants reads the grants kept in a file; a missing file holds none. A file that
// cannot be read or understood is an error: guessing would grant or lose rights.
func OpenGrants(path string) (*Grants, error) {
	file := record.File[Grant]{Path: path, Key: "plugins"}
	list, err := file.Read()
	if err != nil {
		return nil, fmt.Errorf("the plugins' grants: %w", err)
	}
	return &Grants{file: file, list: list}, nil
}

// Of returns the grant on record for a plugin's name.
func (g *Grants) Of(name string) (Grant, bool) {
	if g == nil {
		return Grant{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	grant, ok := g.list[name]
	return grant, ok
}

// refresh reads the record again, for what other processes wrote to it.
func (g *Grants) refresh() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list, err := g.file.Read()
	if err != nil {
		return fmt.Errorf("the plugins' grants: %w", err)
	}
	g.list = list
	return nil
}

// Add records that a person grants everything p declares, as p now is.
func (g *Grants) Add(p *Plugin, now time.Time) error {
	fingerprint, err := p.Fingerprint()
	if err != nil {
		return err
	}
	names := append([]string{}, p.generation.finding.Summary.Capabilities...)
	return g.update(func(list map[string]Grant) {
		list[p.Name] = Grant{Fingerprint: fingerprint, Capabilities: names, Granted: now.UTC().Truncate(time.Second)}
	})
}

// Revoke forgets a grant and reports whether there was one.
func (g *Grants) Revoke(name string) (bool, error) {
	found := false
	err := g.update(func(list map[string]Grant) {
		_, found = list[name]
		delete(list, name)
	})
	return found, err
}

// update changes the list as it now is on disk, so that processes do not lose
// each other's grants. Only what was written counts.
func (g *Grants) update(change func(map[string]Grant)) error {
	if g == nil {
		return errors.New("this host keeps no record of grants")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list, err := g.file.Update(change)
	if err != nil {
		return fmt.Errorf("recording the grant: %w", err)
	}
	g.list = list
	return nil
}

// GrantState says whether a plugin's capabilities are granted.
type GrantState string

// The grant states.
const (
	// GrantUnneeded: the plugin is built in, or declares no capability that a person
	// must grant (see [abi.NeedsGrant]).
	GrantUnneeded GrantState = "not needed"
	GrantGiven    GrantState = "granted"
	// GrantMissing: nobody granted them yet.
	GrantMissing GrantState = "missing"
	// GrantChanged: somebody granted them, and the plugin changed since.
	GrantChanged GrantState = "changed"
)

// GrantState tells whether the capabilities that the plugin declares are granted.
func (p *Plugin) GrantState() GrantState {
	m := p.Manifest()
	if p.Origin == OriginBuiltin || m == nil || !slices.ContainsFunc(m.Capabilities, func(c abi.CapabilityClaim) bool { return abi.NeedsGrant(c.Name) }) {
		return GrantUnneeded
	}
	if p.generation.granted {
		return GrantGiven
	}
	grant, ok := p.generation.lineage.options.Grants.Of(p.Name)
	if !ok {
		return GrantMissing
	}
	if fingerprint, err := p.Fingerprint(); err != nil || grant.Fingerprint != fingerprint {
		return GrantChanged
	}
	return GrantGiven
}

// refusal is the error for a call to a plugin that cannot be read or has no
// grant.
func (p *Plugin) refusal() error {
	if _, err := p.generation.manifest(); err != nil {
		return err
	}
	switch p.GrantState() {
	case GrantMissing:
		return abi.Errorf(abi.CodeNotGranted, "plugin %s asks for capabilities (%s) that nobody has granted; to see them and grant them run: %s",
			p.Name, claims(p), p.Command("plugins trust "+p.Name))
	case GrantChanged:
		if _, err := p.Fingerprint(); err != nil {
			return err
		}
		return abi.Errorf(abi.CodeNotGranted, "plugin %s changed since its capabilities (%s) were granted; to see and grant them again run: %s",
			p.Name, claims(p), p.Command("plugins trust "+p.Name))
	}
	return nil
}

func claims(p *Plugin) string {
	return strings.Join(p.generation.finding.Summary.Capabilities, ", ")
}
