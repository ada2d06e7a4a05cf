package paths

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const (
	// maxLookups bounds what [Lookups.Renew] looks at again, and maxContent the bytes of files and
	// of names in directories.
	maxLookups = 100_000
	maxContent = 16 << 20
)

// Lookups looks at files and remembers what it saw: where paths lie, which names directories
// have, what files hold. It looks at each once, so its answers describe one moment, until they
// are renewed. The zero value is ready for use, and it is safe for concurrent use.
type Lookups struct {
	mu      sync.Mutex
	view    View
	located map[string]Location
	links   []string // those of the paths whose last component is a link
	listed  map[string]result[string]
	read    map[string]result[byte]
	// dirs are the directories in which something was looked up.
	dirs    map[string]*lookedIn
	content int // how many bytes of files and names
	version int
}

// Location is where a path really lies, as far as it exists. Err says why the path cannot
// be reached; nil means that it can.
type Location struct {
	Path string
	Err  error
	link bool // the last component of the path that was looked up is one
}

// result is what a directory or file held.
type result[T any] struct {
	all []T
	err error
}

// lookedIn is a directory in which something was looked up.
type lookedIn struct {
	// state is the directory's when all of it was looked up last; the zero state is not known,
	// or one in which not every change would show.
	state State
	// located are the paths whose last component was looked up in it.
	located []string
}

// View shows the files that commands see if their changes are staged. It is safe for concurrent
// use.
type View interface {
	// At returns the path under which this process finds the file that commands find at path,
	// which must be absolute and clean, with all links resolved except in its last component.
	At(path string) string
	// Run runs a program for this process that sees the same files as commands, but is not
	// confined as they are. It returns what the program prints, at most most bytes. dir is its
	// working directory, and argv begins with its path.
	Run(ctx context.Context, dir string, argv, env []string, input []byte, most int) ([]byte, error)
}

// Through looks at files through a view from now on; nil is as this process sees them.
func (l *Lookups) Through(v View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view = v
}

// At returns the path under which this process finds the file at path; see [View].
func (l *Lookups) At(path string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(path)
}

// Disk returns the view of the lookups as a [Disk].
func (l *Lookups) Disk() Disk {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.disk()
}

func (l *Lookups) disk() Disk {
	if l.view == nil {
		return Disk{}
	}
	return Disk{l.view}
}

func (l *Lookups) at(path string) string {
	if l.view == nil {
		return path
	}
	return l.view.At(path)
}

// Locate resolves a clean, absolute path.
func (l *Lookups) Locate(path string) Location {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locate(path)
}

func (l *Lookups) locate(path string) Location {
	if at, known := l.located[path]; known {
		return at
	}
	at := Location{Path: path}
	if parent := filepath.Dir(path); parent != path {
		above := l.locate(parent)
		at = Location{Path: filepath.Join(above.Path, filepath.Base(path)), Err: above.Err}
		if at.Err == nil {
			if at = l.look(at.Path); at.link {
				l.links = append(l.links, path)
			}
			in := l.in(above.Path)
			in.located = append(in.located, path)
		}
	}
	put(&l.located, path, at)
	return at
}

// look resolves a path whose directory is resolved already.
func (l *Lookups) look(path string) Location {
	info, err := os.Lstat(l.at(path))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return Location{Path: path, Err: err}
	}
	d := l.disk()
	_, err = os.Stat(d.Place(path))
	return Location{cmp.Or(d.Real(path), path), err, true}
}

// in returns what was looked up in a directory.
func (l *Lookups) in(dir string) *lookedIn {
	if l.dirs[dir] == nil {
		put(&l.dirs, dir, &lookedIn{})
	}
	return l.dirs[dir]
}

// put sets a key of a map, which may be nil.
func put[T any](m *map[string]T, key string, value T) {
	if *m == nil {
		*m = make(map[string]T)
	}
	(*m)[key] = value
}

// Follow is [Lookups.Locate] for [permissions.SandboxPolicy.Following].
func (l *Lookups) Follow(path string) string { return l.Locate(path).Path }

// All resolves paths, whether or not they exist.
func (l *Lookups) All(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = l.Follow(filepath.Clean(path))
	}
	return out
}

// Existing resolves paths, sorts them, and leaves out those that do not exist. A path that
// cannot be examined is kept under the name it was given by.
func (l *Lookups) Existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		at := l.Locate(filepath.Clean(path))
		switch {
		case at.Err == nil:
			out = append(out, at.Path)
		case !errors.Is(at.Err, fs.ErrNotExist):
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Names is the function [Names], sorted.
func (l *Lookups) Names(dir string) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.listed[dir]
	if !known {
		r = l.list(dir)
		l.content += size(r)
		put(&l.listed, dir, r)
		l.in(dir)
	}
	return r.all, r.err
}

// size is how many bytes names have.
func size(r result[string]) (n int) {
	for _, name := range r.all {
		n += len(name)
	}
	return n
}

func (l *Lookups) list(dir string) result[string] {
	names, err := Names(l.at(dir))
	slices.Sort(names)
	return result[string]{names, err}
}

// Beginning is the function [Beginning].
func (l *Lookups) Beginning(file string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.read[file]
	if !known {
		r = l.readNow(file)
		l.content += len(r.all)
		put(&l.read, file, r)
	}
	return r.all, r.err
}

func (l *Lookups) readNow(file string) result[byte] {
	content, err := Beginning(l.at(file))
	return result[byte]{content, err}
}

// Renew looks again in the directories that have changed since it last did so, and in those
// whose changes do not surely show; at links, which may lead anywhere, and files, which can be
// written to unseen, each time.
func (l *Lookups) Renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.located)+len(l.dirs) > maxLookups || l.content > maxContent || !l.renewDirs() || !l.stay(l.links) {
		l.located, l.links, l.listed, l.read, l.dirs, l.content = nil, nil, nil, nil, nil, 0
		l.version++
		return
	}
	for file, was := range l.read {
		if now := l.readNow(file); !same(was, now) {
			l.content += len(now.all) - len(was.all)
			l.read[file] = now
			l.version++
		}
	}
}

// renewDirs looks again in directories, and reports whether what lies in them lies where it did.
func (l *Lookups) renewDirs() bool {
	for dir, in := range l.dirs {
		state, there := StateOf(l.at(dir))
		if there && state == in.state {
			continue
		}
		in.state = State{}
		if there {
			in.state = restingAt(l.at(dir)) // first, so that changes while it is looked at show, too
		}
		if !l.stay(in.located) {
			return false
		}
		if was, listed := l.listed[dir]; listed {
			if now := l.list(dir); !same(was, now) {
				l.content += size(now) - size(was)
				l.listed[dir] = now
				l.version++
			}
		}
	}
	return true
}

// Version is another one whenever [Lookups.Renew] has found something to be otherwise.
func (l *Lookups) Version() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// stay reports whether paths still lie where they did, given that the directories above do.
func (l *Lookups) stay(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		was := l.located[path]
		now := l.look(filepath.Join(l.located[filepath.Dir(path)].Path, filepath.Base(path)))
		return now.Path != was.Path || now.link != was.link || !alike(now.Err, was.Err)
	})
}

func same[T comparable](was, now result[T]) bool {
	return slices.Equal(was.all, now.all) && alike(was.err, now.err)
}

// alike reports whether two errors, either of which may be nil, agree on whether a file exists.
func alike(a, b error) bool {
	return (a == nil) == (b == nil) && errors.Is(a, fs.ErrNotExist) == errors.Is(b, fs.ErrNotExist)
}
