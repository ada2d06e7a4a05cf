package worktree

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Store is the directory of all worktrees of a user.
type Store struct {
	// Dir is the directory, absolute. Git is the program; it fails where there is none.
	Dir string
	Git func() (string, error)
}

// root is where the directory really lies, as git has it in its own records.
func (s *Store) root() string { return paths.Real(s.Dir) }

// State says how far a worktree has come.
type State string

// The states of a worktree.
const (
	// Making is until all its files are there, Made from then on, and Removing since somebody
	// wanted it gone with all that is in it.
	Making   State = "making"
	Made     State = "made"
	Removing State = "removing"
)

// Record is what is written down of a worktree.
type Record struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	// Main is the main worktree of the repository, Common the directory of git's own, and From
	// the worktree that the session came from.
	Main   string `json:"main"`
	Common string `json:"common,omitempty"`
	From   string `json:"from"`
	// Base is the commit that it began at, and Tip that of its branch when it was to be removed.
	Base    string    `json:"base,omitempty"`
	Tip     string    `json:"tip,omitempty"`
	Session string    `json:"session"`
	Created time.Time `json:"created"`
}

// Tree is a worktree whose lock is held.
type Tree struct {
	Record
	store *Store
	file  *os.File // the record, locked
}

// maxRecord bounds a record, in bytes.
const maxRecord = 64 << 10

// ErrInUse is that a session is in a worktree.
var ErrInUse = errors.New("a session is working in it")

// key names the directory of a repository's worktrees.
func key(r *repository) string {
	sum := sha256.Sum256([]byte(r.common))
	return sessiondir.Safe(filepath.Base(r.main), 30) + "-" + hex.EncodeToString(sum[:6])
}

// recordOf is the record of the worktree at a path.
func recordOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".json")
}

// named is the name of the worktree that a file is the record of by its own name, if it is one.
func named(record string) (name string, is bool) {
	name, suffixed := strings.CutSuffix(record, ".json")
	name, hidden := strings.CutPrefix(name, ".")
	return name, suffixed && hidden
}

// beginning is what the names of records begin with that are being written.
const beginning = ".new-"

// claim makes the record of a worktree that is to be, and locks it. It comes to its name complete
// and locked. The lock of the repository is held, so that nobody else takes the name.
func (s *Store) claim(r Record) (*Tree, error) {
	// The store around it is closed to others. Whoever gives a file back that was lost with a
	// worktree makes this directory again, as open as any.
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(r.Path), beginning)
	if err != nil {
		return nil, err
	}
	t := &Tree{Record: r, store: s, file: f}
	if err = cmp.Or(try(f), t.write(Making)); err == nil {
		err = t.place(recordOf(r.Path))
	}
	if err != nil {
		return nil, errors.Join(err, t.file.Close(), os.Remove(f.Name()))
	}
	return t, nil
}

