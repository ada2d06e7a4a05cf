package sessiondir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// ErrClosed is returned by a directory that was closed.
var ErrClosed = errors.New("the session's directory is closed")

// temporary begins the names of files that are not whole yet.
const temporary = ".tmp-"

// Dir is one session's directory. It is safe for concurrent use.
type Dir struct {
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

// Open returns the directory of a session below the parent of all. Where it is missing, it
// is made when the first thing is kept in it. It fails with [ErrInUse] while another session
// uses it.
//
// What it makes and finds must be the user's own and closed to others. The logger
// is told of what is lost.
func Open(parent, id string, log *slog.Logger) (*Dir, error) {
	if !filepath.IsAbs(parent) {
		return nil, fmt.Errorf("the directory of sessions %q is not an absolute path", parent)
	}
	parent = filepath.Clean(parent)
	f := &Dir{parent: parent, path: filepath.Join(parent, nameOf(id)), id: id, log: log}
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
func (d *Dir) Path() string { return d.path }

// Recall returns the data of the records of a kind that were there when the directory
// was opened, in order, and forgets them.
func (d *Dir) Recall(kind string) []json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.recorded[kind]
	delete(d.recorded, kind)
	return found
}

// Make makes the directory where it is missing, for files that others write there.
func (d *Dir) Make() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.make()
}

// make makes sure that the directory is there and ours, and is not used by others.
func (d *Dir) make() error {
	switch {
	case d.closed:
		return ErrClosed
	case d.marker != nil:
		return nil
	}
	if err := d.take(); err != nil {
		return fmt.Errorf("the directory of the session %q: %w", d.id, err)
	}
	return nil
}

func (d *Dir) take() error {
	if err := privatedir.Make(d.parent); err != nil {
		return fmt.Errorf("%s: %w", d.parent, err)
	}
	marker, err := claim(d.path, d.id)
	if err != nil {
		return err
	}
	if err := d.openJournal(); err != nil {
		return errors.Join(err, release(marker))
	}
	d.marker = marker
	d.removeTemporary()
	return nil
}

func (d *Dir) openJournal() error {
	file, _, err := privatedir.OpenOwn(filepath.Join(d.path, journalName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	found, left, err := d.journal.open(file, d.id)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	d.recorded = found
	if left.bytes > 0 {
		d.log.Warn("the end of a session's journal was cut off", "file", file.Name(), "bytes", left.bytes, "why", left.reason(), "kept", left.aside)
	}
	return nil
}

// removeTemporary removes unfinished files, and what a [Discard] that was cut short left. The
// session directory is ours.
func (d *Dir) removeTemporary() {
	dirs, err := os.ReadDir(d.path)
	if err != nil {
		return // it is tried again
	}
	for _, dir := range dirs {
		path := filepath.Join(d.path, dir.Name())
		if strings.HasPrefix(dir.Name(), temporary) {
			_ = tempdir.RemoveAll(path)
		}
		if !dir.IsDir() {
			continue
		}
		files, err := os.ReadDir(path)
		if err != nil {
			continue
		}
		for _, file := range files {
			if file.Type().IsRegular() && strings.HasPrefix(file.Name(), temporary) {
				_ = os.Remove(filepath.Join(path, file.Name()))
			}
		}
	}
}

// Append remembers records, all or none of them. When it returns nil they are on
// the disk.
func (d *Dir) Append(records ...Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.make(); err != nil {
		return err
	}
	if err := d.journal.append(records, time.Now()); err != nil {
		return fmt.Errorf("the journal of the session %q: %w", d.id, err)
	}
	return nil
}

// Close releases the directory.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.marker == nil {
		return nil
	}
	d.removeTemporary()
	now := time.Now()
	err := os.Chtimes(d.marker.Name(), now, now) // for LastUsed
	return errors.Join(err, d.journal.close(), release(d.marker))
}
