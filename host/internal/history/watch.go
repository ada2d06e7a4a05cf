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
	// maxTouched is how many files a command may touch that are looked after, and maxPlaces at how many
	// places those may lie whose content is not kept.
	maxTouched = 100_000
	maxPlaces  = 4 * maxTouched
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
//
// What lies at a path is opened once, without following links, and all that is known of it is of what was
// opened: the command may put something else there at any moment.
type Watch struct {
	store *Store
	call  capability.Call
	// dirs are where the command may write of which it tells.
	dirs []string
	// look opens what lies at a path, to be looked at.
	look func(path string) (*os.File, error)

	mu     sync.Mutex
	ledger ledger
	// touched are the files by their paths, as they were before the command came to them.
	touched map[string]*touched
	// unsaved are those whose content is not kept, by the paths where it may lie now; places counts those.
	unsaved map[string]*touched
	places  int
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
	// lost is why the content is not kept.
	lost string
}

// saved says that all is kept that can be lost of what the file was, or nothing can be.
func (t *touched) saved() bool { return !t.was.Is(changes.File) || t.was.Hash != "" }

// lose gives a content up.
func (t *touched) lose(why string) {
	t.lost = why
	t.stamp.name(t.was)
}

// Watch begins to keep what a command changes below some directories.
func (s *Store) Watch(call capability.Call, dirs []string) capability.CommandWatch {
	w := newWatch(s)
	w.call, w.dirs = call, dirs
	s.watches.Store(w, true)
	return w
}

func newWatch(s *Store) *Watch {
	return &Watch{store: s, look: lookAt, touched: make(map[string]*touched), unsaved: make(map[string]*touched)}
}

// Begin has what lies at paths be looked at as the command finds it.
func (w *Watch) Begin(look func(path string) (*os.File, error)) { w.look = look }

// Touch is told that something may be made, changed or removed at a path; fresh that it is made only where
// nothing lies.
func (w *Watch) Touch(path string, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.unsaved[path] == nil && (w.touched[path] != nil || w.leaves(path)) {
		return
	}
	s, err := w.at(path)
	if err != nil {
		w.unseen(path, err)
		return
	}
	defer s.close()
	w.touch(path, s, fresh)
}

// touch notes and keeps what lies at a path, which may go or change.
func (w *Watch) touch(path string, s spot, fresh bool) {
	if t := w.unsaved[path]; t != nil {
		w.save(path, s)
		w.note(t)
	}
	if w.touched[path] != nil || fresh && s.file != nil || w.leaves(path) { // where it is fresh, the call fails
		return
	}
	if t := w.begin(path, s); t != nil {
		if !t.saved() {
			w.unsaved[path] = t
			w.save(path, s)
		}
		w.note(t)
	}
}

// unseen notes that it is not known what lies at a path.
func (w *Watch) unseen(path string, err error) {
	switch {
	case errors.Is(err, os.ErrClosed), errors.Is(err, fs.ErrPermission): // the call is not made, or fails
	case isLoop(err):
		w.lacks.add("something else was put there at that moment", path)
	default:
		w.lacks.add("it cannot be read", path)
	}
}

// begin notes what lies at a path; nil is that it cannot be looked after.
func (w *Watch) begin(path string, s spot) *touched {
	if len(w.touched) >= maxTouched {
		w.lacks.add(fmt.Sprintf("it changed more than %d files", maxTouched), path)
		return nil
	}
	t := &touched{path: path}
	if s.file != nil {
		t.stamp = stampOf(s.info)
		t.was = s.node()
	}
	w.touched[path] = t
	return t
}

// leaves reports whether a path is in a directory that is left out, and notes that.
func (w *Watch) leaves(path string) bool {
	rest := path
	for _, dir := range w.dirs {
		if r, ok := strings.CutPrefix(path, dir); ok && len(r) < len(rest) {
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

// Missed is told that something may have been changed, and nobody knows what.
func (w *Watch) Missed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lacks.add(err.Error(), "")
}

// note writes down what a file was.
func (w *Watch) note(t *touched) {
	if err := w.ledger.write(w, t); err != nil {
		w.lacks.add("its undo would be lost if Toolquay were killed: "+err.Error(), t.path)
	}
}
