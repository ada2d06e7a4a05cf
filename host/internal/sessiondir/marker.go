package sessiondir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// markerName is the file that says whose a directory is. It is locked while the
// directory is used, made before and removed after everything else.
const markerName = "session"

// markerVersion is the version of the layout, of which there is one.
const markerVersion = 1

// maxMarker bounds what is read of a marker, in bytes.
const maxMarker = 64 << 10

// mark is what the marker says.
type mark struct {
	Version int    `json:"version"`
	Session string `json:"session"`
	// PID and Since say who used it last, for people.
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// ErrInUse means that another session, of this process or another, uses the directory.
var ErrInUse = errors.New("the session is in use")

// claimWait is how long to wait for a directory in use: a session that ends, or a sweep,
// releases it soon.
const claimWait = 500 * time.Millisecond

// claim makes a directory and its marker, or takes over those there are, and
// returns the marker locked.
func claim(dir, id string) (*os.File, error) {
	for deadline := time.Now().Add(claimWait); ; time.Sleep(10 * time.Millisecond) {
		f, err := tryClaim(dir, id)
		if !errors.Is(err, ErrInUse) || time.Now().After(deadline) {
			return f, err
		}
	}
}

func tryClaim(dir, id string) (*os.File, error) {
	if err := privatedir.Make(dir); err != nil {
		return nil, removedMeanwhile(fmt.Errorf("%s: %w", dir, err))
	}
	f, _, err := privatedir.OpenOwn(filepath.Join(dir, markerName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, removedMeanwhile(err)
	}
	if err = lock(f, 0); err == nil {
		err = sign(f, id)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removedMeanwhile makes a missing file an [ErrInUse]: a sweep is removing the directory.
func removedMeanwhile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return err
}

// release unlocks a marker and closes it. Closing alone would not unlock it while a process that
// is being started still has a copy of the open file.
func release(f *os.File) error {
	filelock.Unlock(f)
	return f.Close()
}

// lock takes the lock on a marker that is still the one in its directory, and waits so long
// for it.
func lock(f *os.File, most time.Duration) error {
	err := filelock.Try(f)
	if errors.Is(err, filelock.ErrLocked) && most > 0 {
		err = filelock.Wait(f, most)
	}
	if errors.Is(err, filelock.ErrLocked) {
		return inUse(f)
	}
	if err != nil {
		return err
	}
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	if at, err := os.Lstat(f.Name()); err != nil || !os.SameFile(locked, at) {
		return fmt.Errorf("%w: it was just removed", ErrInUse)
	}
	return nil
}

// inUse says who holds a lock.
func inUse(f *os.File) error {
	m, err := readMark(f)
	switch {
	case err != nil: // it is being written
		return fmt.Errorf("%w by another process", ErrInUse)
	case m.PID == os.Getpid():
		return fmt.Errorf("%w by another session of this process, since %s", ErrInUse, m.Since.Format(time.RFC3339))
	}
	return fmt.Errorf("%w by process %d, since %s; end that one, or give this session another id", ErrInUse, m.PID, m.Since.Format(time.RFC3339))
}

// sign writes into a locked marker who uses it now. One that a crash left half
// written is written anew.
func sign(f *os.File, id string) error {
	m, err := readMark(f)
	switch {
	case err == nil && m.Version != markerVersion:
		return fmt.Errorf("%s is of version %d; this program knows version %d", f.Name(), m.Version, markerVersion)
	case err == nil && m.Session != id:
		return fmt.Errorf("%s belongs to the session %q", f.Name(), m.Session)
	}
	text, err := json.Marshal(mark{Version: markerVersion, Session: id, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)) + 1)
}

func readMark(f io.ReaderAt) (mark, error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxMarker))
	if err != nil {
		return mark{}, err
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil {
		return mark{}, err
	}
	if m.Version < 1 {
		return mark{}, errors.New("it has no version")
	}
	return m, nil
}
