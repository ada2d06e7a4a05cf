package toolquaytest

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"testing/fstest"
	"time"
)

// layers are files that a tool wrote, over those that the test supplied. It is safe
// for concurrent use.
type layers struct {
	base fs.FS

	mu      sync.Mutex
	written fstest.MapFS
}

func newLayers(base fs.FS) *layers { return &layers{base: base, written: fstest.MapFS{}} }

func (l *layers) write(name string, content []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[name] = &fstest.MapFile{Data: slices.Clone(content), Mode: 0o644, ModTime: time.Now()}
}

// over reports whether a file was written over the one below.
func (l *layers) over(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.written[name]
	return ok
}

// Open opens a file, or a directory without what was written to it: see ReadDir.
func (l *layers) Open(name string) (fs.File, error) {
	if !l.over(name) {
		if f, err := l.base.Open(name); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.Open(name)
}

// ReadDir lists a directory of both layers.
func (l *layers) ReadDir(name string) ([]fs.DirEntry, error) {
	below, err := fs.ReadDir(l.base, name)
	l.mu.Lock()
	defer l.mu.Unlock()
	above, missing := l.written.ReadDir(name)
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || missing != nil) {
		return nil, err
	}
	all := below
	for _, e := range above {
		same := func(b fs.DirEntry) bool { return b.Name() == e.Name() }
		if _, ok := l.written[path.Join(name, e.Name())]; ok {
			all = append(slices.DeleteFunc(all, same), e)
		} else if !slices.ContainsFunc(all, same) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, nil
}
