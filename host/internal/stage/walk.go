package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// walk finds the differences between the tree and the disk. A file that was copied into the tree
// and did not change is not a change, unless a tool wrote it.
type walk struct {
	ctx   context.Context //nolint:containedctx // it is for one walk
	store *Store
	sel   Selection
	out   []Entry
	// opaque has the paths of opaque directories.
	opaque []string
}

// entries returns all changes of a selection, by path, with the new directories above them. The
// mutex of the store is held, and the log was read.
func (s *Store) entries(ctx context.Context, sel Selection) ([]Entry, error) {
	w, err := s.walk(ctx, sel)
	if err != nil {
		return nil, err
	}
	return w.out, nil
}

func (s *Store) walk(ctx context.Context, sel Selection) (*walk, error) {
	tops, err := s.tree.top()
	if err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, store: s, sel: sel}
	for _, top := range tops {
		if err := w.dir(top, true, ""); err != nil {
			return nil, fmt.Errorf("looking through what is staged: %w", err)
		}
	}
	w.imply()
	return w, nil
}

// spoken leaves out new directories that contain other changes.
func spoken(list []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(list), func(e Entry) bool { return e.implied })
}

// dir walks a directory of the tree. Seen means that the directory shows what the disk has in it.
// Whole is the replaced directory that contains it; empty for none.
func (w *walk) dir(dir string, seen bool, whole string) error {
	list, err := w.store.tree.children(dir)
	if err != nil {
		return err
	}
	for i := range list {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if !w.sel.leadsTo(list[i].Path) {
			continue
		}
		if err := w.entry(&list[i], whole); err != nil {
			return err
		}
	}
	if !seen {
		return w.hidden(dir, list, whole)
	}
	return nil
}

// entry handles one entry of the tree.
func (w *walk) entry(s *capability.Staged, whole string) error {
	e := Entry{Path: s.Path, place: s.Place, version: s.Version, whole: whole, Time: s.Time, note: w.store.index.notes[s.Path]}
	if err := w.look(&e); err != nil {
		return err
	}
	if s.Removed() {
		return w.removed(e, s.Path)
	}
	if err := w.staged(&e, s); err != nil {
		return err
	}
	if e.Content == nil { // it is gone
		return nil
	}
	if s.Kind != abi.KindDirectory {
		if e.now.Is(changes.Dir) { // a file or link in place of a directory
			if err := w.below(s.Path, s.Path, nil); err != nil {
				return err
			}
		}
		w.add(e)
		return nil
	}
	merged := e.now.Is(changes.Dir)
	if !merged || w.moded(&e) {
		w.add(e)
	}
	inner := whole
	if s.Opaque {
		w.opaque = append(w.opaque, s.Path)
	}
	if merged && s.Opaque {
		inner = cmp.Or(whole, s.Path)
	}
	return w.inside(&e, !merged || !s.Opaque, inner)
}

// inside walks an entry that is a directory. A directory that cannot be read is a change that
// cannot be applied.
func (w *walk) inside(e *Entry, seen bool, whole string) error {
	at := len(w.out) - 1
	err := w.dir(e.Path, seen, whole)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if at < 0 || w.out[at].Path != e.Path {
		w.out = append(w.out, *e)
		at = len(w.out) - 1
	}
	w.out[at].fault = err
	return nil
}

// look adds what is on the disk, and what the log says. If a directory above does not exist, the
// disk has nothing.
func (w *walk) look(e *Entry) error {
	l, err := w.store.base(e.Path, w.store.index.last)
	if err != nil {
		return err
	}
	e.now, e.stamp = l.Base, l.Stamp
	if e.note == nil { // a command made it, and no scan followed
		e.note = &note{base: l.Base, stamp: l.Stamp, changed: l.Changed, began: l.Began, time: e.Time}
	}
	e.Base, e.Calls, e.Tool = e.note.base, e.note.calls, e.note.by
	if !e.note.time.IsZero() {
		e.Time = e.note.time
	}
	return nil
}

// staged adds what is in the tree. Content stays nil if it is gone.
func (w *walk) staged(e *Entry, s *capability.Staged) error {
	info, err := os.Lstat(s.Place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	e.names = names(info)
	mode := uint32(info.Mode().Perm())
	switch s.Kind {
	case abi.KindDirectory:
		e.Content = &Content{Kind: changes.Dir, Mode: mode}
		e.same = e.now.Is(changes.Dir)
	case abi.KindSymlink:
		e.Content = &Content{Kind: changes.Link, Target: changes.Name(s.Target)}
		e.same = e.now.Same(e.Content)
	case abi.KindFile:
		return w.file(e, mode, info.Size())
	default:
		e.Content = &Content{Kind: changes.Other, What: what(info)}
	}
	return nil
}

// file adds the content of a file of the tree, and whether the disk has the same content.
func (w *walk) file(e *Entry, mode uint32, size int64) error {
	found, err := changes.Look(w.ctx, e.place)
	if errors.Is(err, fs.ErrPermission) {
		e.Content, e.fault = &Content{Mode: mode, Size: size}, err
		return nil
	}
	if err != nil {
		return err
	}
	e.Content = found.Node
	if err := found.Close(); err != nil {
		return err
	}
	if !e.Content.Is(changes.File) {
		return fmt.Errorf("%s changed while it was read; try again", e.Path)
	}
	if !e.now.Is(changes.File) || e.now.Size != e.Content.Size {
		return nil
	}
	held, err := changes.Look(w.ctx, e.Path)
	if err != nil {
		return nil //nolint:nilerr // applying reports it
	}
	if held.Node.Is(changes.File) {
		e.now.Hash, e.now.Size = held.Node.Hash, held.Node.Size
		e.stamp = stampOf(held.Info)
	}
	e.same = e.now.Same(e.Content) && e.now.Mode == e.Content.Mode
	return held.Close()
}

// what describes a special file in words.
func what(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO (named pipe)"
	}
	return "a device"
}

