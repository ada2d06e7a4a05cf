package sessiondir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
)

var (
	// ErrInUse is that another session, of this process or another, uses the folder.
	ErrInUse = errors.New("the session is in use")
	// ErrClosed is that of a folder that was closed.
	ErrClosed = errors.New("the session's folder is closed")
)

// Folder is one session's directory. It is safe for concurrent use.
type Folder struct {
	parent, path, id string
	log              *slog.Logger

	mu     sync.Mutex
	closed bool
	// marker is the locked file; nil until the directory is made or was found.
	marker  *os.File
	journal journal
	// recorded is what the journal held when it was opened, by kind.
	recorded map[string][]json.RawMessage
}

// Open returns the folder of a session in the directory of all of them. Where there
// is none yet, it is made when something is kept in it. [ErrInUse] says that
// somebody else uses it.
//
// What it makes and finds must be the user's own and closed to others. The logger
// is told of what is lost.
func Open(parent, id string, log *slog.Logger) (*Folder, error) {
	if !filepath.IsAbs(parent) {
		return nil, fmt.Errorf("the directory of sessions %q is not an absolute path", parent)
	}
	parent = filepath.Clean(parent)
	f := &Folder{parent: parent, path: filepath.Join(parent, nameOf(id)), id: id, log: log}
	if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.make(); err != nil {
		return nil, err
	}
	return f, nil
}

// Path is the directory, whether it is made or not.
func (f *Folder) Path() string { return f.path }

// Recall returns the data of the records of a kind that were there when the folder
// was opened, in order, and forgets them.
func (f *Folder) Recall(kind string) []json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.recorded[kind]
	delete(f.recorded, kind)
	return found
}

// make makes sure that the directory is there and ours, and is not used by others.
func (f *Folder) make() error {
	switch {
	case f.closed:
		return ErrClosed
	case f.marker != nil:
		return nil
	}
	if err := f.take(); err != nil {
		return fmt.Errorf("the folder of the session %q: %w", f.id, err)
	}
	return nil
}

func (f *Folder) take() error {
	if err := privatedir.Make(f.parent); err != nil {
		return fmt.Errorf("%s: %w", f.parent, err)
	}
	marker, err := claim(f.path, f.id)
	if err != nil {
		return err
	}
	if err := f.openJournal(); err != nil {
		return errors.Join(err, marker.Close())
	}
	f.marker = marker
	f.removeTemporary()
	return nil
}

func (f *Folder) openJournal() error {
	file, _, err := privatedir.OpenOwn(filepath.Join(f.path, journalName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	found, left, err := f.journal.open(file, f.id)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.recorded = found
	if left.bytes > 0 {
		f.log.Warn("the end of a session's journal was cut off", "session", f.id, "file", file.Name(), "bytes", left.bytes, "why", left.reason(), "kept", left.aside)
	}
	return nil
}

// Close lets go of the folder.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.marker == nil {
		return nil
	}
	f.removeTemporary()
	now := time.Now()
	err := os.Chtimes(f.marker.Name(), now, now) // when it was last used, for Sweep
	return errors.Join(err, f.journal.close(), f.marker.Close())
}
