package plugins

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/record"
)

// Consents remembers which plugins a person granted the capabilities they
// declare, each pinned to the bytes of its module and manifest: a plugin that
// changed is a plugin nobody consented to.
//
// A nil *Consents remembers nothing. It is safe for concurrent use.
type Consents struct {
	file record.File[Consent]
	mu   sync.Mutex
	list map[string]Consent
}

// Consent is one person's yes to one plugin.
type Consent struct {
	// Fingerprint is [Plugin.Fingerprint] in hexadecimal.
	Fingerprint  string    `json:"fingerprint"`
	Capabilities []string  `json:"capabilities"`
	Granted      time.Time `json:"granted"`
}

// OpenConsents reads the consents kept in a file; a missing file holds none. A
// file that cannot be read or understood is an error: guessing would grant or
// lose rights.
func OpenConsents(path string) (*Consents, error) {
	file := record.File[Consent]{Path: path, Key: "plugins"}
	list, err := file.Read()
	if err != nil {
		return nil, fmt.Errorf("the plugins' grants: %w", err)
	}
	return &Consents{file: file, list: list}, nil
}

// Of returns the consent on record for a plugin's name.
func (c *Consents) Of(name string) (Consent, bool) {
	if c == nil {
		return Consent{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	consent, ok := c.list[name]
	return consent, ok
}

// refresh reads the record again, for what other processes wrote to it.
func (c *Consents) refresh() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list, err := c.file.Read()
	if err != nil {
		return fmt.Errorf("the plugins' grants: %w", err)
	}
	c.list = list
	return nil
}

// Grant records a person's consent to everything p declares, as p now is.
func (c *Consents) Grant(p *Plugin, now time.Time) error {
	fingerprint, err := p.Fingerprint()
	if err != nil {
		return err
	}
	names := append([]string{}, p.generation.finding.Summary.Capabilities...)
	return c.update(func(list map[string]Consent) {
		list[p.Name] = Consent{Fingerprint: fingerprint, Capabilities: names, Granted: now.UTC().Truncate(time.Second)}
	})
}

// Revoke forgets a consent and reports whether there was one.
func (c *Consents) Revoke(name string) (bool, error) {
	found := false
	err := c.update(func(list map[string]Consent) {
		_, found = list[name]
		delete(list, name)
	})
	return found, err
}

// update changes the list as it now is on disk, so that processes do not lose
// each other's consents. Only what was written counts.
func (c *Consents) update(change func(map[string]Consent)) error {
	if c == nil {
		return errors.New("this host keeps no record of consents")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list, err := c.file.Update(change)
	if err != nil {
		return fmt.Errorf("recording the consent: %w", err)
	}
	c.list = list
	return nil
}
