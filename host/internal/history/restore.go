package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	// Filled says that a directory was not removed, because it contains something else.
	Filled bool `json:"filled,omitempty"`
	// Lost says that a file stays as it is: its former content is not kept, its present content cannot be kept,
	// or it is or was a special file such as a pipe.
	Lost bool `json:"lost,omitempty"`
}

// Conflict says why a file is not restored. Forceable says that [RestoreOptions.Force] restores
// it all the same.
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
// Symbolic links are not followed. Files are replaced in one step, and get their former
// permission bits back, but no set-user-ID, set-group-ID or sticky bits. A file that was not
// there before is removed. Directories that a tool made for its files stay, and so do those
// that a command made, if they contain something else. A file that has its former content
// already is left as it is; its permission bits are restored only if a command changed it,
// because tools do not change them.
func (s *Store) Restore(ctx context.Context, sel Selection, o RestoreOptions) ([]Restored, error) {
	s.settleRunning(ctx)
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
	run := restoring{history: s, of: sel.String(), dry: o.DryRun, chains: make(map[string]*chain, len(chains))}
	for _, c := range chains {
		run.chains[c.path] = c
	}
	for some := range slices.Chunk(inOrder(spans), together) {
		if err := run.restore(ctx, some); err != nil {
			return run.out, errors.Join(err, run.closing.Shut(ctx))
		}
	}
	return run.out, run.closing.Shut(ctx)
}

