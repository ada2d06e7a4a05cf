package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// RestoreOptions say how to restore.
type RestoreOptions struct {
	// Force restores files that were changed since too; what they are is kept first.
	Force bool
	// DryRun finds out what would be done, and does nothing.
	DryRun bool
}

// Restored is a file that got back what it was.
type Restored struct {
	Path string `json:"path"`
	// To is what it is now; nil is that it was removed.
	To *Content `json:"to,omitempty"`
	// ID is the record of the restoring, and Call what all of one restoring have in
	// common: it is undone by either.
	ID   string `json:"id,omitempty"`
	Call string `json:"call,omitempty"`
	// Same says that there was nothing to do.
	Same bool `json:"same,omitempty"`
}

// Conflict is why a file cannot be restored: Forceable says that [RestoreOptions.Force]
// would do it all the same.
type Conflict = changes.Conflict

// ConflictError is that files cannot be restored. None was.
type ConflictError = changes.ConflictError

// ErrNothing is that a selection is of no write.
var ErrNothing = errors.New("the history holds no such write")

// Restore gives files back what they were before the writes of a selection. All of
// them are looked at before the first is written: where one was changed since, the
// error is a *[ConflictError]. Each restoring is recorded, and so can be undone. It
// returns what was done also with an error, which then came in the middle.
//
// Links are not followed, files are replaced at once, and get their former
// permission bits back, but for set-uid and the like. A file that was not there
// before is removed; directories that were made for it stay. A file that holds what
// it held is left as it is, its permission bits too: they were changed by no write.
func (s *Store) Restore(ctx context.Context, sel Selection, o RestoreOptions) ([]Restored, error) {
	chains, err := s.chains(ctx, sel)
	if err != nil {
		return nil, err
	}
	spans, err := restorable(ctx, chains, sel, o.Force)
	if err != nil {
		return nil, err
	}
	s.pin(spans, 1)
	defer s.pin(spans, -1)
	out := make([]Restored, 0, len(spans))
	run := restoring{history: s, of: sel.String()}
	for _, span := range spans {
		r := Restored{Path: span.path, To: span.before, Same: span.now.Same(span.before)}
		if !r.Same && !o.DryRun {
			r.ID, err = run.restore(ctx, span)
		}
		if r.ID != "" {
			run.call = cmp.Or(run.call, callOf(r.ID))
			r.Call = run.call
		}
		if err == nil || r.ID != "" {
			out = append(out, r)
		}
		if err != nil {
			return out, fmt.Errorf("restoring %s: %w", span.path, err)
		}
	}
	return out, nil
}

// pin changes by how many restorings the contents of spans are needed. Those are not
// removed: keeping what the first files of a restoring are could otherwise remove what
// the others were.
func (s *Store) pin(spans []*span, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pinned := s.contents.pinned
	for _, p := range spans {
		if p.before == nil {
			continue
		}
		if pinned[p.before.Hash] += by; pinned[p.before.Hash] == 0 {
			delete(pinned, p.before.Hash)
		}
	}
}

// restorable looks at all files of a selection. Conflicts are an error.
func restorable(ctx context.Context, chains []*chain, sel Selection, force bool) ([]*span, error) {
	if len(chains) == 0 {
		return nil, ErrNothing
	}
	var spans []*span
	var conflicts []Conflict
	for _, c := range chains {
		span := c.spanOf(sel)
		if span == nil {
			continue // none of it was done
		}
		spans = append(spans, span)
		if c := span.conflict(ctx); c != nil && (!force || !c.Forceable) {
			conflicts = append(conflicts, *c)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if len(conflicts) > 0 {
		return nil, &ConflictError{Undone: "restored", Conflicts: conflicts}
	}
	return spans, nil
}

// conflict is why a file should not get back what it was, or nil.
func (p *span) conflict(ctx context.Context) *Conflict {
	c := &Conflict{Path: p.path}
	switch {
	case p.fault != nil:
		c.Why = p.fault.Error()
	case p.now.Same(p.before):
		return nil
	case p.before != nil && !p.kept(p.before):
		c.Why = "what it was is no longer kept"
	case p.before != nil && !p.whole(ctx):
		c.Why = "what it was is damaged in the history"
	case p.broken != "":
		c.Why, c.Forceable = p.broken, true
	case p.later != nil && !p.now.Same(p.after):
		c.Why, c.Forceable = p.later.ID+ofCall(p.later)+" wrote it since", true
	case !p.now.Same(p.after):
		c.Why, c.Forceable = "something else changed it since", true
	default:
		return nil
	}
	return c
}

// whole reports whether what the file was can be read to its end, undamaged.
func (p *span) whole(ctx context.Context) bool {
	if !p.before.Is(changes.File) {
		return true
	}
	r, err := p.contents.Content(p.before)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, changes.Cancellable(ctx, r))
	return errors.Join(err, r.Close()) == nil
}

// restoring writes the files of one call of [Store.Restore].
type restoring struct {
	history *Store
	of      string // the selection
	call    string // of all records, empty before the first
}

// restore gives one file back what it was. It returns the record also with an error,
// where the file may be what it was all the same.
func (r *restoring) restore(ctx context.Context, p *span) (id string, err error) {
	found, err := changes.Look(ctx, p.path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if !found.Node.Same(p.now) {
		return "", errors.New("it was changed while it was restored; try again")
	}
	var content io.Reader
	if p.before.Is(changes.File) {
		from, err := p.contents.Content(p.before)
		if err != nil {
			return "", err
		}
		defer func() { _ = from.Close() }() // it was read to its end, or in vain
		content = from
	}
	err = found.Put(ctx, p.before, content, func() (err error) {
		if id, err = r.keepNow(ctx, found, p); err == nil {
			r.history.moment("recorded")
		}
		return err
	})
	if err == nil {
		r.history.moment("done")
	}
	if err != nil && id != "" && !errors.Is(err, workspace.ErrUncertain) {
		return "", errors.Join(err, r.history.Void(id)) //nolint:contextcheck // also where ctx has ended
	}
	return id, err
}

// keepNow records a restoring, with what the file is now.
func (r *restoring) keepNow(ctx context.Context, found *changes.Found, p *span) (string, error) {
	l := line{Record: Record{Kind: KindRestore, Call: r.call, Of: r.of, Path: p.path}}
	if p.before != nil {
		l.After = &Content{Kind: p.before.Kind, Hash: p.before.Hash, Size: p.before.Size, Target: p.before.Target}
	}
	if !found.Node.Is(changes.File) {
		l.Before = found.Node
		return r.history.keep(ctx, l, nil)
	}
	now := changes.Cancellable(ctx, found.Reader())
	return r.history.keep(ctx, l, &former{now, found.Node.Size, found.Node.Mode, found.Node.Hash})
}
