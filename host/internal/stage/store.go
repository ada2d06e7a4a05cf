package stage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Dir is the name of a stage's directory in the directory of its session.
const Dir = "stage"

// ErrNothing means that a selection contains no staged change.
var ErrNothing = errors.New("no such file is staged")

// Options configure a stage. The zero value is for a directory that exists.
type Options struct {
	// Make creates the stage's directory when it is first needed; nil if it exists. It is called
	// until it succeeds once.
	Make func() error
	// History keeps the former files when changes are applied; nil keeps nothing.
	History History
	// By is the call under which the history records what is applied. Without it, each apply
	// gets a call of its own.
	By capability.Call
	// Logger receives failures that the methods do not return; nil discards them.
	Logger *slog.Logger
}

// History is what applying needs of [history.Store].
type History interface {
	// KeepAll records changes that are about to be made, with the former contents of files.
	KeepAll(ctx context.Context, by capability.Call, list []changes.Change, before []io.Reader) (ids []string, err error)
	// Void removes the record of a change that was not made.
	Void(id string) error
}

// Store is the stage of one session. It is safe for concurrent use, and several processes may use
// its directory.
type Store struct {
	options Options
	dir     string

	mu    sync.Mutex
	made  bool
	index *index
	tree  tree
	// mounted has the mounts that writes go through, by the roots of their layers.
	mounted map[string]mounted
	running running
	// moment is called at each step of a change. Tests kill the process there.
	moment func(name string)
}

var _ capability.Stage = (*Store)(nil)

// Open returns the stage in a directory. It neither opens nor creates anything: the methods do.
func Open(dir string, o Options) *Store {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if lies, err := filepath.EvalSymlinks(dir); err == nil {
		dir = lies
	} else if above, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(above, filepath.Base(dir))
	}
	return &Store{
		options: o, dir: dir, index: newIndex(dir), tree: tree{filepath.Join(dir, upperDir)},
		mounted: make(map[string]mounted), moment: func(string) {},
	}
}

// make makes the directory once. The mutex is held.
func (s *Store) make() error {
	if s.made {
		return nil
	}
	if s.options.Make != nil {
		if err := s.options.Make(); err != nil {
			return err
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.made = true
	return nil
}

// settle switches to the real path of the directory, which may not have existed when the
// stage was opened: files of the tree are opened without following links.
func (s *Store) settle() error {
	lies, err := filepath.EvalSymlinks(s.dir)
	if err != nil || lies == s.dir {
		return err
	}
	s.dir, s.index, s.tree = lies, newIndex(lies), tree{filepath.Join(lies, upperDir)}
	return nil
}

// locked calls do while nobody else changes the stage, in this process or another. It first
// completes an interrupted reset. The caller holds the mutex.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if err := s.make(); err != nil {
		return err
	}
	return privatedir.Locked(ctx, filepath.Join(s.dir, lockName), func() error {
		if err := s.completed(); err != nil {
			return err
		}
		return do()
	})
}

// seen reads what was added to the log and calls look. Its errors have a code for tools.
func (s *Store) seen(look func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.refresh(context.Background())
	if err == nil {
		err = look()
	}
	if err != nil {
		return abi.Errorf(abi.CodeIO, "%w", err)
	}
	return nil
}

// Lookup implements [capability.Stage].
func (s *Store) Lookup(path string) (staged capability.Staged, ok bool, err error) {
	err = s.seen(func() (err error) {
		staged, ok, err = s.tree.lookup(path)
		return err
	})
	return staged, ok, err
}

// Children implements [capability.Stage].
func (s *Store) Children(dir string) (list []capability.Staged, err error) {
	err = s.seen(func() (err error) {
		list, err = s.tree.children(dir)
		return err
	})
	return list, err
}

// Below implements [capability.Stage].
func (s *Store) Below(dir string) (list []capability.Staged, err error) {
	err = s.seen(func() (err error) {
		list, err = s.tree.below(dir, nil)
		return err
	})
	return list, err
}

// Shaped implements [capability.Stage].
func (s *Store) Shaped() (shaped bool, err error) {
	err = s.seen(func() error {
		shaped = len(s.index.layers) > 0
		return nil
	})
	return shaped, err
}

// Place implements [capability.Stage].
func (s *Store) Place() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.make()
	if err == nil {
		err = privatedir.Make(filepath.Join(s.dir, newDir))
	}
	if err != nil {
		return "", abi.Errorf(abi.CodeIO, "nothing was staged, because the stage cannot be created: %w", err)
	}
	return filepath.Join(s.dir, newDir, newName()), nil
}

// empty reports whether nothing was ever staged. It creates nothing. The mutex is held.
func (s *Store) empty() bool {
	if s.index.refresh() != nil || s.index.Exists() {
		return false
	}
	_, err := os.Lstat(s.tree.dir)
	return errors.Is(err, fs.ErrNotExist)
}

// Generation counts how often something was applied or discarded, by any process. Overlays that
// were mounted before the count last changed may not show what is staged now.
func (s *Store) Generation() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.index.refresh()
	return s.index.generation, err
}