// pin changes by how many restorings the contents of spans are needed. Those are not
// removed: keeping what the first files of a restoring are could otherwise remove what
// the others were.
func (s *Store) pin(spans []*span, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pinned := s.contents.pinned
	for _, p := range spans {
		if !p.before.Is(changes.File) {
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
		if span := c.spanOf(sel); span != nil { // nil: none of its writes was done
			spans = append(spans, span)
		}
	}
	links := make(map[string]bool) // paths of links that have replaced directories which are restored too
	for _, span := range spans {
		links[span.path] = span.now.Is(changes.Link) && span.before.Is(changes.Dir)
	}
	for _, span := range spans {
		if errors.Is(span.fault, changes.ErrElsewhere) && span.below(links) {
			span.fault = nil
		}
	}
	pair(spans)
	for _, span := range spans {
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

// below reports whether the path is in one of dirs, at any depth.
func (p *span) below(dirs map[string]bool) bool {
	for dir := filepath.Dir(p.path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}

// pair finds the files that were only renamed: these are renamed back.
func pair(spans []*span) {
	moved := make(map[string][]*span) // files that are to be removed, by hash
	for _, p := range spans {
		if p.fault == nil && p.before == nil && p.now.Is(changes.File) && p.now.Size > 0 {
			moved[p.now.Hash] = append(moved[p.now.Hash], p)
		}
	}
	for _, p := range spans {
		if p.fault != nil || p.now != nil || !p.before.Is(changes.File) || len(moved[p.before.Hash]) == 0 {
			continue
		}
		list := moved[p.before.Hash]
		at := max(0, slices.IndexFunc(list, func(q *span) bool { return filepath.Base(q.path) == filepath.Base(p.path) }))
		p.from = list[at]
		p.from.back = true
		moved[p.before.Hash] = slices.Delete(list, at, at+1)
	}
}

// conflict is why a file should not get back what it was, or nil.
func (p *span) conflict(ctx context.Context) *Conflict {
	c := &Conflict{Path: p.path}
	switch {
	case p.fault != nil:
		c.Why = p.fault.Error()
	case p.last.ID == "":
		c.Why = "the command that changes it still runs"
	case p.is(p.before):
		return nil
	case p.now.Is(changes.Other), p.before.Is(changes.Other):
		c.Why = "it is or was " + cmp.Or(p.before, p.now).String()
		c.Forceable = p.last.Kind == KindCommand // as in the next case
	case p.lost(ctx):
		c.Why = "what it was is no longer kept"
		c.Forceable = p.last.Kind == KindCommand // the command's other files can be restored without it
	case p.only():
		c.Why, c.Forceable = "it is the only copy of another file's content, and is too large to be kept", true
	case p.before.Is(changes.File) && !p.now.Same(p.before) && !p.whole(ctx):
		c.Why = "what it was is damaged in the history"
	case p.broken != "":
		c.Why, c.Forceable = p.broken, true
	case p.later != nil && !p.is(p.after):
		c.Why, c.Forceable = p.later.ID+ofCall(p.later)+" wrote it since", true
	case !p.is(p.after):
		c.Why, c.Forceable = "something else changed it since", true
	default:
		return nil
	}
	return c
}

// lost reports whether the former content is needed and no longer exists anywhere.
func (p *span) lost(ctx context.Context) bool {
	return p.before.Is(changes.File) && !p.now.Same(p.before) && p.from == nil && !p.kept(ctx, p.before)
}

// only reports whether the file is the only copy of another file's former content, which is too large to be kept:
// then it must not be removed or replaced.
func (p *span) only() bool {
	return isUnread(p.now) && !p.now.Same(p.before) && !p.back && p.contents.unread[p.now.Hash]
}

// modes reports whether permission bits are compared and restored: commands change them, tools do not.
func (p *span) modes() bool { return p.after != nil && p.after.Mode != 0 }

// is reports whether the file is equal to want now.
func (p *span) is(want *Content) bool {
	if p.modes() {
		return p.now.Equal(want)
	}
	return p.now.Same(want)
}

// fillsUp reports whether a directory that is to be removed contains anything that is not removed before it.
func (p *span) fillsUp(others []*span) bool {
	if !p.now.Is(changes.Dir) || p.before.Is(changes.Dir) {
		return false
	}
	d, err := os.Open(p.path)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return slices.ContainsFunc(names, func(name string) bool {
		path := filepath.Join(p.path, name)
		return !slices.ContainsFunc(others, func(o *span) bool { return o.path == path && o.before == nil })
	})
}

// inOrder returns spans in the order in which to restore them: directories before their contents, and removals
// last, innermost first.
func inOrder(spans []*span) []*span {
	byPath := make(map[string]*span, len(spans))
	list := make([]changes.Change, 0, len(spans))
	for _, p := range spans {
		byPath[p.path] = p
		list = append(list, changes.Change{Path: p.path, Before: p.now, After: p.before})
	}
	out := make([]*span, 0, len(spans))
	for _, c := range changes.Ordered(list) {
		out = append(out, byPath[c.Path])
	}
	return out
}

// whole reports whether what the file was can be read to its end, undamaged.
func (p *span) whole(ctx context.Context) bool {
	if !p.before.Is(changes.File) || p.from != nil {
		return true
	}
	r, err := p.contents.Content(ctx, p.before)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, changes.Cancellable(ctx, r))
	return errors.Join(err, r.Close()) == nil
}

// together is how many files are recorded with one fsync, before they are written.
const together = 64

// restoring writes the files of one call of [Store.Restore].
type restoring struct {
	history *Store
	of      string // the selection
	dry     bool
	chains  map[string]*chain // by path
	call    string            // of all records, empty before the first
	out     []Restored
	closing changes.Closing
}

// sweep removes what killed hosts left in a directory that is to be removed: former files under
// temporary names, whose contents are in the history. What it cannot remove stays, and so does the
// directory.
func (r *restoring) sweep(ctx context.Context, dir string) {
	entries, _ := os.ReadDir(dir) // see above
	for _, e := range entries {
		c := r.chains[filepath.Join(dir, workspace.TemporaryFor(e.Name()))]
		if c == nil || c.path == dir {
			continue
		}
		found, err := changes.Look(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		if slices.ContainsFunc(c.writes, func(w Change) bool { return found.Node.Same(w.Before) && c.kept(ctx, w.Before) }) {
			_ = found.Put(ctx, nil, nil, nil) // see above
		}
		_ = found.Close() // it was only read
	}
}

// one is a file that is to be restored, with its record and its metadata.
type one struct {
	*span
	item
	info workspace.Info
}

// restore restores some files. Their records are written with one fsync before.
func (r *restoring) restore(ctx context.Context, spans []*span) error {
	var list []*one
	defer func() {
		for _, o := range list {
			o.p.discard()
		}
	}()
	for _, p := range spans {
		if !r.dry && p.now.Is(changes.Dir) && !p.before.Is(changes.Dir) {
			r.sweep(ctx, p.path)
		}
		done := Restored{Path: p.path, To: p.before, Same: p.is(p.before)}
		done.Lost = !done.Same && (p.lost(ctx) || p.only() || p.now.Is(changes.Other) || p.before.Is(changes.Other))
		if done.Same || done.Lost || r.dry || p.fillsUp(spans) {
			done.Filled = !done.Same && !done.Lost && !r.dry
			r.out = append(r.out, done)
			continue
		}
		o, err := r.prepare(ctx, p)
		if err != nil {
			return fmt.Errorf("restoring %s: %w", p.path, err)
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		return nil
	}
	if err := r.record(ctx, list); err != nil {
		return err
	}
	for i, o := range list {
		if err := r.put(ctx, o); err != nil {
			return errors.Join(fmt.Errorf("restoring %s: %w", o.path, err), r.void(list[i+1:])) //nolint:contextcheck // also if ctx has ended
		}
	}
	return nil
}

// prepare checks that a file is as it was seen, and packs its present content.
func (r *restoring) prepare(ctx context.Context, p *span) (_ *one, err error) {
	look := changes.Look
	if isUnread(p.now) {
		look = func(context.Context, string) (*changes.Found, error) { return changes.Find(p.path) }
	}
	d, err := look(ctx, p.path)
	if errors.Is(err, changes.ErrElsewhere) && p.now == nil {
		d, err = &changes.Found{Path: p.path}, nil // a directory replaces the link before this file is restored
	}
	if err != nil {
		return nil, err
	}
	if isUnread(p.now) && d.Info.Stamp().Same(p.info.Stamp()) {
		d.Node = p.now
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if p.gone && d.Node == nil {
		d.Node = p.now // it was renamed back already
	}
	if !d.Node.Equal(p.now) {
		return nil, errChanged
	}
	o := &one{span: p, info: d.Info, item: item{l: &line{Record: Record{Kind: KindRestore, Of: r.of, Path: p.path, Before: d.Node}}}}
	if p.before != nil {
		after := *p.before
		if !p.modes() {
			after.Mode = 0
		}
		o.l.After = &after
	}
	if d.File == nil || isUnread(d.Node) { // nothing to keep, or too large
		return o, nil
	}
	now := changes.Cancellable(ctx, d.Reader())
	err = r.history.pack(ctx, &o.item, &former{now, d.Node.Size, d.Node.Mode, d.Node.Hash})
	return o, err
}

var errChanged = errors.New("it was changed while it was restored; try again")

// record writes the records of files that are about to be restored.
func (r *restoring) record(ctx context.Context, list []*one) error {
	items := make([]item, len(list))
	for i, o := range list {
		o.l.Call = r.call
		items[i] = o.item
	}
	if err := r.history.add(ctx, items...); err != nil {
		return r.history.unkept(ctx, list[0].path, err)
	}
	r.call = cmp.Or(r.call, list[0].l.Call)
	return nil
}

// put restores a file. If that fails, it takes the record back.
func (r *restoring) put(ctx context.Context, o *one) error {
	err := r.try(ctx, o)
	if err != nil && o.fillsUp(nil) { // something in it could not be removed, or is new
		r.out = append(r.out, Restored{Path: o.path, Filled: true})
		return r.void([]*one{o}) //nolint:contextcheck // also if ctx has ended
	}
	if err != nil && !errors.Is(err, workspace.ErrUncertain) {
		return errors.Join(err, r.void([]*one{o})) //nolint:contextcheck // also if ctx has ended
	}
	r.out = append(r.out, Restored{Path: o.path, To: o.before, ID: o.l.ID, Call: o.l.Call})
	return err
}

// try restores a file, if it is still as prepare found it. Its times may differ: files that were restored before it
// may lie in this directory, or be other hard links to this file.
func (r *restoring) try(ctx context.Context, o *one) (err error) {
	found, err := changes.Find(o.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if found.Node.Is(changes.File) && o.now.Is(changes.File) {
		if found.Node.Hash, found.Node.What = o.now.Hash, o.now.What; !found.Info.Stamp().Same(o.info.Stamp()) {
			held, err := found.Hash(ctx)
			if err != nil {
				return err
			}
			found.Node.Hash, found.Node.Size = held.Hash, held.Size
		}
	}
	if o.gone && found.Node == nil {
		return nil
	}
	if !found.Node.Equal(o.now) {
		return errChanged
	}
	if isUnread(found.Node) {
		found.Node.Hash = "" // Put compares it with nothing then
	}
	if o.from != nil {
		if err := o.moveBack(); err == nil || errors.Is(err, workspace.ErrUncertain) {
			r.history.moment("done")
			return err
		}
	}
	var content io.Reader
	if o.before.Is(changes.File) && !o.now.Same(o.before) {
		from, err := o.contents.Content(ctx, o.before)
		if err != nil {
			return err
		}
		defer from.Close()
		content = from
	}
	err = found.Put(ctx, r.closing.Open(o.path, o.before), content, func() error {
		r.history.moment("recorded")
		return nil
	})
	if err == nil {
		r.history.moment("done")
	}
	return err
}

// moveBack renames a file back to its former path.
func (p *span) moveBack() error {
	from, err := changes.Find(p.from.path)
	if err != nil {
		return err
	}
	_ = from.Close() // it was only looked at
	if !from.Info.Stamp().Same(p.from.info.Stamp()) {
		return errChanged
	}
	if err := moveAt(p.from.path, p.path); err != nil {
		return err
	}
	to, err := changes.Find(p.path)
	if err != nil {
		return fmt.Errorf("%w: %w", workspace.ErrUncertain, err)
	}
	defer to.Close()
	if !to.Info.Same(from.Info) { // something else was put at the old path in between
		return errors.Join(errChanged, moveAt(p.path, p.from.path))
	}
	p.from.gone = true
	if mode := p.before.Mode; mode != 0 && mode != to.Node.Mode {
		return to.File.Chmod(fs.FileMode(mode))
	}
	return nil
}

// void takes back the records of files that were not restored.
func (r *restoring) void(list []*one) (err error) {
	for _, o := range list {
		err = errors.Join(err, r.history.Void(o.l.ID))
	}
	return err
}
