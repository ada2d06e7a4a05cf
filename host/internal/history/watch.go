package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// What is kept of one command at most.
const (
	// maxTouched is how many files a command may touch that are looked after.
	maxTouched = 100_000
	// maxKeptFile and maxKeptBytes bound one former content, and all of a command, in bytes.
	maxKeptFile  = 64 << 20
	maxKeptBytes = 256 << 20
)

// Watch keeps what a command's files were before it changes them. It is told of paths before something
// happens there (see package touches), and looks at them once more when the command has ended: what has changed
// becomes records. It is safe for concurrent use.
//
// A content is copied only when it is about to be lost. What is moved, alone or with its directory, is kept by
// where it lies now, until it is written to or removed there.
type Watch struct {
	store *Store
	call  capability.Call
	// places are where the command may write of which it tells.
	places []string

	mu     sync.Mutex
	ledger ledger
	// touched are the files by their paths, as they were before the command came to them.
	touched map[string]*touched
	// unsaved are those whose content is not kept, by the paths where it may lie now.
	unsaved map[string]*touched
	bytes   int64 // of contents that are kept
	// held are the contents in files of the history's, and replayed says that a ledger was read.
	held     []string
	replayed bool
	// lacks says what is not kept, and why.
	lacks lacks
	// said is what was not kept of what has records already.
	said  string
	ended bool
}

// touched is a file that a command may have changed.
type touched struct {
	path string
	was  *changes.Node // nil was nothing; without a hash its content is not kept, or not yet
	// stamp is that of the file as it was.
	stamp stamp
	// places are where the content may lie that is not kept yet.
	places []string
	// inline is the content where the ledger has it.
	inline []byte
}

// saved says that all is kept that can be lost of what the file was.
func (t *touched) saved() bool { return !t.was.Is(changes.File) || t.was.Hash != "" }

// Watch begins to keep what a command changes below some places.
func (s *Store) Watch(call capability.Call, places []string) capability.CommandWatch {
	w := newWatch(s)
	w.call, w.places = call, places
	s.watches.Store(w, true)
	return w
}

func newWatch(s *Store) *Watch {
	return &Watch{store: s, touched: make(map[string]*touched), unsaved: make(map[string]*touched)}
}

// Touch is told that something may be made, changed or removed at a path; fresh that it is made only where
// nothing lies.
func (w *Watch) Touch(path string, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.touch(path, fresh)
	}
}

func (w *Watch) touch(path string, fresh bool) {
	if t := w.unsaved[path]; t != nil {
		w.save(path)
		w.note(t)
	}
	if w.touched[path] != nil || w.leaves(path) {
		return
	}
	info, err := os.Lstat(path)
	if fresh && err == nil {
		return // the call fails
	}
	if t := w.begin(path, info, err); t != nil {
		if !t.saved() {
			w.unsaved[path] = t
			w.save(path)
		}
		w.note(t)
	}
}

// begin notes what lies at a path; nil is that it cannot be looked after.
func (w *Watch) begin(path string, info fs.FileInfo, err error) *touched {
	if len(w.touched) >= maxTouched {
		w.lacks.add(fmt.Sprintf("it touched more than %d files", maxTouched), path)
		return nil
	}
	t := &touched{path: path}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil:
		t.stamp = stampOf(info)
		t.was, err = nodeOf(path, info)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // for the command it is as for this process: the call fails
	}
	w.touched[path] = t
	return t
}

// nodeOf is what lies at a path, of a file without its hash.
func nodeOf(path string, info fs.FileInfo) (*changes.Node, error) {
	mode := info.Mode()
	switch {
	case mode.IsRegular():
		return &changes.Node{Size: info.Size(), Mode: permissionsOf(mode)}, nil
	case mode.IsDir():
		return &changes.Node{Kind: changes.Dir, Mode: permissionsOf(mode)}, nil
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return &changes.Node{Kind: changes.Link, Target: changes.Name(target)}, err
	}
	return &changes.Node{Kind: changes.Other, What: mode.Type().String()}, nil
}

func permissionsOf(mode fs.FileMode) uint32 { return uint32(mode.Perm()) }

