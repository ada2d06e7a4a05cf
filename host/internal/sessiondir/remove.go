package sessiondir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// ErrForeign is that of a directory that does not identify itself as a session's: a private
// directory of the user's with a marker that fits its name.
var ErrForeign = errors.New("it is not a session's directory")

// LastUsed is when something was last written to the directory by a name below their parent,
// or it was closed. It opens nothing, so that it costs little.
func LastUsed(parent *os.Root, name string) (time.Time, error) {
	marker, err := parent.Lstat(filepath.Join(name, markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return lastUsedEmpty(parent, name)
	}
	if err != nil {
		return time.Time{}, err
	}
	if !marker.Mode().IsRegular() {
		return time.Time{}, fmt.Errorf("%w: its marker is not a regular file", ErrForeign)
	}
	last := marker.ModTime()
	if journal, err := parent.Lstat(filepath.Join(name, journalName)); err == nil && journal.ModTime().After(last) {
		last = journal.ModTime()
	}
	return last, nil
}

// lastUsedEmpty is for a directory without a marker. One that is empty is what a process left
// that was killed before it made the marker, or after it removed it.
func lastUsedEmpty(parent *os.Root, name string) (time.Time, error) {
	info, err := parent.Lstat(name)
	if err != nil {
		return time.Time{}, err
	}
	entries, err := fs.ReadDir(parent.FS(), name)
	if err != nil {
		return time.Time{}, err
	}
	if len(entries) > 0 {
		return time.Time{}, fmt.Errorf("%w: it has no marker", ErrForeign)
	}
	return info.ModTime(), nil
}

// Check reports whether a directory below their parent is a session's, with [ErrForeign] where
// it is not and [ErrInUse] while somebody uses it.
func Check(parent *os.Root, name string) error {
	return prune(parent, name, 0, func(*os.Root) error { return nil })
}

// Prune does something to a session's directory while nobody uses it. When it was used last
// stays as it is.
func Prune(parent *os.Root, name string, do func(dir *os.Root) error) error {
	return prune(parent, name, claimWait, do)
}

func prune(parent *os.Root, name string, most time.Duration, do func(dir *os.Root) error) error {
	err := hold(parent, name, most, do)
	if errors.Is(err, errEmpty) {
		return nil
	}
	return err
}

// Remove removes the directory of a session that nobody uses and that was last used at or
// before a time; otherwise it fails with [ErrInUse]. It fails with [ErrForeign] where it is
// none. Links in it are removed, not followed.
//
// Its marker goes last: what a crash leaves of it is still known for what it is, and without a
// journal nobody believes in files that are gone.
func Remove(parent *os.Root, name string, before time.Time) error {
	err := hold(parent, name, claimWait, func(dir *os.Root) error {
		if err := unused(parent, name, before); err != nil {
			return err
		}
		return empty(dir)
	})
	if errors.Is(err, errEmpty) {
		err = unused(parent, name, before)
	}
	if err != nil {
		return err
	}
	if err := parent.Remove(name); err != nil { // which removes no directory that has something in it
		if _, taken := parent.Lstat(filepath.Join(name, markerName)); taken == nil {
			return nil // the session was opened anew meanwhile
		}
		return err
	}
	return nil
}

func unused(parent *os.Root, name string, before time.Time) error {
	used, err := LastUsed(parent, name)
	if err == nil && used.After(before) {
		err = fmt.Errorf("%w: it was used just now", ErrInUse)
	}
	return err
}

// errEmpty is that of a session's directory with nothing in it, not even a marker to lock: a
// session may begin in it at any moment.
var errEmpty = errors.New("it is empty")

// hold locks the marker of a session's directory while something is done to it. It fails with
// errEmpty where there is none. It waits for whoever holds the lock just now: another cleaner
// that only checks lets go of it soon.
func hold(parent *os.Root, name string, most time.Duration, do func(dir *os.Root) error) error {
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := isOwn(parent, dir, name); err != nil {
		return err
	}
	marker, _, err := privatedir.OpenOwn(filepath.Join(parent.Name(), name, markerName), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := lastUsedEmpty(parent, name); err != nil {
			return err
		}
		return errEmpty
	}
	if err != nil {
		return foreign(err)
	}
	defer func() { _ = release(marker) }() // nothing was written
	if err := lock(marker, most); err != nil {
		return err
	}
	m, err := readMark(marker)
	switch {
	case err != nil && isBare(dir):
	case err != nil:
		return foreign(err)
	case m.Version != markerVersion:
		return fmt.Errorf("%w of this version: its marker is of version %d", ErrForeign, m.Version)
	case nameOf(m.Session) != name:
		return fmt.Errorf("%w: its marker is that of the session %.40q", ErrForeign, m.Session)
	}
	return do(dir)
}

// isBare reports whether a directory holds nothing but a marker that was never written.
func isBare(dir *os.Root) bool {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil || len(entries) != 1 {
		return false
	}
	info, err := dir.Lstat(markerName)
	return err == nil && info.Size() == 0
}

func foreign(err error) error { return fmt.Errorf("%w: %w", ErrForeign, err) }

// isOwn checks that the directory that was opened is the one by that name, no link, and
// private.
func isOwn(parent, dir *os.Root, name string) error {
	at, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if !at.IsDir() {
		return fmt.Errorf("%w: it is not a directory", ErrForeign)
	}
	if err := privatedir.Check(filepath.Join(parent.Name(), name)); err != nil {
		return foreign(err)
	}
	opened, err := dir.Stat(".")
	if err == nil && !os.SameFile(at, opened) {
		err = fmt.Errorf("%w: it was just replaced", ErrInUse)
	}
	return err
}

// empty removes what is in a directory: the journal first, the marker last.
func empty(dir *os.Root) error {
	if err := dir.RemoveAll(journalName); err != nil {
		return err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == markerName {
			continue
		}
		if err := tempdir.RemoveIn(dir, entry.Name()); err != nil {
			return err
		}
	}
	if err := dir.Remove(markerName); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discard removes a part of a session's directory, a file or a directory with all that is in
// it, for [Prune]. It gets another name first, so that nobody finds half of it; what a crash
// leaves of it is removed by the next Discard.
func Discard(dir *os.Root, part string) error {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), temporary) {
			err = errors.Join(err, tempdir.RemoveIn(dir, entry.Name()))
		}
	}
	aside := temporary + part
	if err != nil {
		return err
	}
	if err := dir.Rename(part, aside); err != nil {
		return err
	}
	return tempdir.RemoveIn(dir, aside)
}
