package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// The directories of a stage.
const (
	// upperDir holds what is staged, at absolute paths, and workDir the work directories of
	// overlayfs.
	upperDir = "upper"
	workDir  = "work"
	// newDir holds content that is not staged yet.
	newDir = "new"
	// goneDir is a former tree of which nothing is staged any more.
	goneDir = "gone"
	// leftEnd is the suffix of former trees that could not be removed.
	leftEnd = "-left"
)

// tree is the directory with what is staged, in the format of an upper directory of overlayfs:
// files, directories and links as they will be; whiteouts (a character device 0:0, or an empty
// file with the attribute user.overlay.whiteout) for removed paths; and opaque directories (with
// the attribute user.overlay.opaque = y), which hide what the disk has in them.
//
// Commands change the tree while it is mounted. So nothing in it is read or written by a path
// that a link could lead elsewhere.
type tree struct{ dir string }

// inTree returns where the tree has a path of the disk: the same path, without the colon of a
// volume.
func inTree(path string) string {
	volume := filepath.VolumeName(path)
	return filepath.Join(strings.ReplaceAll(volume, ":", ""), path[len(volume):])
}

// at returns the full path in the tree for a path of the disk.
func (t *tree) at(path string) string { return filepath.Join(t.dir, inTree(path)) }

// top returns the paths that contain all others: the root, or on systems with volumes, the root
// of each volume that the tree has.
func (t *tree) top() ([]string, error) {
	if filepath.VolumeName(t.dir) == "" {
		return []string{string(filepath.Separator)}, nil
	}
	entries, err := os.ReadDir(t.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name()+":"+string(filepath.Separator))
	}
	return out, err
}

// kindOf returns the kind of an entry of the tree, as package abi names it; empty for a whiteout.
func kindOf(at string, info fs.FileInfo) string {
	if isWhiteout(at, info) {
		return ""
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return abi.KindFile
	case mode.IsDir():
		return abi.KindDirectory
	case mode&fs.ModeSymlink != 0:
		return abi.KindSymlink
	}
	return abi.KindOther
}

// lookup returns what the tree has for a path. False means that it has nothing, so that the disk
// counts.
func (t *tree) lookup(path string) (s capability.Staged, ok bool, err error) {
	s.Path = path
	at, rest := t.dir, inTree(path)
	for rest != "" && rest != "." {
		var name string
		name, rest, _ = strings.Cut(strings.TrimPrefix(rest, string(filepath.Separator)), string(filepath.Separator))
		if name == "" {
			continue
		}
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return capability.Staged{Path: path}, s.Opaque, nil
		}
		if err != nil {
			return s, false, fmt.Errorf("looking at what is staged: %w", err)
		}
		s.Kind = kindOf(at, info)
		last := rest == ""
		switch {
		case s.Kind == abi.KindDirectory:
			s.Opaque = s.Opaque || isOpaque(at)
		case !last: // a directory above is removed, or replaced by something else
			return capability.Staged{Path: path, Time: info.ModTime()}, true, nil
		}
		if last {
			err := describe(&s, at, info)
			return s, true, err
		}
	}
	return s, false, nil
}

// describe adds the details of an entry whose kind is set.
func describe(s *capability.Staged, at string, info fs.FileInfo) (err error) {
	s.Time = info.ModTime()
	if s.Kind == "" {
		return nil
	}
	s.Place = at
	switch s.Kind {
	case abi.KindSymlink:
		s.Target, err = os.Readlink(at)
	case abi.KindFile:
		s.Version = version(info)
	}
	return err
}

// version identifies the content of a file in the tree by its metadata.
func version(info fs.FileInfo) string {
	return fmt.Sprintf("%d-%d-%s", info.Size(), info.ModTime().UnixNano(), identity(info))
}

// children lists a directory of the tree; nothing if the tree does not have it. It leaves out
// temporary files that a killed host left.
func (t *tree) children(dir string) ([]capability.Staged, error) {
	above, ok, err := t.lookup(dir)
	if err != nil || above.Kind != abi.KindDirectory && (ok || filepath.Dir(dir) != dir) {
		return nil, err
	}
	at := t.at(dir)
	entries, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing what is staged: %w", err)
	}
	out := make([]capability.Staged, 0, len(entries))
	for _, e := range entries {
		if workspace.TemporaryFor(e.Name()) != "" {
			continue
		}
		place := filepath.Join(at, e.Name())
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing what is staged: %w", err)
		}
		s := capability.Staged{Path: filepath.Join(dir, e.Name()), Kind: kindOf(place, info)}
		if s.Kind == abi.KindDirectory {
			s.Opaque = above.Opaque || isOpaque(place)
		}
		if err := describe(&s, place, info); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listing what is staged: %w", err)
		}
		out = append(out, s)
	}
	return out, nil
}

// below lists everything below a directory of the tree, directories before their contents.
func (t *tree) below(dir string, out []capability.Staged) ([]capability.Staged, error) {
	list, err := t.children(dir)
	if errors.Is(err, fs.ErrPermission) {
		return out, nil // tools skip unreadable directories on the disk, too
	}
	for i := range list {
		out = append(out, list[i])
		if err == nil && list[i].Kind == abi.KindDirectory {
			out, err = t.below(list[i].Path, out)
		}
	}
	return out, err
}

