package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// Applied is a path that got what was staged for it.
type Applied struct {
	Path string `json:"path"`
	// Created says that there was nothing, Removed that there is nothing any more, and Same
	// that the disk had just this already.
	Created bool `json:"created,omitempty"`
	Removed bool `json:"removed,omitempty"`
	Same    bool `json:"same,omitempty"`
	// History is the history's record of the former file, and Call what all records of
	// one applying have in common: it is undone by either.
	History string `json:"history,omitempty"`
	Call    string `json:"call,omitempty"`
	// Notes say what of it could not be applied.
	Notes []string `json:"notes,omitempty"`
}

// Conflict is why a change cannot be applied.
type Conflict = changes.Conflict

// ConflictError is that changes cannot be applied. None was.
type ConflictError = changes.ConflictError

// Apply does what is staged of a selection to the disk, and forgets that it was staged.
// All of it is looked at before the first is done: where something is not what it was when
// it was first staged, the error is a *[ConflictError]. It returns what was done also with
// an error, which then came in the middle; the rest is staged still.
//
// Nobody stages or discards anything meanwhile, and no command runs over it.
func (s *Store) Apply(ctx context.Context, sel Selection) ([]Applied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty() {
		return nil, ErrNothing
	}
	a := &applying{store: s, sel: sel, call: newCall()}
	err := s.alone(ctx, func() error { return a.run(ctx) })
	return a.done, err
}

// applying is one use of [Store.Apply]. The store is locked.
type applying struct {
	store *Store
	sel   Selection
	call  string // what the history has all its writes under
	done  []Applied
	over  []*Entry // what is done
}

func (a *applying) run(ctx context.Context) error {
	s := a.store
	if err := s.renew(); err != nil {
		return err
	}
	w, err := s.walk(ctx, a.sel)
	if err != nil {
		return err
	}
	if len(w.out) == 0 {
		if len(a.sel.Paths) == 0 { // what is in the tree did not change after all
			return errors.Join(ErrNothing, s.reset())
		}
		return ErrNothing
	}
	if err := check(ctx, w.out, a.sel); err != nil {
		return err
	}
	if err := a.announce(w.out); err != nil {
		return err
	}
	s.moment("announced")
	err = a.all(ctx, w)
	return errors.Join(err, a.finish(err == nil))
}

