package retention

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/permissions/audit"
)

// findState finds what lies in the directory of state that is none of the program's own, and
// in all that is what other users may get at.
func findState(c *cleaner) {
	c.eachIn("state", c.State, func(_ *os.Root, entry fs.DirEntry) {
		name := entry.Name()
		path := filepath.Join(c.State, name)
		switch info, err := entry.Info(); {
		case err != nil: // it was removed meanwhile
		case atomicfile.IsTemporary(name) && info.Mode().IsRegular():
			if c.now.Sub(info.ModTime()) >= recent {
				c.add(Item{Area: "state", Name: name, Path: path, State: Leftover, Bytes: info.Size(), Used: info.ModTime(), Why: "a process that was killed left it"})
			}
		case !c.known(name):
			c.foreign("state", path, "nothing of this program has that name")
		case info.Mode()&fs.ModeSymlink != 0:
			c.foreign("state", path, "it is a link, which is not followed")
		}
	})
	if !c.Thorough || runtime.GOOS == "windows" { // where access control lists say it
		return
	}
	c.findOpen(c.State, func(_ *os.Root, name string) bool { return c.known(name) })
	c.findOpen(c.Sessions, func(root *os.Root, name string) bool {
		_, err := sessiondir.LastUsed(root, name)
		return err == nil
	})
}

func (c *cleaner) known(name string) bool {
	return slices.Contains(c.Known, strings.TrimSuffix(name, ".lock"))
}

// findOpen finds what other users may get at, of a place and what is ours in it. The directory
// of sessions is a place of its own.
func (c *cleaner) findOpen(place string, ours func(root *os.Root, name string) bool) {
	if isDir(place) != nil {
		return // it was reported
	}
	at := func(path string, info fs.FileInfo) {
		if isOpen(info) && !isStaged(path) {
			c.add(Item{
				Area: "state", Name: path, Path: filepath.Join(place, path), State: Open,
				Why: "its mode is " + info.Mode().Perm().String() + ", so that other users may get at it",
			})
		}
	}
	if info, err := os.Lstat(place); err == nil {
		at(".", info)
	}
	c.eachIn("state", place, func(root *os.Root, entry fs.DirEntry) {
		// What git puts into worktrees has modes of git's, in a directory that is closed.
		if name := entry.Name(); !slices.Contains([]string{c.Sessions, c.Worktrees}, filepath.Join(place, name)) && ours(root, name) {
			walk(root, name, at)
		}
	})
}

// isStaged reports whether a path in a session's directory is staged. A staged file has the mode that it will have on
// the disk, but lies in a private directory.
func isStaged(path string) bool {
	const below = 3 // the session, its stage, and a path in that
	parts := strings.SplitN(filepath.ToSlash(path), "/", below)
	return len(parts) == below && parts[1] == storage.StageDir
}

func isOpen(info fs.FileInfo) bool {
	return (info.IsDir() || info.Mode().IsRegular()) && info.Mode().Perm()&0o077 != 0
}

// mendState removes a leftover, or closes a file to other users.
func mendState(_ *cleaner, it *Item) error {
	if it.State == Leftover {
		return os.Remove(it.Path)
	}
	root, err := os.OpenRoot(filepath.Dir(it.Path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only a way to the file
	name := filepath.Base(it.Path)
	info, err := root.Lstat(name)
	if err != nil || !isOpen(info) {
		return err
	}
	return root.Chmod(name, info.Mode().Perm()&0o700)
}

// findLog finds the files of the decision log that are over its own limits.
func findLog(c *cleaner) {
	if c.Log == "" {
		return
	}
	if err := isDir(c.Log); err != nil {
		c.failed("log", c.Log, err)
		return
	}
	over, err := audit.Over(c.Log, c.LogOptions, c.now)
	c.failed("log", c.Log, err)
	goes := make(map[string]time.Time)
	for _, s := range over {
		goes[filepath.Base(s.Path)] = s.Ended
	}
	c.eachIn("log", c.Log, func(_ *os.Root, entry fs.DirEntry) {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			c.foreign("log", filepath.Join(c.Log, entry.Name()), "it is no file of the log")
			return
		}
		it := Item{Area: "log", Name: entry.Name(), Path: filepath.Join(c.Log, entry.Name()), State: Kept, Bytes: info.Size(), Used: info.ModTime()}
		if ended, ok := goes[entry.Name()]; ok {
			it.State, it.Used, it.Why = Over, ended, "the log is over its limits"
		}
		c.add(it)
	})
}

// removeLog drops all that is over the limits with the first file of it.
func removeLog(c *cleaner, it *Item) error {
	if _, err := os.Lstat(it.Path); err != nil {
		return err
	}
	log, err := audit.Open(c.Log, c.LogOptions)
	if err != nil {
		return err
	}
	_, err = log.Expire()
	if closed := log.Close(); err == nil {
		err = closed
	}
	return err
}
