package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// Consents remembers which plugins a person granted the capabilities they
// declare, each pinned to the bytes of its module and manifest: a plugin that
// changed is a plugin nobody consented to.
//
// A nil *Consents remembers nothing. It is safe for concurrent use.
type Consents struct {
	path string
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

type consentFile struct {
	Version int                `json:"version"`
	Plugins map[string]Consent `json:"plugins"`
}

// maxConsents is the largest consents file in bytes.
const maxConsents = 4 << 20

// OpenConsents reads the consents kept in a file; a missing file holds none. A
// file that cannot be read or understood is an error: guessing would grant or
// lose rights.
func OpenConsents(path string) (*Consents, error) {
	list, err := readConsents(path)
	if err != nil {
		return nil, err
	}
	return &Consents{path: path, list: list}, nil
}

func readConsents(path string) (map[string]Consent, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return make(map[string]Consent), nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConsents) {
		err = errors.New("it is not a regular file of reasonable size")
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	var file consentFile
	if err == nil {
		err = abi.Unmarshal(content, &file)
	}
	if err == nil && file.Version != 1 {
		err = fmt.Errorf("it is of version %d; this program knows version 1", file.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the plugins' grants from %s: %w; correct or delete the file, then trust the plugins again", path, err)
	}
	if file.Plugins == nil {
		file.Plugins = make(map[string]Consent)
	}
	return file.Plugins, nil
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

// Grant records a person's consent to everything p declares, as p now is.
func (c *Consents) Grant(p *Plugin, now time.Time) error {
	fingerprint, err := p.Fingerprint()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(p.Manifest.Capabilities))
	for _, claim := range p.Manifest.Capabilities {
		names = append(names, claim.Name)
	}
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
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("recording the consent: %w", err)
	}
	unlock, err := lockFile(c.path + ".lock")
	if err != nil {
		return fmt.Errorf("recording the consent: %w", err)
	}
	defer unlock()
	list, err := readConsents(c.path)
	if err != nil {
		return err
	}
	change(list)
	content, err := json.MarshalIndent(consentFile{Version: 1, Plugins: list}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("recording the consent: %w", err)
	}
	c.list = list
	return nil
}

const (
	// lockWait is how long a process waits for another that writes consents.
	lockWait = 5 * time.Second
	// lockStale is when a lock counts as left behind by a process that died:
	// writing takes milliseconds.
	lockStale = 30 * time.Second
)

// lockFile makes a file that only one process can make, and returns what takes
// it away again.
func lockFile(path string) (unlock func(), err error) {
	for deadline := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close() // nothing was written
			return func() { _ = os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(path)
		} else if time.Now().After(deadline) {
			return nil, fmt.Errorf("another process holds %s; if none does, delete it", path)
		}
	}
}