// check looks at all changes.
func check(ctx context.Context, list []Entry, sel Selection) error {
	var conflicts []Conflict
	for i := range list {
		e := &list[i]
		err := e.unchanged(ctx)
		if e.whole != "" && !sel.has(e.whole) {
			err = fmt.Errorf("%s was removed or replaced as a whole, and this with it; name that", e.whole)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && !e.now.Same(e.Content) {
			err = writable(e)
		}
		if err != nil {
			conflicts = append(conflicts, Conflict{Path: e.Path, Why: err.Error()})
		}
	}
	if len(conflicts) > 0 {
		return &ConflictError{Undone: "applied", Conflicts: conflicts}
	}
	return nil
}

// writable tells why a path cannot be written, as far as that shows before: it leads over
// a link by now, or below a file.
func writable(e *Entry) error {
	found, err := changes.Find(e.Path)
	if err != nil {
		if e.Content == nil && abi.CodeOf(err) == abi.CodeNotDirectory {
			return nil // what it lay in is gone
		}
		return err
	}
	return found.Close()
}

// announce notes what is about to be done: applying again after a kill knows what this one
// made of a path.
func (a *applying) announce(list []Entry) error {
	lines := make([]line, 0, len(list))
	for i := range list {
		e := &list[i]
		if !e.now.Same(e.Content) {
			lines = append(lines, line{Kind: kindApplying, Path: changes.Name(e.Path), Content: e.Content, Base: e.note.base, Stamp: e.note.stamp})
		}
	}
	return a.store.index.add(lines...)
}

// all does the changes, in their order.
func (a *applying) all(ctx context.Context, w *walk) error {
	list, early := order(w.out)
	for i, e := range list {
		if i == early {
			if err := a.open(w.opaque); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		done, written, err := a.apply(ctx, e)
		if written {
			a.over = append(a.over, e)
			if !e.implied {
				a.done = append(a.done, done)
			}
		}
		if err != nil {
			return fmt.Errorf("applying %s: %w", e.Path, err)
		}
		a.store.moment("applied")
	}
	if early == len(list) {
		return a.open(w.opaque)
	}
	return nil
}

// open has what the disk has be seen in directories that were replaced, once what it had
// there is removed: what is applied in them, and no longer in the tree, would else be
// hidden.
func (a *applying) open(dirs []string) error {
	for _, dir := range dirs {
		if err := clearOpaque(a.store.tree.at(dir)); err != nil {
			return fmt.Errorf("unfolding %s: %w", dir, err)
		}
	}
	return nil
}

// order puts changes in the order to do them in: directories before what lies in them, and
// what is removed last, from below. What lies on the disk in a directory that is replaced
// goes first; so many are returned too.
func order(list []Entry) (ordered []*Entry, early int) {
	removed := make(map[string]bool)
	for i := range list {
		removed[list[i].Path] = list[i].Content == nil
	}
	for i := range list {
		e := &list[i]
		ordered = append(ordered, e)
		if e.early = e.Content == nil && e.whole != "" && !removed[e.whole]; e.early {
			early++
		}
	}
	changes.Order(ordered, func(e *Entry) (path string, gone, first bool) { return e.Path, e.Content == nil, e.early })
	return ordered, early
}

// apply does one change. It reports whether the path is what is staged now, which may be so
// with an error too.
func (a *applying) apply(ctx context.Context, e *Entry) (done Applied, written bool, err error) {
	done.Path = e.Path
	found, err := changes.Find(e.Path)
	if e.Content == nil && abi.CodeOf(err) == abi.CodeNotDirectory {
		done.Same = true
		return done, true, nil // what it lay in is gone
	}
	if err != nil {
		return done, false, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if err := a.recheck(ctx, e, found); err != nil {
		return done, false, abi.Errorf(abi.CodeChanged, "%w", err)
	}
	to := e.after()
	done.Created, done.Removed = found.Node == nil, to == nil
	if found.Node.Equal(to) {
		done.Created, done.Removed, done.Same = false, false, true
		return done, true, nil
	}
	done.Call = a.call
	done.Notes, done.History, err = a.put(ctx, e, found, to)
	return done, err == nil || errors.Is(err, workspace.ErrUncertain), err
}

// recheck completes what was found by what is known of it since it was checked, or checks
// again.
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

// put does what is staged, of which the history keeps what was there. It returns the
// history's record also with an error after which it may be done.
func (a *applying) put(ctx context.Context, e *Entry, found *changes.Found, to *Content) (notes []string, id string, err error) {
	var content io.Reader
	if to.Is(changes.File) {
		staged, err := changes.Find(e.place)
		if err != nil {
			return nil, "", err
		}
		defer func() { _ = staged.Close() }() // it was read
		if staged.File == nil {
			return nil, "", errors.New("what is staged for it is no file any more")
		}
		content = &exact{from: staged.Reader(), want: to.Hash}
		defer func() {
			if err == nil {
				notes = e.rest(staged)
			}
		}()
	}
	err = found.Put(ctx, to, content, func() (err error) {
		id, err = a.keep(ctx, e, found, to)
		return err
	})
	if err != nil && id != "" && !errors.Is(err, workspace.ErrUncertain) {
		err = errors.Join(err, a.store.options.History.Void(id))
		id = ""
	}
	return nil, id, err
}

// rest does what a write does not, and tells what cannot be done.
func (e *Entry) rest(staged *changes.Found) (notes []string) {
	if !utf8.ValidString(e.Path) {
		notes = append(notes, "what it was is not in the history, as its path is no UTF-8")
	}
	const set = 0o6000 // set-uid and set-gid
	if staged.Info.Mode&set != 0 {
		notes = append(notes, "its set-uid or set-gid bit was left out")
	}
	if e.names > 1 {
		notes = append(notes, fmt.Sprintf("it has %d names, which became files of their own", e.names))
	}
	written, err := changes.Find(e.Path)
	if err != nil || written.File == nil {
		return notes
	}
	defer func() { _ = written.Close() }() // its content was not written
	for _, name := range keepAttributes(staged.File, written.File) {
		notes = append(notes, fmt.Sprintf("its attribute %s could not be kept", name))
	}
	return notes
}

// exact fails at the end of what is not what it was when it was looked at.
type exact struct {
	from io.Reader
	want string
	sum  interface {
		io.Writer
		Sum(b []byte) []byte
	}
}

func (x *exact) Read(p []byte) (int, error) {
	if x.sum == nil {
		x.sum = sha256.New()
	}
	n, err := x.from.Read(p)
	_, _ = x.sum.Write(p[:n]) // it never fails
	if errors.Is(err, io.EOF) && hex.EncodeToString(x.sum.Sum(nil)) != x.want {
		err = errors.New("what is staged for it changes while it is applied; try again")
	}
	return n, err
}

// keeper is a history that keeps changes of every kind.
type keeper interface {
	KeepChange(ctx context.Context, by capability.Call, c changes.Change, before io.Reader) (id string, err error)
}

// Tool is the name of a tool that a history has for what was applied.
const Tool = "stage apply"

// keep has the history keep what a path is before the change.
func (a *applying) keep(ctx context.Context, e *Entry, found *changes.Found, to *Content) (string, error) {
	h := a.store.options.History
	if h == nil || !utf8.ValidString(e.Path) { // that the history has no words for
		return "", nil
	}
	by := capability.Call{ID: a.call, Tool: Tool}
	var before io.Reader
	if found.File != nil {
		before = found.Reader()
	}
	if k, ok := h.(keeper); ok {
		return k.KeepChange(ctx, by, changes.Change{Path: e.Path, Before: found.Node, After: to}, before)
	}
	if !to.Is(changes.File) || found.Node != nil && before == nil {
		return "", nil // it keeps files
	}
	w := capability.Write{Call: by, Path: e.Path, AfterSize: to.Size}
	sum, err := hex.DecodeString(to.Hash)
	if err != nil {
		return "", err
	}
	copy(w.AfterHash[:], sum)
	if before != nil {
		w.Before, w.BeforeSize, w.Mode = before, found.Node.Size, found.Node.Mode
	}
	return h.Keep(ctx, w)
}

// finish forgets what is done: all of it at once where that is all that was staged.
func (a *applying) finish(whole bool) error {
	s := a.store
	if whole && len(a.sel.Paths) == 0 {
		return noted(s.reset())
	}
	if len(a.over) == 0 {
		return nil
	}
	lines := make([]line, 0, len(a.over))
	for _, e := range a.over {
		lines = append(lines, line{Kind: kindForget, Path: changes.Name(e.Path)})
	}
	if err := s.index.add(lines...); err != nil {
		return noted(err)
	}
	s.moment("forgotten")
	root, err := os.OpenRoot(s.tree.dir)
	if err != nil {
		return noted(err)
	}
	defer func() { _ = root.Close() }()         // nothing was written through it
	for _, e := range slices.Backward(a.over) { // files before the directories that they lie in
		s.drop(root, e)
	}
	return nil
}

// noted adds to a failure to note what was done.
func noted(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("what was written cannot be noted, so that it is staged still; apply it again: %w", err)
}