// leaves reports whether a path is in a directory that is left out, and notes that.
func (w *Watch) leaves(path string) bool {
	rest := path
	for _, place := range w.places {
		if r, ok := strings.CutPrefix(path, place); ok && len(r) < len(rest) {
			rest = r
		}
	}
	above := len(path) - len(rest)
	for at := 0; ; {
		end := strings.IndexByte(rest[at:], filepath.Separator)
		if end < 0 {
			return false
		}
		if slices.Contains(w.store.contents.options.Except, rest[at:at+end]) {
			w.lacks.add(leftOut, path[:above+at+end])
			return true
		}
		at += end + 1
	}
}

// Rename is told that what lies at one path may get another, and may replace what lies there; exchange that
// the two may trade places.
func (w *Watch) Rename(from, to string, exchange bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Lstat(from)
	if w.ended || err != nil || from == to {
		return
	}
	other, err := os.Lstat(to)
	switch {
	case exchange && err != nil, !exchange && err == nil && !replaces(info, other, to):
		return // the call fails
	case exchange: // first what both are: what is not known yet counts as nothing where something else comes to lie
		w.remember(from, info)
		w.remember(to, other)
		w.move(to, from, other)
	default:
		w.touch(to, false)
	}
	w.move(from, to, info)
}

// Link is told that what lies at one path may get another name too, if nothing lies there.
func (w *Watch) Link(from, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if _, err := os.Lstat(to); err == nil {
		return // the call fails
	}
	w.touch(to, true)
	if info, err := os.Lstat(from); err == nil && info.Mode().IsRegular() {
		w.moveOne(from, to, info) // by the other name it can be written to, too
	}
}

// replaces reports whether one file can get the name of another.
func replaces(what, other fs.FileInfo, to string) bool {
	if what.IsDir() != other.IsDir() {
		return false
	}
	if !other.IsDir() {
		return true
	}
	d, err := os.Open(to)
	if err != nil {
		return true // it is not known
	}
	defer d.Close()
	names, _ := d.Readdirnames(1)
	return len(names) == 0
}

// move notes that what lies at one path is about to lie at another one, with all that is below.
func (w *Watch) move(from, to string, info fs.FileInfo) {
	w.below(from, info, func(path string, info fs.FileInfo) { w.moveOne(path, to+strings.TrimPrefix(path, from), info) })
}

// remember notes what lies at a path, with all that is below.
func (w *Watch) remember(path string, info fs.FileInfo) { w.below(path, info, w.rememberOne) }

// below calls do for what lies at a path, and for all that is below.
func (w *Watch) below(path string, info fs.FileInfo, do func(path string, info fs.FileInfo)) {
	do(path, info)
	if !info.IsDir() {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		w.lacks.add("they cannot be looked at", path)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // it is gone already
		}
		if len(w.touched) >= maxTouched {
			w.lacks.add(fmt.Sprintf("it touched more than %d files", maxTouched), path)
			return
		}
		w.below(filepath.Join(path, e.Name()), info, do)
	}
}

// rememberOne notes what lies at a path. A content is not kept yet.
func (w *Watch) rememberOne(path string, info fs.FileInfo) {
	if w.touched[path] != nil || w.leaves(path) {
		return
	}
	if t := w.begin(path, info, nil); t != nil {
		if !t.saved() {
			w.unsaved[path], t.places = t, []string{path}
		}
		w.note(t)
	}
}

// moveOne notes what lies at a path, and that it may lie at another one from now on.
func (w *Watch) moveOne(from, to string, info fs.FileInfo) {
	w.rememberOne(from, info)
	if t := w.unsaved[from]; t != nil {
		if w.unsaved[to] == nil || !slices.Contains(t.places, to) {
			w.alsoAt(t, to)
		}
	}
	if w.touched[to] == nil && !w.leaves(to) {
		if t := w.begin(to, nil, fs.ErrNotExist); t != nil {
			w.note(t)
		}
	}
}

// alsoAt notes one more place where a content may lie.
func (w *Watch) alsoAt(t *touched, place string) {
	if other := w.unsaved[place]; other != nil && other != t {
		w.save(place) // two may lie there: one of them is kept
		w.note(other)
	}
	w.unsaved[place] = t
	t.places = append(t.places, place)
	w.note(t)
}

// Missed is told that something may have been changed, and nobody knows what.
func (w *Watch) Missed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lacks.add(err.Error(), "")
}

// note writes down what a file was.
func (w *Watch) note(t *touched) {
	if err := w.ledger.write(w, t); err != nil {
		w.lacks.add("it would be lost if this program were killed: "+err.Error(), t.path)
	}
}
