package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// one is a change that is being applied.
type one struct {
	e      *Entry
	found  *changes.Found
	staged *changes.Found // nil if it is not a file
	to     *Content
	links  uint64            // the number of hard links it had
	put    *changes.Prepared // nil if there is nothing to do
	done   Applied
	over   bool // the change was made
}

// close closes the open files, and discards a prepared change that was not made.
func (o *one) close() (err error) {
	if o.put != nil && !o.over {
		err = o.put.Discard()
	}
	for _, f := range []*changes.Found{o.found, o.staged} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// some makes one batch of changes, in order. If one fails, those before it were made.
func (a *applying) some(ctx context.Context, entries []*Entry) (err error) {
	var list []*one
	defer func() {
		for _, o := range list {
			err = errors.Join(err, o.close())
		}
	}()
	var later workspace.Later
	var failed error
	for _, e := range entries {
		o := &one{e: e, done: Applied{Path: e.Path}}
		list = append(list, o)
		if failed = context.Cause(ctx); failed == nil {
			failed = a.prepare(ctx, o, &later)
		}
		if failed != nil {
			failed = fmt.Errorf("applying %s: %w", e.Path, failed)
			break
		}
	}
	ready := list
	if failed != nil {
		ready = list[:len(list)-1]
	}
	err = a.commit(ctx, ready)
	synced := later.Sync()
	for _, o := range list {
		if !o.over {
			continue
		}
		if synced == nil {
			a.over = append(a.over, o.e)
		}
		if !o.e.implied {
			a.done = append(a.done, o.done)
		}
	}
	if synced != nil {
		synced = fmt.Errorf("what was applied may be lost in a power failure, and is still staged: %w", synced)
	}
	return errors.Join(err, synced, failed)
}

// prepare checks a path again, and prepares its change.
func (a *applying) prepare(ctx context.Context, o *one, later *workspace.Later) (err error) {
	e := o.e
	o.found, err = changes.Find(e.Path)
	if e.Content == nil && abi.CodeOf(err) == abi.CodeNotDirectory {
		o.found, err = &changes.Found{Path: e.Path}, nil // its directory is gone
	}
	if err != nil {
		return err
	}
	if err := a.recheck(ctx, e, o.found); err != nil {
		return abi.Errorf(abi.CodeChanged, "%w", err)
	}
	o.links = o.found.Info.Links
	if o.found.Info.Links > 1 && o.found.File != nil && o.found.Node.Hash == "" { // the method again needs it
		held, err := o.found.Hash(ctx)
		if err != nil {
			return err
		}
		o.found.Node.Hash, e.now.Hash = held.Hash, held.Hash
	}
	o.to = e.after()
	if o.found.Node.Equal(o.to) {
		o.done.Same = true
		return nil
	}
	o.done.Created, o.done.Removed, o.done.Call = o.found.Node == nil, o.to == nil, a.call.ID
	var content io.Reader
	if o.to.Is(changes.File) {
		if content, err = o.open(); err != nil {
			return err
		}
	}
	o.put, err = o.found.Prepare(ctx, a.closing.Open(e.Path, o.to), content, later)
	return err
}

// recheck reuses the hash of an earlier check if the file has not changed since. Otherwise it
// checks the path again.
func (a *applying) recheck(ctx context.Context, e *Entry, found *changes.Found) error {
	if found.Node == nil && e.now == nil {
		return nil
	}
	if found.Node != nil && e.now != nil && stampOf(found.Info) == e.stamp {
		found.Node.Hash = e.now.Hash
		return nil
	}
	if found.File != nil {
		held, err := found.Hash(ctx)
		if err != nil {
			return err
		}
		found.Node.Hash, found.Node.Size = held.Hash, held.Size
	}
	e.now, e.stamp = found.Node, stampOf(found.Info)
	return e.unchanged(ctx)
}

// commit makes the prepared changes, after the history has kept the former files.
func (a *applying) commit(ctx context.Context, list []*one) error {
	var puts []*changes.Prepared
	for _, o := range list {
		if o.put != nil {
			puts = append(puts, o.put)
		}
	}
	err := changes.SyncAll(puts)
	if err == nil {
		err = a.keep(ctx, list)
	}
	if err != nil {
		return fmt.Errorf("applying %s: %w", a.first(list), err)
	}
	for i, o := range list {
		if o.put != nil {
			if err = a.again(ctx, o); err == nil {
				err = o.put.Commit(ctx)
			}
		}
		if o.over = err == nil || errors.Is(err, workspace.ErrUncertain); !o.over {
			return errors.Join(fmt.Errorf("applying %s: %w", o.e.Path, err), a.void(list[i:]))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("applying %s: %w", o.e.Path, err), a.void(list[i+1:]))
		}
		a.store.moment("applied")
	}
	return nil
}