// moded reports whether the stage changes the mode of a directory that the disk has.
func (w *walk) moded(e *Entry) bool {
	base := e.note.base
	if base == nil && len(e.note.applying) > 0 { // an interrupted apply made it
		return e.now.Mode != e.Content.Mode
	}
	return base.Is(changes.Dir) && base.Mode != 0 && base.Mode != e.Content.Mode && e.now.Mode != e.Content.Mode
}

// add adds a change. An entry that equals the disk is left out, unless a tool wrote it.
func (w *walk) add(e Entry) {
	if e.same && !e.note.tool && !e.Content.Is(changes.Dir) || !w.sel.leadsTo(e.Path) {
		return
	}
	if !w.sel.has(e.Path) && (!e.Content.Is(changes.Dir) || e.now.Is(changes.Dir)) {
		return // it contains a selected path, and needs no new directory
	}
	w.out = append(w.out, e)
}

// removed adds a removed path and all that the disk has below it. It adds nothing if the disk has
// nothing there.
func (w *walk) removed(e Entry, whole string) error {
	if e.now == nil {
		return nil
	}
	inDir := e.now.Is(changes.Dir)
	if inDir {
		e.whole = cmp.Or(e.whole, whole)
	}
	if w.sel.has(e.Path) {
		w.out = append(w.out, e)
	}
	if !inDir {
		return nil
	}
	return w.below(e.Path, cmp.Or(e.whole, whole), nil)
}

// hidden adds, as removed, what the disk has in a replaced directory and the tree does not.
func (w *walk) hidden(dir string, list []capability.Staged, whole string) error {
	if whole == "" {
		return nil // the disk has no directory there
	}
	kept := make(map[string]bool, len(list))
	for i := range list {
		kept[filepath.Base(list[i].Path)] = true
	}
	return w.below(dir, whole, kept)
}

// below adds, as removed with whole, what the disk has in a directory, except the names in kept.
func (w *walk) below(dir, whole string, kept map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	top := w.store.index.notes[whole]
	for _, one := range entries {
		path := filepath.Join(dir, one.Name())
		if kept[one.Name()] || !w.sel.leadsTo(path) {
			continue
		}
		e := Entry{Path: path, whole: whole}
		if e.note = w.store.index.notes[path]; e.note == nil {
			e.note = &note{began: w.store.index.last} // the default, if no command is known
			if top != nil {
				e.note = &note{began: cmp.Or(top.began, w.store.index.last), by: top.by, calls: top.calls, time: top.time}
			}
			l, err := w.store.base(path, e.note.began)
			if err != nil {
				return err
			}
			e.note.base, e.note.stamp, e.note.changed = l.Base, l.Stamp, l.Changed
		}
		if err := w.look(&e); err != nil {
			return err
		}
		if e.aside = w.aside(path, e.stamp); e.aside {
			e.note.changed = false
		}
		if err := w.removed(e, whole); err != nil {
			return err
		}
	}
	return nil
}

// aside reports whether an apply that was killed had renamed the file to path, in order to remove
// it. Only its change time has changed since then.
func (w *walk) aside(path, stamp string) bool {
	dir, name := filepath.Split(path)
	n := w.store.index.notes[dir+workspace.TemporaryFor(name)]
	return n != nil && len(n.applying) > 0 && unrenamed(n.stamp) == unrenamed(stamp)
}

// imply marks new directories that contain other changes as implied. It drops directories that
// are outside of the selection and contain no selected change.
func (w *walk) imply() {
	slices.SortFunc(w.out, func(a, b Entry) int { return changes.ComparePaths(a.Path, b.Path) })
	var kept []Entry // in reverse order
	for i := range slices.Backward(w.out) {
		e := w.out[i]
		leads := len(kept) > 0 && changes.Below(kept[len(kept)-1].Path, e.Path)
		if !leads && !w.sel.has(e.Path) {
			continue
		}
		e.implied = e.aside || leads && e.fault == nil && e.Content.Is(changes.Dir) && (e.now == nil || !w.sel.has(e.Path))
		kept = append(kept, e)
	}
	slices.Reverse(kept)
	w.out = kept
}
