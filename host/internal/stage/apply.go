package stage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/ondisk"
)

// Applied is a file that got what was staged for it.
type Applied struct {
	Path string `json:"path"`
	// Created says that there was no file, and Same that it had just this content
	// already.
	Created bool `json:"created,omitempty"`
	Same    bool `json:"same,omitempty"`
	// History is the history's record of the former file, and Call what all records of
	// one applying have in common: it is undone by either.
	History string `json:"history,omitempty"`
	Call    string `json:"call,omitempty"`
}

// Conflict is why a file cannot be applied.
type Conflict struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// ConflictError is that files cannot be applied. None was.
type ConflictError struct{ Conflicts []Conflict }

// Error names the first; the others are for who asks.
func (e *ConflictError) Error() string {
	first := e.Conflicts[0]
	if n := len(e.Conflicts) - 1; n > 0 {
		return fmt.Sprintf("nothing was applied: %s: %s; and %d more", first.Path, first.Why, n)
	}
	return fmt.Sprintf("nothing was applied: %s: %s", first.Path, first.Why)
}

// Apply writes what is staged of a selection to the disk, and forgets that it was
// staged. All files are looked at before the first is written: where one is not what
// it was when it was first staged, the error is a *[ConflictError]. It returns what was
// done also with an error, which then came in the middle; the rest is staged still.
//
// Nobody stages or discards anything meanwhile.
func (s *Store) Apply(ctx context.Context, sel Selection) ([]Applied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty() {
		return nil, ErrNothing
	}
	var done []Applied
	err := s.locked(ctx, func() error {
		if err := s.index.refresh(s.contents.dir); err != nil {
			return err
		}
		list := s.index.list(sel)
		if len(list) == 0 {
			return ErrNothing
		}
		if err := check(ctx, &s.contents, list); err != nil {
			return err
		}
		a := applying{store: s, call: "apply-" + rand.Text()[:8]}
		for i := range list {
			one, written, err := a.apply(ctx, &list[i])
			if written {
				done = append(done, one)
			}
			if err != nil {
				return fmt.Errorf("applying %s: %w", list[i].Path, err)
			}
		}
		return nil
	})
	return done, err
}

// check looks at all files.
func check(ctx context.Context, staged *contents, list []Entry) error {
	var conflicts []Conflict
	for i := range list {
		e := &list[i]
		err := staged.copyTo(ctx, io.Discard, e)
		if err == nil {
			err = e.fits(ctx)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			conflicts = append(conflicts, Conflict{e.Path, err.Error()})
		}
	}
	if len(conflicts) > 0 {
		return &ConflictError{conflicts}
	}
	return nil
}

// fits tells why the file on the disk cannot get what is staged, or is nil.
func (e *Entry) fits(ctx context.Context) error {
	d, err := ondisk.Look(ctx, e.Path)
	if err != nil {
		return err
	}
	if err = e.unchanged(d.Content); err == nil && !d.Content.Same(&e.Content) {
		err = d.Node.Stageable()
	}
	return errors.Join(err, d.Close())
}

// unchanged tells how the file is not what it was when it was first staged, or is nil.
// One that has the staged content already is as good, and so is one that has what was
// staged earlier: an applying that did not come to its end wrote it.
func (e *Entry) unchanged(now *Content) error {
	switch {
	case now.Same(e.Base) || now.Same(&e.Content):
		return nil
	case now == nil:
		return errors.New("it was removed since it was staged")
	case slices.Contains(e.past, now.Hash):
		return nil
	case e.Base == nil:
		return errors.New("it was made by something else since it was staged")
	}
	return errors.New("it was changed by something else since it was staged")
}

// applying is one use of [Store.Apply]. The store is locked.
type applying struct {
	store *Store
	call  string // what the history has all its writes under
}

// apply writes one file. It reports whether the file has its content now, which may be so
// with an error too.
func (a *applying) apply(ctx context.Context, e *Entry) (done Applied, written bool, err error) {
	done.Path = e.Path
	d, err := ondisk.Look(ctx, e.Path)
	if err != nil {
		return done, false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := e.unchanged(d.Content); err != nil {
		return done, false, err
	}
	done.Created, done.Same = d.Content == nil, d.Content.Same(&e.Content)
	if !done.Same {
		done.Call = a.call
		done.History, err = a.write(ctx, d, e)
		if err != nil {
			return done, errors.Is(err, workspace.ErrUncertain), err
		}
	}
	if err := a.store.index.append(a.store.contents.dir, &line{Kind: kindApply, Time: time.Now().UTC(), Path: e.Path, Call: a.call}); err != nil {
		return done, true, fmt.Errorf("it was written, and that cannot be noted, so that it is staged still; apply it again: %w", err)
	}
	a.store.contents.remove(e.name)
	return done, true, nil
}

// write puts the staged content in place of the file, whose former content the history
// keeps. It returns the history's record also with an error after which the content may
// be in place.
func (a *applying) write(ctx context.Context, d *ondisk.File, e *Entry) (id string, err error) {
	draft, err := d.Node.Draft()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, draft.Discard()) }()
	if err := a.store.contents.copyTo(ctx, draft, e); err != nil {
		return "", err
	}
	if a.store.options.History == nil {
		_, err = draft.Commit(d.Info)
		return "", err
	}
	if id, err = a.store.options.History.Keep(ctx, kept(d, e, a.call)); err != nil {
		return "", err
	}
	_, err = draft.Commit(d.Info)
	if err != nil && !errors.Is(err, workspace.ErrUncertain) {
		return "", errors.Join(err, a.store.options.History.Void(id))
	}
	return id, err
}

// Tool is the name of a tool that a history has for what was applied.
const Tool = "stage apply"

// kept is the write as the history keeps it.
func kept(d *ondisk.File, e *Entry, call string) capability.Write {
	w := capability.Write{Call: capability.Call{ID: call, Tool: Tool}, Path: e.Path, AfterSize: e.Content.Size}
	sum, _ := hex.DecodeString(e.Content.Hash) // it was checked when it was read
	copy(w.AfterHash[:], sum[:min(len(sum), sha256.Size)])
	if d.Content != nil {
		w.Before, w.BeforeSize, w.Mode = d.Reader(), d.Content.Size, d.Content.Mode
	}
	return w
}
