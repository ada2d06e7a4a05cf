package stage

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// Earlier versions had no tree: each content was in a separate file beside the log, and a log
// line said which path it was staged for. Such changes are moved into the tree when the stage is
// first read.

// refresh reads new lines of the log, and converts what an earlier version staged. The mutex is
// held, and the lock is not.
func (s *Store) refresh(ctx context.Context) error {
	err := s.index.refresh()
	if err == nil && len(s.index.former) > 0 {
		err = s.locked(ctx, s.renew)
	}
	return err
}

// renew is refresh for a caller that holds the lock.
func (s *Store) renew() error {
	if err := s.index.refresh(); err != nil {
		return err
	}
	for path, lines := range s.index.former {
		if err := s.adopt(lines); err != nil {
			return fmt.Errorf("converting what an earlier version of Toolquay staged for %s: %w; toolquay stage discard --all removes it", path, err)
		}
	}
	return nil
}

// adopt converts the lines of a path, which are in the order of their writes: the last one is
// staged, and an interrupted apply may have written any of them. If the process is killed, adopt
// starts again: the lines are not forgotten before the tree has the content.
func (s *Store) adopt(lines []line) error {
	l, first := lines[len(lines)-1], lines[0]
	path := string(l.Path)
	w := capability.StagedWrite{
		Call: capability.Call{ID: l.Call, Tool: l.Tool}, Path: path,
		Place: filepath.Join(s.dir, l.Name), Size: l.Content.Size,
	}
	if _, err := hex.Decode(w.Hash[:], []byte(l.Content.Hash)); err != nil {
		return err
	}
	if b := first.Base; b != nil {
		w.Base = &capability.StagedBase{Size: b.Size, Mode: b.Mode}
		if _, err := hex.Decode(w.Base.Hash[:], []byte(b.Hash)); err != nil {
			return err
		}
	}
	was, _, err := s.tree.lookup(path)
	if err != nil {
		return err
	}
	w.Was = was.Version
	if _, err := os.Lstat(w.Place); !errors.Is(err, fs.ErrNotExist) || was.Version == "" {
		if err := s.put(&w); err != nil {
			return err
		}
	}
	var more []line
	for i := range lines[:len(lines)-1] {
		more = append(more, line{Kind: kindApplying, Path: l.Path, Content: lines[i].Content})
	}
	return s.index.add(append(more, line{Kind: kindFormerDiscarded, Path: l.Path, Time: l.Time})...)
}

// formerly takes a line of an earlier version.
func (x *index) formerly(path string, l *line) {
	if l.Kind == kindFormer {
		x.former[path] = append(slices.Clip(x.former[path]), *l)
		return
	}
	delete(x.former, path)
}

// formerLine reports whether a line of an earlier version is valid.
func (l *line) formerLine() bool {
	return isPath(string(l.Path)) && isName(l.Name) && l.Content.Valid() && l.Content.Is(changes.File) &&
		(l.Base == nil || l.Base.Valid() && l.Base.Is(changes.File))
}
