//go:build amd64 || arm64

package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// meeting is a folder where the processes of a user find each other's journals, wherever
// these keep their state: in one project placeholders of one serve another, and are not to
// be removed below its feet. It has a lock, and links to the folders for state that
// journals are in. It is among temporary files, for it does not outlast the processes.
//
// Where there is none, for somebody else took the name, it is empty: then only those find
// each other that have the same folder for their state.
type meeting string

// meet makes the folder, if it is not there. Temporary files are tidied up by others.
func meet() meeting {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("toolquay-meeting-%d", os.Geteuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	if err := privatedir.Make(dir); err != nil {
		return ""
	}
	return meeting(dir)
}

// enter makes the folder and locks it, until it is left. Whoever leaves it empty removes it.
func enter(ctx context.Context) (m meeting, leave func(), err error) {
	for {
		if m = meet(); m == "" {
			return m, func() {}, nil
		}
		f, err := lock(ctx, filepath.Join(string(m), lockName))
		if errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
			continue // it was removed meanwhile
		}
		if err != nil {
			return "", nil, err
		}
		return m, func() {
			if len(m.links()) == 0 {
				_ = errors.Join(os.Remove(f.Name()), os.Remove(string(m))) // what stays does no harm
			}
			_ = f.Close() // it holds nothing but the lock
		}, nil
	}
}

// join shows others the way to a folder for state. The caller has the lock.
func (m meeting) join(state string) error {
	if m == "" {
		return nil
	}
	if err := os.Symlink(state, m.link(state)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// link is the same for the same folder.
func (m meeting) link(state string) string {
	sum := sha256.Sum256([]byte(state))
	return filepath.Join(string(m), hex.EncodeToString(sum[:16])+".state")
}

// others are the folders for state but one.
func (m meeting) others(own string) []string {
	var states []string
	for _, link := range m.links() {
		if state, err := os.Readlink(link); err == nil && state != own {
			states = append(states, state)
		}
	}
	return states
}

func (m meeting) links() []string {
	if m == "" {
		return nil
	}
	links, _ := filepath.Glob(filepath.Join(string(m), "*.state")) // an odd TMPDIR finds nobody
	return links
}

// tidy removes what leads to no journal. The caller has the lock.
func (m meeting) tidy() error {
	var faults []error
	for _, link := range m.links() {
		if journals, _ := journalsIn(link); len(journals) == 0 {
			faults = append(faults, unlink(link))
		}
	}
	return errors.Join(faults...)
}

// lockName is none by which a folder of temporary files is taken for one that its host
// left behind: it is not locked for long.
const lockName = "placeholders.lock"

// lockPatience is how long to wait for other processes, which hold the lock for
// moments.
const lockPatience = 10 * time.Second

// lock locks a file that still lies at its path then: temporary files are tidied up.
func lock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := filelock.WaitContext(ctx, f, lockPatience); err != nil {
			return nil, closing(f, fmt.Errorf("waiting for other sandboxes of this user: %w", err))
		}
		opened, err := f.Stat()
		if err != nil {
			return nil, closing(f, err)
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(opened, there) {
			return f, nil
		}
		_ = f.Close() // it holds nothing but the lock
	}
}
