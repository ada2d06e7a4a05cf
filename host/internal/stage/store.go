package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/ondisk"
)

// Dir is the name of a stage's directory in the directory of its session.
const Dir = "stage"

// ErrNothing is that a selection is of no file that is staged.
var ErrNothing = errors.New("no such file is staged")

// Options configure a stage. The zero value is for one that is there.
type Options struct {
	// Make makes the stage's directory, before the first thing is staged in it; nil is
	// for one that is there. It is called until it succeeds once.
	Make func() error
	// History keeps what files were before they are applied; nil keeps nothing.
	History capability.History
	// Logger is told what goes wrong beside the writes themselves; nil discards it.
	Logger *slog.Logger
}

// Store is the stage of one session. It is safe for concurrent use, and so is its
// directory by several processes.
type Store struct {
	options  Options
	contents contents

	mu    sync.Mutex
	made  bool
	index index
}

var _ capability.Stage = (*Store)(nil)

// Open returns the stage in a directory. Nothing is opened or made before it is asked
// for.
func Open(dir string, o Options) *Store {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{options: o, contents: contents{dir, o.Logger}}
}

// make makes the directory once. The mutex is held.
func (s *Store) make() error {
	if s.made || s.options.Make == nil {
		return nil
	}
	if err := s.options.Make(); err != nil {
		return err
	}
	s.made = true
	return nil
}

// locked does something while nobody else changes the stage, of this process or
// another. The mutex of s is held by the caller.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if err := s.make(); err != nil {
		return err
	}
	return ondisk.Locked(ctx, filepath.Join(s.contents.dir, lockName), do)
}

// Lookup is as [capability.Stage] has it.
func (s *Store) Lookup(path string) (capability.Staged, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.index.refresh(s.contents.dir); err != nil {
		return capability.Staged{}, false, abi.Errorf(abi.CodeIO, "%w", err)
	}
	e := s.index.entries[path]
	if e == nil {
		return capability.Staged{}, false, nil
	}
	return s.contents.staged(e), true, nil
}

// Below is as [capability.Stage] has it.
func (s *Store) Below(dir string) ([]capability.Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.index.refresh(s.contents.dir); err != nil {
		return nil, abi.Errorf(abi.CodeIO, "%w", err)
	}
	var out []capability.Staged
	for path, e := range s.index.entries {
		if below(path, dir) {
			out = append(out, s.contents.staged(e))
		}
	}
	slices.SortFunc(out, func(a, b capability.Staged) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// List returns what is staged of a selection, by path.
func (s *Store) List(sel Selection) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.index.refresh(s.contents.dir); err != nil {
		return nil, err
	}
	return s.index.list(sel), nil
}

// Place is as [capability.Stage] has it.
func (s *Store) Place() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.make(); err != nil {
		return "", abi.Errorf(abi.CodeIO, "nothing was staged, since the stage cannot be made: %w", err)
	}
	return s.contents.path(newName()), nil
}

// Put is as [capability.Stage] has it.
func (s *Store) Put(ctx context.Context, w capability.StagedWrite) error {
	if !utf8.ValidString(w.Path) {
		s.contents.remove(filepath.Base(w.Place))
		return abi.Errorf(abi.CodeInvalidInput, "the path %q is no UTF-8, and the stage has no words for it; rename the file or its directory", w.Path)
	}
	var former string
	s.mu.Lock()
	err := s.locked(ctx, func() (err error) {
		former, err = s.put(&w)
		return err
	})
	s.mu.Unlock()
	if err == nil {
		s.contents.remove(former)
		return nil
	}
	s.contents.remove(filepath.Base(w.Place))
	if code := abi.CodeOf(err); code == abi.CodeChanged {
		return err
	}
	return abi.Errorf(abi.CodeIO, "%s was not staged: %w", w.Path, err)
}

// put records a write, and returns the name of the content that it takes the place of.
func (s *Store) put(w *capability.StagedWrite) (former string, err error) {
	if err := s.index.refresh(s.contents.dir); err != nil {
		return "", err
	}
	if info, err := os.Lstat(w.Place); err != nil || info.Size() != w.Size {
		return "", errors.Join(fmt.Errorf("the content at %s is gone", w.Place), err)
	}
	l := line{
		Kind: kindStage, Time: time.Now().UTC(), Path: w.Path, Name: filepath.Base(w.Place),
		Content: contentOf(w.Hash, w.Size), Base: baseOf(w.Base), Call: w.Call.ID, Tool: w.Call.Tool,
	}
	if e := s.index.entries[w.Path]; e != nil {
		former, l.Base = e.name, e.Base
	}
	if was := s.contents.path(former); former == "" && w.Was != "" || former != "" && w.Was != was {
		return "", abi.Errorf(abi.CodeChanged, "what was staged for %s was applied, discarded or staged anew just now; read it again", w.Path)
	}
	return former, s.index.append(s.contents.dir, &l)
}

// empty reports whether nothing was ever staged: then nothing is made to find out
// more. The mutex is held.
func (s *Store) empty() bool { return s.index.refresh(s.contents.dir) == nil && s.index.file == nil }

// Discard forgets what is staged of a selection, and returns what that was. All of a
// stage is forgotten also where it is damaged.
func (s *Store) Discard(ctx context.Context, sel Selection) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty() {
		return nil, ErrNothing
	}
	var gone []Entry
	err := s.locked(ctx, func() error {
		err := s.index.refresh(s.contents.dir)
		all := len(sel.Paths) == 0
		if err != nil && (!all || !errors.Is(err, ErrDamaged)) {
			return err
		}
		list := s.index.list(sel)
		switch {
		case len(list) == 0 && err == nil:
			return ErrNothing
		case all:
			if err := s.index.append(s.contents.dir, &line{Kind: kindReset, Time: time.Now().UTC()}); err != nil {
				return err
			}
			gone = list
			s.contents.sweep()
			return nil
		}
		for i := range list {
			if err := s.index.append(s.contents.dir, &line{Kind: kindDiscard, Time: time.Now().UTC(), Path: list[i].Path}); err != nil {
				return err
			}
			gone = append(gone, list[i])
		}
		return nil
	})
	for i := range gone {
		s.contents.remove(gone[i].name)
	}
	return gone, err
}