// place gives the record its name. Windows renames no file that is open.
func (t *Tree) place(path string) error {
	if runtime.GOOS != "windows" {
		return os.Rename(t.file.Name(), path)
	}
	if err := errors.Join(t.file.Close(), os.Rename(t.file.Name(), path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	t.file = f
	return try(f)
}

// try takes the lock on a record, where the system has locks.
func try(f *os.File) error {
	if err := filelock.Try(f); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// longestBegin bounds the wait for another session that claims a worktree of the same repository.
const longestBegin = time.Minute

// exclusively has one process at a time claim worktrees of a repository.
func (s *Store) exclusively(dir string, do func() error) error {
	unlock, err := filelock.Path(dir+".lock", longestBegin)
	if err != nil {
		return err
	}
	defer unlock()
	halves, err := filepath.Glob(filepath.Join(dir, beginning+"*"))
	for _, half := range halves {
		_ = os.Remove(half) // a killed process left it
	}
	return cmp.Or(err, do())
}

// lock takes the lock, which goes with the process.
func (t *Tree) lock() error {
	if err := try(t.file); errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", t.Path, ErrInUse)
	} else if err != nil {
		return err
	}
	held, err := t.file.Stat()
	if err != nil {
		return err
	}
	if at, err := os.Lstat(recordOf(t.Path)); err != nil || !os.SameFile(held, at) {
		return fmt.Errorf("%s was removed meanwhile: %w", t.Path, fs.ErrNotExist)
	}
	return nil
}

// Open takes the worktree at a path, unless a session has it ([ErrInUse]). The error is
// fs.ErrNotExist where none of this store's is.
func (s *Store) Open(path string) (*Tree, error) {
	if filepath.Dir(filepath.Dir(path)) != s.root() {
		return nil, fmt.Errorf("%s is no worktree of this program: %w", path, fs.ErrNotExist)
	}
	f, _, err := privatedir.OpenOwn(recordOf(path), os.O_RDWR)
	if err != nil {
		return nil, err
	}
	t := &Tree{Record: Record{Path: path}, store: s, file: f}
	if err := errors.Join(t.lock(), t.read()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// read reads the record. One that is damaged is taken for that of a worktree that was never made.
func (t *Tree) read() error {
	text, err := io.ReadAll(io.NewSectionReader(t.file, 0, maxRecord))
	if err != nil {
		return err
	}
	path := t.Path
	if err := json.Unmarshal(text, &t.Record); err != nil {
		t.Record = Record{Path: path, State: Making}
		return nil //nolint:nilerr // see above
	}
	if t.Path != path {
		return abi.Errorf(abi.CodeChanged, "the record of %s is of %s", path, t.Path)
	}
	return nil
}

// write writes the record in a new state, and nothing is lost of it: it is shorter than a block,
// and its length does not shrink before the new one is there.
func (t *Tree) write(state State) error {
	t.State = state
	text, err := json.Marshal(t.Record)
	if err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", len(Removing)-len(state))...)
	if _, err := t.file.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return t.file.Sync()
}

// Release lets others have the worktree, which stays.
func (t *Tree) Release() error {
	if t.hooked() {
		return nil
	}
	return t.file.Close()
}

// Leave is [Tree.Release] of a session that was in it until now.
func (t *Tree) Leave() error {
	if t.hooked() {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(recordOf(t.Path), now, now) // else it goes a little earlier; the record may be gone
	return t.Release()
}

// Used is when somebody last did something in the worktree, as far as git's files tell.
func (t *Tree) Used() time.Time {
	last := t.Created
	own := filepath.Join(t.Common, "worktrees", filepath.Base(t.Path))
	for _, path := range []string{recordOf(t.Path), t.Path, filepath.Join(own, "index"), filepath.Join(own, "logs", "HEAD")} {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// forget removes the record, and the directory of the repository if it was the last.
func (t *Tree) forget() error {
	if runtime.GOOS == "windows" { // which removes no file that is open
		_ = t.file.Close()
	}
	err := os.Remove(recordOf(t.Path))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	_ = os.Remove(filepath.Dir(t.Path)) // it fails where there is more in it
	_ = t.file.Close()                  // what was written to it is of no more use
	return err
}

// All lists the paths of the worktrees that there are records of, by repository. What nothing of
// ours made is foreign.
func (s *Store) All() (trees, foreign []string, err error) {
	root := s.root()
	groups, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, group := range groups {
		dir := filepath.Join(root, group.Name())
		entries, listed := os.ReadDir(dir)
		if strings.HasSuffix(dir, ".lock") && group.Type().IsRegular() {
			continue
		}
		if listed != nil || !group.IsDir() {
			foreign = append(foreign, dir)
			continue
		}
		known := make(map[string]bool)
		for _, e := range entries {
			if name, is := named(e.Name()); is && e.Type().IsRegular() {
				trees = append(trees, filepath.Join(dir, name))
				known[name], known[e.Name()] = true, true
			}
		}
		for _, e := range entries {
			if !known[e.Name()] && !strings.HasPrefix(e.Name(), beginning) {
				foreign = append(foreign, filepath.Join(dir, e.Name()))
			}
		}
	}
	return trees, foreign, err
}
