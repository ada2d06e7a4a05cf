package retention

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/storage"
)

// sessionEntry is a session's directory.
type sessionEntry struct {
	name string
	used time.Time
}

// list finds the directories of sessions, once.
func (c *cleaner) list() []sessionEntry {
	if c.listed || c.Sessions == "" {
		return c.found
	}
	c.listed = true
	entries, err := c.openSessions()
	if err != nil {
		c.failed("sessions", c.Sessions, err)
		return nil
	}
	for _, entry := range entries {
		if c.ctx.Err() != nil {
			return c.found
		}
		name, path := entry.Name(), filepath.Join(c.Sessions, entry.Name())
		if name == stampName {
			continue
		}
		if !entry.IsDir() {
			c.foreign("sessions", path, "it is not a directory")
			continue
		}
		used, err := sessiondir.LastUsed(c.sessions, name)
		if err == nil && c.Thorough {
			if err = sessiondir.Check(c.sessions, name); errors.Is(err, sessiondir.ErrInUse) {
				err = nil
			}
		}
		switch {
		case errors.Is(err, sessiondir.ErrForeign):
			c.foreign("sessions", path, err.Error())
		case err != nil:
			c.failed("sessions", path, err)
		default:
			c.found = append(c.found, sessionEntry{name: name, used: used})
		}
	}
	return c.found
}

// openSessions opens the directory of sessions and reads it.
func (c *cleaner) openSessions() (entries []fs.DirEntry, err error) {
	if err := isDir(c.Sessions); err != nil {
		return nil, err
	}
	if c.sessions, err = os.OpenRoot(c.Sessions); err != nil {
		return nil, err
	}
	return fs.ReadDir(c.sessions.FS(), ".")
}

// isDir refuses links: what lies behind them is not looked at.
func isDir(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = errors.New(path + " is not a directory; links are not followed")
	}
	return err
}

func findSessions(c *cleaner) {
	for _, s := range c.list() {
		it := Item{Area: "sessions", Name: s.name, Path: filepath.Join(c.Sessions, s.name), Used: s.used}
		c.judge(&it, c.keepFor("sessions"))
		if c.Max > 0 || c.Thorough {
			it.Bytes = sizeOf(c.sessions, s.name)
		}
		c.add(it)
	}
}

func checkSession(c *cleaner, it *Item) error { return sessiondir.Check(c.sessions, it.Name) }

// checkWhole also keeps a session in which files are staged: they are all there is of its work.
func checkWhole(c *cleaner, it *Item) error {
	if err := checkSession(c, it); err != nil {
		return err
	}
	return storage.NothingStaged(it.Path)
}

// removeSession needs no lock to look at the stage: whoever stages something uses the session.
func removeSession(c *cleaner, it *Item) error {
	if err := storage.NothingStaged(it.Path); err != nil {
		return err
	}
	return sessiondir.Remove(c.sessions, it.Name, it.before)
}

// findResults finds, in each session that stays, the results that are too old; where there is
// no such limit, all of them.
func findResults(c *cleaner) {
	if c.Keep <= 0 && !c.Thorough {
		return
	}
	for _, s := range c.list() {
		it := Item{Area: "results", Name: s.name, Path: filepath.Join(c.Sessions, s.name), before: c.now, State: Kept}
		if c.Keep > 0 {
			it.before = c.now.Add(-c.Keep)
		}
		old := Item{}
		err := eachResult(c.sessions, s.name, func(_ string, info fs.FileInfo) error {
			it.take(info)
			if c.Keep > 0 && !info.ModTime().After(it.before) {
				old.take(info)
			}
			return nil
		})
		c.failed("results", it.Path, err)
		if it.Used.IsZero() {
			continue
		}
		if !old.Used.IsZero() {
			it.Bytes, it.Used = old.Bytes, old.Used
			c.over(&it, "not changed since "+it.Used.Local().Format(time.DateTime))
		}
		c.add(it)
	}
}

// take counts a file.
func (i *Item) take(info fs.FileInfo) {
	i.Bytes += info.Size()
	if info.ModTime().After(i.Used) {
		i.Used = info.ModTime()
	}
}

// eachResult goes through the files of results in a session's directory.
func eachResult(sessions *os.Root, session string, do func(path string, info fs.FileInfo) error) error {
	var errs []error
	for _, dir := range storage.ResultDirs() {
		at := filepath.Join(session, dir)
		if info, err := sessions.Lstat(at); err != nil || !info.IsDir() {
			continue // there are none
		}
		entries, err := fs.ReadDir(sessions.FS(), filepath.ToSlash(at))
		errs = append(errs, err)
		for _, entry := range entries {
			info, err := entry.Info()
			if err == nil && info.Mode().IsRegular() {
				err = do(filepath.Join(at, entry.Name()), info)
			}
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func removeResults(c *cleaner, it *Item) error {
	return sessiondir.Prune(c.sessions, it.Name, func(*os.Root) error {
		return eachResult(c.sessions, it.Name, func(path string, info fs.FileInfo) error {
			if info.ModTime().After(it.before) {
				return nil
			}
			return c.sessions.Remove(path)
		})
	})
}

// findHistories finds the histories in sessions that stay; see package history for what each
// forgets by itself.
func findHistories(c *cleaner) {
	if c.Keep <= 0 && !c.Thorough {
		return
	}
	for _, s := range c.list() {
		at := filepath.Join(s.name, history.Dir)
		if info, err := c.sessions.Lstat(at); err != nil || !info.IsDir() {
			continue
		}
		it := Item{Area: "history", Name: s.name, Path: filepath.Join(c.Sessions, at)}
		it.Used, it.Bytes = newest(c.sessions, at), sizeOf(c.sessions, at)
		c.judge(&it, c.Keep)
		c.add(it)
	}
}

func removeHistory(c *cleaner, it *Item) error {
	return sessiondir.Prune(c.sessions, it.Name, func(dir *os.Root) error {
		if newest(c.sessions, filepath.Join(it.Name, history.Dir)).After(it.before) {
			return sessiondir.ErrInUse // it was written to since
		}
		return sessiondir.Discard(dir, history.Dir)
	})
}
