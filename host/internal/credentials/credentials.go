// Package credentials keeps secrets that the host was given, such as tokens of MCP servers:
// each in a file that only the user can read, or in the keyring of the system.
package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Store keeps secrets by name. It is safe for concurrent use, also by several processes.
type Store struct {
	dir  string
	kept place
}

// place is where secrets lie. A secret that is not there is nil.
type place interface {
	load(name string) ([]byte, error)
	save(name string, secret []byte) error
	remove(name string) error
}

// InFiles returns a store of files in a directory, which is made when the first is kept.
func InFiles(dir string) *Store { return &Store{dir, files(dir)} }

// InKeyring returns a store in the keyring of the system: Keychain, Credential Manager or
// the Secret Service of D-Bus. The directory has locks alone.
func InKeyring(dir string) *Store { return &Store{dir, inKeyring{}} }

// maxSecret bounds a secret, in bytes. Keyrings of some systems take less.
const maxSecret = 64 << 10

// patience is how long others may hold the lock on a secret, and how long a keyring may take,
// which may ask the person to unlock it.
const patience = 2 * time.Minute

// Load returns what is kept under a name, nil where nothing is.
func (s *Store) Load(ctx context.Context, name string) ([]byte, error) {
	secret, err := bounded(ctx, func() ([]byte, error) { return s.kept.load(name) })
	if err != nil {
		return nil, fmt.Errorf("the credentials of %s cannot be read: %w", name, err)
	}
	return secret, nil
}

// Update replaces what is kept under a name by what a function makes of it, nil to keep
// nothing. Nobody else updates that name meanwhile, in this process or another. After an
// error of the function, which Update returns, everything is as it was.
func (s *Store) Update(ctx context.Context, name string, update func(kept []byte) ([]byte, error)) error {
	if err := privatedir.Make(s.dir); err != nil {
		return fmt.Errorf("there is no place for credentials: %w", err)
	}
	lock, _, err := privatedir.OpenOwn(filepath.Join(s.dir, fileName(name)+".lock"), os.O_CREATE|os.O_RDWR)
	if err != nil {
		return fmt.Errorf("the credentials of %s cannot be locked: %w", name, err)
	}
	defer lock.Close()
	if err := filelock.WaitContext(ctx, lock, patience); err != nil {
		return fmt.Errorf("the credentials of %s cannot be locked: %w", name, err)
	}
	defer filelock.Unlock(lock)
	kept, err := s.Load(ctx, name)
	if err != nil {
		return err
	}
	secret, err := update(kept)
	if err != nil {
		return err
	}
	// What was got must not be lost because nobody waits for it any more.
	_, err = bounded(context.WithoutCancel(ctx), func() ([]byte, error) {
		switch {
		case secret == nil:
			return nil, s.kept.remove(name)
		case len(secret) > maxSecret:
			return nil, fmt.Errorf("%d bytes; at most %d can be kept", len(secret), maxSecret)
		}
		return nil, s.kept.save(name, secret)
	})
	if err != nil {
		return fmt.Errorf("the credentials of %s cannot be kept: %w", name, err)
	}
	return nil
}

// bounded waits for a function until the context ends, or there is no patience left. Keyrings
// know neither.
func bounded(ctx context.Context, do func() ([]byte, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type answer struct {
		secret []byte
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		secret, err := do()
		done <- answer{secret, err}
	}()
	select {
	case a := <-done:
		return a.secret, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fileName is one that any name can have, on every file system.
func fileName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// files are in the directory of that name.
type files string

func (dir files) path(name string) string { return filepath.Join(string(dir), fileName(name)+".json") }

func (dir files) load(name string) ([]byte, error) {
	f, _, err := privatedir.OpenOwn(dir.path(name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(secret) > maxSecret {
		err = fmt.Errorf("%s has more than %d bytes", f.Name(), maxSecret)
	}
	return secret, err
}

func (dir files) save(name string, secret []byte) error {
	return atomicfile.Write(dir.path(name), secret, 0o600)
}

func (dir files) remove(name string) error {
	if err := os.Remove(dir.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// service is what entries in keyrings are filed under.
const service = "toolquay"

// keyrings is held during each use of the keyring, whose library does not say that it may be
// used concurrently.
var keyrings sync.Mutex

type inKeyring struct{}

func (inKeyring) load(name string) ([]byte, error) {
	keyrings.Lock()
	defer keyrings.Unlock()
	secret, err := keyring.Get(service, name)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	return []byte(secret), explained(err)
}

func (inKeyring) save(name string, secret []byte) error {
	keyrings.Lock()
	defer keyrings.Unlock()
	return explained(keyring.Set(service, name, string(secret)))
}

func (inKeyring) remove(name string) error {
	keyrings.Lock()
	defer keyrings.Unlock()
	if err := keyring.Delete(service, name); !errors.Is(err, keyring.ErrNotFound) {
		return explained(err)
	}
	return nil
}

// explained says what to do about a keyring that does not work.
func explained(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(`the system's keyring: %w; [credentials] store = "file" keeps them in files instead`, err)
}
