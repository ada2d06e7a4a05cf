package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Layer is an overlay that shows a directory with its staged changes. Root is its lower
// directory. The mount needs the option userxattr.
type Layer struct {
	Root string
	// Upper is Root's part of the tree. Work is the work directory of overlayfs, on the same file
	// system.
	Upper, Work string
	// Generation is that of the stage (see [Store.Generation]). An overlay of an earlier
	// generation must be mounted again.
	Generation int
}

// Layers returns the overlays to mount so that commands see directories as the session's tools
// do. Roots are real paths; a directory inside another one gets no overlay of its own. Layers
// creates the directories that the overlays need. From then on, commands may change anything
// below the roots.
func (s *Store) Layers(roots []string) ([]Layer, error) {
	for _, root := range roots {
		if !isPath(root) {
			return nil, fmt.Errorf("the path %q is not absolute", root)
		}
	}
	roots = outermost(roots)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Layer
	err := s.locked(context.Background(), func() error {
		if err := s.renew(); err != nil {
			return err
		}
		for _, root := range roots {
			l, err := s.layer(root)
			if err != nil {
				return fmt.Errorf("preparing what is staged below %s: %w", root, err)
			}
			out = append(out, l)
		}
		return nil
	})
	return out, err
}

// outermost leaves out directories that are inside others.
func outermost(roots []string) []string {
	roots = slices.Clone(roots)
	slices.SortFunc(roots, changes.ComparePaths)
	var out []string
	for _, root := range roots {
		if n := len(out); n == 0 || out[n-1] != root && !changes.Below(root, out[n-1]) {
			out = append(out, root)
		}
	}
	return out
}

// layer creates the directories of a layer, and logs a new layer.
func (s *Store) layer(root string) (Layer, error) {
	var lines []line
	at := slices.Index(s.index.layers, root)
	if at < 0 {
		at = len(s.index.layers)
		lines = []line{{Kind: kindLayer, Path: changes.Name(root)}}
	}
	made, err := s.tree.makeDirs(root)
	if err == nil {
		err = s.index.add(append(lines, made...)...)
	}
	l := Layer{Root: root, Upper: s.tree.at(root), Work: filepath.Join(s.dir, workDir, strconv.Itoa(at)), Generation: s.index.generation}
	if err == nil {
		err = privatedir.Make(filepath.Dir(l.Work))
	}
	if err == nil {
		err = privatedir.Make(l.Work)
	}
	return l, err
}

// busyName is the file that is locked while commands run over the stage.
const busyName = "busy"

// running counts the commands of this process that run over the stage, and holds the locked file.
type running struct {
	n    int
	file *os.File
}

// errRunning is the error of applying or discarding while a command runs.
var errRunning = errors.New("a command of the session still runs and may change what is staged; wait for it, or end it")

// Running notes that a command runs over the stage until done is called: meanwhile, nothing is
// applied or discarded, by this process or another. Background tasks are such commands. Running
// waits for another process that applies, for up to a minute.
func (s *Store) Running() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running.n == 0 {
		if err := s.make(); err != nil {
			return nil, err
		}
		f, _, err := privatedir.OpenOwn(filepath.Join(s.dir, busyName), os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		const applying = time.Minute // the longest wait for another process
		if err := filelock.Wait(f, applying); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		s.running.file = f
	}
	s.running.n++
	return s.ended, nil
}

func (s *Store) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running.n--; s.running.n > 0 {
		return
	}
	filelock.Unlock(s.running.file)
	_ = s.running.file.Close() // nothing was written
	s.running.file = nil
}

// alone calls do while no command runs and nobody else changes the stage. While a command runs,
// the error is errRunning.
func (s *Store) alone(ctx context.Context, do func() error) error {
	if s.running.n > 0 {
		return errRunning
	}
	return s.locked(ctx, func() error {
		f, _, err := privatedir.OpenOwn(filepath.Join(s.dir, busyName), os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		defer f.Close()
		err = filelock.Try(f)
		if errors.Is(err, filelock.ErrLocked) {
			return errRunning
		}
		if err != nil {
			return err
		}
		defer filelock.Unlock(f)
		return do()
	})
}
