//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// observations are what a layout was made of: what lay at each path that was looked at. Each is
// looked at once. As long as all of it is so still, another layout would be the same.
type observations struct {
	over   *overlays
	files  map[string]observation
	access map[access]error
	// globs are what there was of patterns.
	globs map[string]listing
}

// listing is what there was of a pattern, and when the directory around had changed before; the
// zero time is not known.
type listing struct {
	paths   []string
	changed syscall.Timespec
}

// observation is what lay at a path.
type observation struct {
	info fs.FileInfo
	err  error
}

// access is whether this user may do something with what lies at a path.
type access struct {
	path string
	mode uint32
}

func newObservations(over *overlays) *observations {
	return &observations{over: over, files: make(map[string]observation), access: make(map[access]error), globs: make(map[string]listing)}
}

// lstat is [os.Lstat] for a path as commands see it.
func (o *observations) lstat(path string) (fs.FileInfo, error) {
	seen, ok := o.files[path]
	if !ok {
		seen.info, seen.err = o.over.lstat(path)
		o.files[path] = seen
	}
	return seen.info, seen.err
}

// made notes that what lies at a path is another now, by this program's doing.
func (o *observations) made(path string) (fs.FileInfo, error) {
	delete(o.files, path)
	return o.lstat(path)
}

// may is [unix.Access].
func (o *observations) may(path string, mode uint32) error {
	of := access{path, mode}
	err, ok := o.access[of]
	if !ok {
		err = unix.Access(o.over.at(path), mode)
		o.access[of] = err
	}
	return err
}

// glob is [filepath.Glob] where only the last name is a pattern, and a well-formed one.
func (o *observations) glob(pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		if _, err := o.lstat(pattern); err != nil {
			return nil
		}
		return []string{pattern}
	}
	was := listing{changed: lastChange(filepath.Dir(pattern))}
	if time.Since(time.Unix(was.changed.Unix())) < coarsest {
		was.changed = syscall.Timespec{} // what changes next may have the same time
	}
	was.paths, _ = filepath.Glob(pattern)
	o.globs[pattern] = was
	return was.paths
}

// coarsest is beyond what file systems' times differ by at least.
const coarsest = 20 * time.Millisecond

// lastChange is when what lies at a path, or its entries, changed last; zero if it is not there.
func lastChange(path string) syscall.Timespec {
	var now syscall.Stat_t
	if syscall.Lstat(path, &now) != nil {
		return syscall.Timespec{}
	}
	return now.Ctim
}

// maxLinks bounds how many links lead to a path, as the kernel does.
const maxLinks = 40

// follow goes along an absolute path from link to link. It calls at with each directory, link
// and file on the way, which may end it.
func (o *observations) follow(path string, at func(path, link string) (on bool)) (resolved string, err error) {
	here, names := "/", strings.Split(path, "/")
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		if name == "" || name == "." {
			continue
		}
		next := filepath.Join(here, name) // here has no links, so .. is what is above it
		info, err := o.lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if !info.IsDir() && len(names) > 0 {
				return "", &fs.PathError{Op: "lstat", Path: path, Err: syscall.ENOTDIR}
			}
			if here = next; !at(next, "") {
				return here, nil
			}
			continue
		}
		text, err := os.Readlink(o.over.at(next))
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "lstat", Path: path, Err: syscall.ELOOP}
		}
		if !at(next, text) {
			return here, nil
		}
		if filepath.IsAbs(text) {
			here = "/"
		}
		names = append(strings.Split(text, "/"), names...)
	}
	return here, nil
}

// resolve is [filepath.EvalSymlinks] of an absolute path.
func (o *observations) resolve(path string) (string, error) {
	return o.follow(path, func(string, string) bool { return true })
}

// same reports whether everything is as it was.
func (o *observations) same() bool {
	for path, was := range o.files {
		if !o.unchanged(path, was) {
			return false
		}
	}
	for of, was := range o.access {
		if !errors.Is(unix.Access(o.over.at(of.path), of.mode), was) {
			return false
		}
	}
	for pattern, was := range o.globs {
		if at := lastChange(filepath.Dir(pattern)); at != was.changed || at == (syscall.Timespec{}) {
			if paths, _ := filepath.Glob(pattern); !slices.Equal(paths, was.paths) {
				return false
			}
		}
	}
	return true
}

// unchanged reports whether what lay at a path lies there still. Of a link the time of its last
// change tells others with the same number apart. Files, which may be written to all the time, and
// directories have no number that is used again: something is mounted on them or of them, or it
// does not matter which they are.
func (o *observations) unchanged(path string, was observation) bool {
	var now syscall.Stat_t
	err := syscall.Lstat(o.over.at(path), &now)
	if err != nil || was.err != nil {
		return was.err != nil && errors.Is(was.err, err)
	}
	then, ok := was.info.Sys().(*syscall.Stat_t)
	if !ok || now.Dev != then.Dev || now.Ino != then.Ino || now.Mode != then.Mode || now.Uid != then.Uid || now.Gid != then.Gid {
		return false
	}
	return was.info.Mode()&fs.ModeSymlink == 0 || now.Ctim == then.Ctim
}