// again checks a path again if it changed since prepare. Earlier changes of the batch can cause
// that: the path is a directory and something in it was applied, or it is a hard link of a file
// that was applied.
func (a *applying) again(ctx context.Context, o *one) error {
	info, _, err := workspace.Lstat(o.e.Path)
	if err == nil && stampOf(info) != stampOf(o.found.Info) {
		if err := o.found.Close(); err != nil {
			return err
		}
		if o.found, err = changes.Find(o.e.Path); err != nil {
			o.found = nil
			return err
		}
		o.put.Again(o.found)
		if e := o.e; o.found.File != nil && o.found.Info.Links < o.links && e.now.Is(changes.File) {
			held, err := o.found.Hash(ctx)
			if err != nil {
				return err
			}
			if held.Equal(e.now) { // only the number of its hard links changed
				o.found.Node.Hash, o.found.Node.Size, e.stamp = held.Hash, held.Size, stampOf(o.found.Info)
				return nil
			}
		}
		if err := a.recheck(ctx, o.e, o.found); err != nil {
			return abi.Errorf(abi.CodeChanged, "%w", err)
		}
	}
	return err
}

// first describes a batch of changes by the first of them.
func (a *applying) first(list []*one) string {
	if len(list) > 1 {
		return fmt.Sprintf("%s and %d more", list[0].e.Path, len(list)-1)
	}
	return list[0].e.Path
}

// void removes the history's records of changes that were not made.
func (a *applying) void(list []*one) (err error) {
	for _, o := range list {
		if o.done.History != "" {
			err = errors.Join(err, a.store.options.History.Void(o.done.History))
		}
	}
	return err
}

// Tool is the name of the tool in the history's records of applied changes.
const Tool = "stage apply"

// keep makes the history keep the former files before they change.
func (a *applying) keep(ctx context.Context, list []*one) error {
	h := a.store.options.History
	if h == nil {
		return nil
	}
	var kept []*one
	var what []changes.Change
	var before []io.Reader
	for _, o := range list {
		if o.put == nil || o.e.aside || !utf8.ValidString(o.e.Path) {
			continue // it is kept already, or the history cannot represent the path
		}
		kept = append(kept, o)
		what = append(what, changes.Change{Path: o.e.Path, Before: o.found.Node, After: o.to})
		var was io.Reader
		if o.found.File != nil {
			was = o.found.Reader()
		}
		before = append(before, was)
	}
	ids, err := h.KeepAll(ctx, a.call, what, before)
	for i, id := range ids {
		kept[i].done.History = id
	}
	return err
}

// source is the staged content of a file.
type source struct {
	io.Reader
	*one
}

// open opens the staged content, and notes which parts of it cannot be applied.
func (o *one) open() (changes.Source, error) {
	var err error
	if o.staged, err = changes.Find(o.e.place); err != nil {
		return nil, err
	}
	if err := o.same(); err != nil {
		return nil, err
	}
	if !utf8.ValidString(o.e.Path) {
		o.done.Notes = append(o.done.Notes, "its former content is not in the history, because its path is not UTF-8")
	}
	const set = 0o6000 // the set-user-ID and set-group-ID bits
	if o.staged.Info.Mode&set != 0 {
		o.done.Notes = append(o.done.Notes, "its set-uid or set-gid bit was not applied")
	}
	if o.e.names > 1 {
		o.done.Notes = append(o.done.Notes, fmt.Sprintf("it has %d names (hard links), which were applied as separate files", o.e.names))
	}
	return source{o.staged.Reader(), o}, nil
}

// same fails if the staged content has changed since it was listed.
func (o *one) same() error {
	if o.staged.File != nil {
		info, err := o.staged.File.Stat()
		if err != nil {
			return err
		}
		if version(info) == o.e.version {
			return nil
		}
	}
	return errors.New("its staged content changed while it was applied; try again")
}

// Sparse implements [changes.Source].
func (s source) Sparse() bool {
	info, err := s.staged.File.Stat()
	return err == nil && isSparse(info)
}

// Finish implements [changes.Source].
func (s source) Finish(fd uintptr) error {
	for _, name := range keepAttributes(s.staged.File.Fd(), fd) {
		s.done.Notes = append(s.done.Notes, fmt.Sprintf("its extended attribute %s could not be applied", name))
	}
	return s.same()
}