// makeDirs creates a directory of the tree with those above it. They get the modes of the
// directories on the disk, because a mount shows their modes. It returns a line with the base of
// each.
func (t *tree) makeDirs(dir string) ([]line, error) {
	var missing []string
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(t.at(dir))
		if err == nil && !isWhiteout(t.at(dir), info) {
			break
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, dir)
		if filepath.Dir(dir) == dir {
			break
		}
	}
	var lines []line
	for i := range missing {
		dir := missing[len(missing)-1-i]
		base, err := t.makeDir(dir)
		if err != nil {
			return nil, err
		}
		if filepath.Dir(dir) != dir {
			lines = append(lines, line{Kind: kindBase, Path: changes.Name(dir), Base: base})
		}
	}
	return lines, nil
}

// makeDir creates one directory of the tree. It returns the node of the directory on the disk;
// nil if there is none. If the directory replaces a whiteout, it is opaque.
func (t *tree) makeDir(dir string) (*Content, error) {
	at := t.at(dir)
	was, _, err := workspace.Lstat(at)
	if err != nil && abi.CodeOf(err) != abi.CodeChanged {
		return nil, err
	}
	spot, err := workspace.NewSpot(at, filepath.Dir(dir) == dir)
	if err != nil {
		return nil, err
	}
	info, _, err := workspace.Lstat(dir)
	if err != nil && abi.CodeOf(err) != abi.CodeChanged && abi.CodeOf(err) != abi.CodeNotRegular {
		return nil, errors.Join(err, spot.Discard())
	}
	var base *Content
	var mode uint32
	if info.Kind == abi.KindDirectory {
		mode = info.Mode & permission
		base = &Content{Kind: changes.Dir, Mode: mode}
	}
	err = spot.MakeDir(mode)
	if err == nil && was.Kind != "" {
		var made string
		if made, err = spot.Made(); err == nil {
			err = setOpaque(made)
		}
	}
	if err == nil {
		err = spot.Commit(was, nil)
	}
	if err = errors.Join(err, spot.Discard()); err == nil && base != nil {
		give(at, info)
	}
	return base, err
}

// permission is the mask of the mode bits that a Content records.
const permission = 0o777

// sweep removes the contents of a former tree, and the stage's other files. Unless fresh is set,
// it keeps contents that are not staged yet. It returns an error for what it cannot remove.
func (s *Store) sweep(gone string, fresh bool) error {
	inside, err := os.ReadDir(gone)
	errs := []error{err}
	for _, e := range inside {
		errs = append(errs, tempdir.RemoveAll(filepath.Join(gone, e.Name())))
	}
	errs = append(errs, tempdir.RemoveAll(filepath.Join(s.dir, workDir)))
	if fresh {
		errs = append(errs, tempdir.RemoveAll(filepath.Join(s.dir, newDir)))
	}
	former, err := filepath.Glob(filepath.Join(s.dir, "*"+contentEnd+"*"))
	errs = append(errs, err)
	for _, path := range former {
		if isName(strings.TrimSuffix(filepath.Base(path), leftEnd)) {
			errs = append(errs, tempdir.RemoveAll(path))
		}
	}
	return errors.Join(errs...)
}

// drop removes an applied change from the tree. If it cannot, the entry equals the disk, and so
// it is not a change.
func (s *Store) drop(root *os.Root, e *Entry) {
	if e.place == "" {
		at := s.tree.at(e.Path)
		info, err := os.Lstat(at)
		if err != nil || !isWhiteout(at, info) {
			return // it was part of a removed directory
		}
	}
	if root.Remove(within(e.Path)) == nil { // otherwise something in it is still staged
		s.prune(root, filepath.Dir(e.Path))
	}
}

// prune removes directories of the tree in which nothing is staged any more, upwards from dir. It
// keeps directories that a command made, or whose mode or replacement is staged.
func (s *Store) prune(root *os.Root, dir string) {
	for filepath.Dir(dir) != dir {
		n := s.index.notes[dir]
		info, err := os.Lstat(dir)
		there := err == nil && info.IsDir()
		if !there && n != nil && !n.began.IsZero() || there && (isOpaque(s.tree.at(dir)) || s.hasMode(dir, n, info)) {
			return // a command made or changed it
		}
		if root.Remove(within(dir)) != nil {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// hasMode reports whether the mode that a directory has in the tree is a staged change.
func (s *Store) hasMode(dir string, n *note, disk fs.FileInfo) bool {
	info, err := os.Lstat(s.tree.at(dir))
	if err != nil || info.Mode().Perm() == disk.Mode().Perm() {
		return false
	}
	return n == nil || !n.base.Is(changes.Dir) || n.base.Mode != uint32(info.Mode().Perm())
}

// within returns inTree without its leading separator.
func within(path string) string {
	return strings.TrimPrefix(inTree(path), string(filepath.Separator))
}
