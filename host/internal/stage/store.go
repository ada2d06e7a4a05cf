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

// ErrNothing means that nothing of a selection is staged.
var ErrNothing = errors.New("no such file is staged")

// Options configure a stage. The zero value is for one that is there.
type Options struct {
	// Make makes the stage's directory, before the first thing is staged in it; nil is
	// for one that is there. It is called until it succeeds once.
	Make func() error
	// History keeps what files were before they are applied; nil keeps nothing.
	History History
	// By is the call under which the history records what is applied. Without it, each apply
	// gets a call of its own.
	By capability.Call
	// Logger is told what goes wrong beside the writes themselves; nil discards it.
	Logger *slog.Logger
}

// History is what [history.Store] does for an applying.
type History interface {
	// KeepAll records changes that are about to be done, and what files were before.
	KeepAll(ctx context.Context, by capability.Call, list []changes.Change, before []io.Reader) (ids []string, err error)
	// Void takes back a record of what was not done.
	Void(id string) error
}

// Store is the stage of one session. It is safe for concurrent use, and so is its
// directory by several processes.
type Store struct {
	options Options
	dir     string

	mu    sync.Mutex
	made  bool
	index *index
	tree  tree
	// mounted are the prefixes by which directories are written to while they are mounted.
	mounted map[string]mounted
	running running
	// moment is told of the steps of what changes the stage. Tests end the process there.
	moment func(name string)
}

var _ capability.Stage = (*Store)(nil)

// Open returns the stage in a directory. Nothing is opened or made before it is asked
// for.
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

// locked calls do while nobody else changes the stage, in this process or another. The
// caller holds the mutex of s.
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

// seen calls look with what is staged as it now is. The error is one for tools.
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

// Lookup is as [capability.Stage] has it.
func (s *Store) Lookup(path string) (staged capability.Staged, ok bool, err error) {
	err = s.seen(func() (err error) {
		staged, ok, err = s.tree.lookup(path)
		return err
	})
	return staged, ok, err
}

// Children is as [capability.Stage] has it.
func (s *Store) Children(dir string) (list []capability.Staged, err error) {
	err = s.seen(func() (err error) {
		list, err = s.tree.children(dir)
		return err
	})
	return list, err
}

// Below is as [capability.Stage] has it.
func (s *Store) Below(dir string) (list []capability.Staged, err error) {
	err = s.seen(func() (err error) {
		list, err = s.tree.below(dir, nil)
		return err
	})
	return list, err
}

// Shaped is as [capability.Stage] has it.
func (s *Store) Shaped() (shaped bool, err error) {
	err = s.seen(func() error {
		shaped = len(s.index.layers) > 0
		return nil
	})
	return shaped, err
}

// Place is as [capability.Stage] has it.
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

// empty reports whether nothing was ever staged: then nothing is made to find out
// more. The mutex is held.
func (s *Store) empty() bool {
	if s.index.refresh() != nil || s.index.Exists() {
		return false
	}
	_, err := os.Lstat(s.tree.dir)
	return errors.Is(err, fs.ErrNotExist)
}

// Generation counts how often something was applied or discarded, by any process. Overlays
// that were mounted before the last time may not show what is staged now.
func (s *Store) Generation() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.index.refresh()
	return s.index.generation, err
}
