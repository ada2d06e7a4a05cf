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

// Limits for one command.
const (
	// maxTouched bounds the files that are watched, and maxPlaces the paths where contents that are not kept yet
	// may be.
	maxTouched = 100_000
	maxPlaces  = 4 * maxTouched
	// maxKeptFile bounds one former content, and maxKeptBytes all former contents together, in bytes.
	maxKeptFile  = 64 << 20
	maxKeptBytes = 256 << 20
)

// Watch keeps the former content of files that a command changes. Its methods are called before each change
// (see package touches). When the command has ended, it looks at all these paths again and makes records of
// what changed. It is safe for concurrent use.
//
// A content is copied only when it is about to be lost. When a file is moved, alone or with its directory, only its
// new path is noted, until the file is written or removed there.
//
// A path is opened once, without following symbolic links, and metadata and content are read through that
// descriptor, because the command may put something else at the path at any moment.
type Watch struct {
	store *Store
	call  capability.Call
	// dirs are the directories that are watched.
	dirs []string
	// look opens what is at a path, for its metadata.
	look func(path string) (*os.File, error)

	mu     sync.Mutex
	ledger ledger
	// touched maps paths to what was there before the command's first change.
	touched map[string]*touched
	// unsaved maps paths to files whose content is not kept yet and may be there now. places counts the paths that
	// were noted so.
	unsaved map[string]*touched
	places  int
	bytes   int64 // of contents that are kept
	// held are the hashes of contents that are stored in files of the history. replayed says that the watch was
	// read from a ledger.
	held     []string
	replayed bool
	// gaps says what is not kept, and why. said is the text of the gaps that have records already.
	gaps  gaps
	said  string
	ended bool
}

// touched is a file that a command may have changed.
type touched struct {
	path string
	was  *changes.Node // nil if nothing was there; without a hash while its content is not kept
	// stamp is the file's stamp before the command.
	stamp stamp
	// places are the paths where the content may be, while it is not kept.
	places []string
	// inline is the compressed content, if it is small: it is kept in the ledger.
	inline []byte
	// lost says why the content will not be kept.
	lost string
}

// saved reports whether the content needs no more work: it is kept or given up, or there was none.
func (t *touched) saved() bool { return !t.was.Is(changes.File) || t.was.Hash != "" }

// lose gives up a content, and notes why. The stamp identifies the file from then on.
func (t *touched) lose(why string) {
	t.lost = why
	t.stamp.name(t.was)
}

// Watch begins to keep the former contents of files below dirs that a command changes.
func (s *Store) Watch(call capability.Call, dirs []string) capability.CommandWatch {
	w := newWatch(s)
	w.call, w.dirs = call, dirs
	s.watches.Store(w, true)
	return w
}

func newWatch(s *Store) *Watch {
	return &Watch{store: s, look: lookAt, touched: make(map[string]*touched), unsaved: make(map[string]*touched)}
}

// Begin implements [capability.CommandWatch], as do the other exported methods.
func (w *Watch) Begin(look func(path string) (*os.File, error)) { w.look = look }

// Touch keeps what is at a path.
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

// touch notes and keeps what is at a path, since it may be changed or removed.
func (w *Watch) touch(path string, s spot, fresh bool) {
	if t := w.unsaved[path]; t != nil {
		w.save(path, s)
		w.note(t)
	}
	if w.touched[path] != nil || fresh && s.file != nil || w.leaves(path) { // a call that only creates fails if the path is taken
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

// unseen notes that it is not known what is at a path.
func (w *Watch) unseen(path string, err error) {
	switch {
	case errors.Is(err, os.ErrClosed), errors.Is(err, fs.ErrPermission): // the command does not make the call, or the call fails
	case isLoop(err):
		w.gaps.add("something else was put there at that moment", path)
	default:
		w.gaps.add("it cannot be read", path)
	}
}

// begin begins to watch a path. It returns nil if too many are watched.
func (w *Watch) begin(path string, s spot) *touched {
	if len(w.touched) >= maxTouched {
		w.gaps.add(fmt.Sprintf("it changed more than %d files", maxTouched), path)
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

// leaves reports whether a path is in a directory that history_except leaves out, and notes that directory.
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
			w.gaps.add(leftOut, path[:above+at+end])
			return true
		}
		at += end + 1
	}
}

// Missed notes that the command may have made changes that are not known.
func (w *Watch) Missed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaps.add(err.Error(), "")
}

// note writes an entry for a file to the ledger.
func (w *Watch) note(t *touched) {
	e := entry{Path: changes.Name(t.path), Was: t.was, Stamp: t.stamp, Inline: t.inline, Lost: t.lost}
	if len(t.places) > 0 { // alsoAt has written the others
		e.Place = changes.Name(t.places[0])
	}
	w.write(t, &e)
}

func (w *Watch) write(t *touched, e *entry) {
	if err := w.ledger.write(w, e); err != nil {
		w.gaps.add("its undo would be lost if Toolquay were killed: "+err.Error(), t.path)
	}
}
