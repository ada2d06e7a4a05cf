package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// Put implements [capability.Stage].
func (s *Store) Put(ctx context.Context, w capability.StagedWrite) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.locked(ctx, func() error {
		if err := s.renew(); err != nil {
			return err
		}
		return s.put(&w)
	})
	if err == nil {
		return nil
	}
	if e := os.Remove(w.Place); e != nil && !errors.Is(e, fs.ErrNotExist) {
		s.options.Logger.Warn("the file of a write that failed could not be removed", "file", w.Place, "error", e)
	}
	if code := abi.CodeOf(err); code == abi.CodeChanged {
		return err
	}
	return abi.Errorf(abi.CodeIO, "%s was not staged: %w", w.Path, err)
}

// put stages a write. It logs the note first: if the process is killed in between, the next write
// replaces the note without a staged file.
func (s *Store) put(w *capability.StagedWrite) error {
	if !isPath(w.Path) {
		return fmt.Errorf("the path %q is not absolute", w.Path)
	}
	if info, err := os.Lstat(w.Place); err != nil || info.Size() != w.Size {
		return errors.Join(fmt.Errorf("the new content at %s is gone", w.Place), err)
	}
	was, ok, err := s.tree.lookup(w.Path)
	if err != nil {
		return err
	}
	if was.Version != w.Was {
		return abi.Errorf(abi.CodeChanged, "what was staged for %s was applied, discarded or staged anew just now; read it again", w.Path)
	}
	if ok && was.Kind != "" && was.Kind != abi.KindFile {
		return abi.Errorf(abi.CodeChanged, "%s is no longer a file; read it again", w.Path)
	}
	lines, err := s.notesFor(w, ok)
	if err != nil {
		return err
	}
	if err := os.Chmod(w.Place, s.modeFor(w, &was)); err != nil {
		return err
	}
	if at, rel := s.mountOf(w.Path); at != "" {
		if err := s.index.add(lines...); err != nil {
			return err
		}
		return putMounted(at, rel, w.Place)
	}
	made, err := s.tree.makeDirs(filepath.Dir(w.Path))
	s.moment("directories")
	if err == nil {
		err = s.index.add(append(made, lines...)...)
	}
	if err != nil {
		return err
	}
	s.moment("noted")
	err = s.tree.put(w.Path, w.Place)
	s.moment("put")
	return err
}

// notesFor returns the log lines of a write. An existing note of the path keeps its base, unless
// the path is no longer staged.
func (s *Store) notesFor(w *capability.StagedWrite, staged bool) ([]line, error) {
	l := line{
		Kind: kindStage, Path: changes.Name(w.Path), Content: contentOf(w.Hash, w.Size),
		Base: baseOf(w.Base), Call: w.Call.ID, Tool: w.Call.Tool,
	}
	known := s.index.notes[w.Path] != nil
	switch {
	case known && !staged:
		return []line{{Kind: kindForget, Path: l.Path}, l}, nil
	case !known && staged: // a command made it, and nobody has looked since
		base, err := s.base(w.Path, s.index.last)
		l.Base, l.Stamp, l.Changed, l.Began = base.Base, base.Stamp, base.Changed, base.Began
		return []line{l}, err
	}
	return []line{l}, nil
}

// modeFor returns the mode of the staged file: that of the file staged before, or of the file on
// the disk, or of the new content.
func (s *Store) modeFor(w *capability.StagedWrite, was *capability.Staged) fs.FileMode {
	if was.Kind == abi.KindFile {
		if info, err := os.Lstat(was.Place); err == nil {
			return info.Mode().Perm()
		}
	}
	if w.Base != nil && w.Base.Mode&permission != 0 {
		return fs.FileMode(w.Base.Mode & permission)
	}
	if info, err := os.Lstat(w.Place); err == nil {
		return info.Mode().Perm()
	}
	const usual = 0o644
	return usual
}

// put moves a file to its place in the tree.
func (t *tree) put(path, file string) error {
	at := t.at(path)
	was, _, err := workspace.Lstat(at)
	if err != nil {
		return err
	}
	spot, err := workspace.NewSpot(at, false)
	if err != nil {
		return err
	}
	if err = spot.Take(file); err == nil {
		err = spot.Commit(was, nil)
	}
	return errors.Join(err, spot.Discard())
}

// Mounted makes writes below root, the root of a [Layer], go through the mounted overlay, so that
// programs that see the mount see the writes too. At is the path of the mount, such as a
// descriptor below /proc; an empty at means that it is no longer mounted. Once something is
// applied or discarded (see [Store.Generation]), writes go into the tree until Mounted is called
// again.
func (s *Store) Mounted(root, at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at == "" {
		delete(s.mounted, root)
		return
	}
	_ = s.index.refresh() // the next write reports a failure
	s.mounted[root] = mounted{at, s.index.generation}
}

// mounted is the path of a mount, and the generation of the stage when it was mounted.
type mounted struct {
	at         string
	generation int
}

// mountOf returns the mount that contains a path, and the path relative to it; empty if there is
// none.
func (s *Store) mountOf(path string) (at, rel string) {
	longest := ""
	for root, m := range s.mounted {
		if m.generation == s.index.generation && changes.Below(path, root) && len(root) > len(longest) {
			longest = root
		}
	}
	if longest == "" {
		return "", ""
	}
	rel, err := filepath.Rel(longest, path)
	if err != nil {
		return "", ""
	}
	return s.mounted[longest].at, rel
}

// putMounted copies a file into a mount, under a temporary name that it then renames, and removes
// the original. The copy and its name are synced.
func putMounted(at, rel, file string) (err error) {
	root, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	info, err := from.Stat()
	if err != nil {
		return err
	}
	dir := filepath.Dir(rel)
	if err := root.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	temp := filepath.Join(dir, workspace.TemporaryName(filepath.Base(rel)))
	to, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err == nil {
		err = to.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = root.Rename(temp, rel)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return errors.Join(atomicfile.SyncDir(filepath.Join(at, dir)), os.Remove(file))
}

// newCall returns a new call ID for the records of one apply.
func newCall() string { return "apply-" + rand.Text()[:8] }
