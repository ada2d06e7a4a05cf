package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// State is what became of a write.
type State string

// The states, as people read them.
const (
	// StateDone is a write that was done, and StateNotDone one that was not, or not
	// yet: the file still is, or was found by the next write, as it was before.
	StateDone    State = "done"
	StateNotDone State = "not done"
	// StateChanged is that something else changed the file before anyone looked, so
	// that what the write left is nowhere, and nothing tells whether it was done.
	StateChanged State = "changed since"
	// StateRunning is a change by a command that is still running.
	StateRunning State = "running"
)

// Change is a record, and what became of it.
type Change struct {
	Record
	State State `json:"state"`
	// Kept says that the former content can be given back; of a file that was not
	// there nothing needs to be kept.
	Kept bool `json:"kept"`
}

// Selection names writes of a session. The zero value is all of them.
type Selection struct {
	// ID is one record's.
	ID string
	// Call is the id of the call that made them.
	Call string
	// Path is a file that was written, or a directory above some: absolute, clean.
	Path string
}

// String names a selection to people.
func (s Selection) String() string {
	var parts []string
	for _, part := range []struct{ lead, text string }{{"", s.ID}, {"call ", s.Call}, {"file ", s.Path}} {
		if part.text != "" {
			parts = append(parts, part.lead+part.text)
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, ", ")
}

func (s Selection) has(r *Record) bool {
	return (s.ID == "" || s.ID == r.ID) && (s.Call == "" || s.Call == r.Call) &&
		(s.Path == "" || s.Path == r.Path || changes.Below(r.Path, s.Path))
}

// chain is all that happened to one file, in order, with what it is now.
type chain struct {
	contents *source
	path     string
	writes   []Change
	// now is the file's content, nil where there is none, or else fault says why
	// it is not known.
	now   *Content
	fault error
	// info is the file's other metadata.
	info workspace.Info
}

// source reads former contents: from the history, from running commands, or from files that still have them.
type source struct {
	store *Store
	// moved maps the hash of a content to the paths where a write or a move has put it.
	moved map[string][]string
	// unread holds the hashes of former files that were not read because they are too large; see [stamp.name].
	unread map[string]bool
	// held maps the hashes of former contents that running commands keep to the compressed contents. They are
	// empty if they are in files of the history.
	held map[string][]byte
}

// Content is like [Store.Content], but also finds contents that running commands keep, and contents that are
// still in files.
func (s *source) Content(ctx context.Context, want *Content) (io.ReadCloser, error) {
	r, err := s.store.Content(want)
	if !errors.Is(err, ErrNotKept) {
		return r, err
	}
	switch inline, ok := s.held[want.Hash]; {
	case len(inline) > 0:
		return unpack(io.NopCloser(bytes.NewReader(inline)), want), nil
	case ok:
		if r, err := s.store.contents.open(want, place{}); err == nil {
			return r, nil
		}
	}
	for _, path := range s.moved[want.Hash] {
		if r, err := fromDisk(ctx, path, want); err == nil {
			return r, nil
		}
	}
	return nil, err
}

// chains reads the history of the files that a selection is about, those written
// last first.
func (s *Store) chains(ctx context.Context, sel Selection) ([]*chain, error) {
	contents := &source{store: s, moved: make(map[string][]string), unread: make(map[string]bool), held: make(map[string][]byte)}
	records, err := s.all(ctx, contents.held)
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]*chain)
	for i := range records {
		r := &records[i]
		if r.After.Is(changes.File) {
			contents.moved[r.After.Hash] = append(contents.moved[r.After.Hash], r.Path)
		}
		if isUnread(r.Before) {
			contents.unread[r.Before.Hash] = true
		}
	}
	var list []*chain
	for i := range records {
		if records[i].Path != "" && sel.has(&records[i]) && byPath[records[i].Path] == nil {
			byPath[records[i].Path] = &chain{contents: contents, path: records[i].Path}
		}
	}
	for i := range slices.Backward(records) { // the newest decides the order
		if c := byPath[records[i].Path]; c != nil {
			if c.writes == nil {
				list = append(list, c)
			}
			c.writes = append(c.writes, Change{Record: records[i]})
		}
	}
	for _, c := range list {
		slices.Reverse(c.writes)
		if c.see(ctx); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.judge(ctx)
	}
	return list, nil
}

// all returns the records, followed by those of running commands, which have no ids. It adds the contents that these
// commands keep to held.
func (s *Store) all(ctx context.Context, held map[string][]byte) ([]Record, error) {
	running, fault := s.catchUp(ctx)
	records, _, err := s.Records()
	if err != nil {
		return nil, errors.Join(err, fault)
	}
	for _, w := range running {
		for _, t := range w.touched {
			if t.was.Is(changes.File) && t.was.Hash != "" {
				held[t.was.Hash] = t.inline
			}
		}
		records = append(records, w.sofar(ctx)...)
	}
	return records, nil
}

// see finds out what is at the path now, and sets now, info and fault.
func (c *chain) see(ctx context.Context) {
	if c.now = c.seen(); c.now != nil {
		return
	}
	found, err := changes.Look(ctx, c.path)
	if err != nil {
		c.fault = err
		return
	}
	_ = found.Close() // nothing was written
	if found.Node != nil && !c.tells(found.Node.Kind) {
		c.fault = fmt.Errorf("it is %s now", found.Node)
		return
	}
	c.now, c.info = found.Node, found.Info
}

// seen returns the file that is there now, if its stamp identifies it as one that a record has: then it need not be
// read. Otherwise it returns nil.
func (c *chain) seen() *Content {
	known := func(want *Content, now *Content) bool { return isUnread(want) && want.Same(now) }
	if !slices.ContainsFunc(c.writes, func(w Change) bool { return isUnread(w.Before) || isUnread(w.After) }) {
		return nil
	}
	found, err := changes.Find(c.path)
	if err != nil {
		return nil
	}
	_ = found.Close() // nothing was written
	if !found.Node.Is(changes.File) {
		return nil
	}
	c.info = found.Info
	at := found.Info.Stamp()
	now := &Content{Mode: found.Node.Mode}
	nameUnread(now, at.Device, at.Inode, at.Size, at.ModTime.UnixNano())
	if !slices.ContainsFunc(c.writes, func(w Change) bool { return known(w.Before, now) || known(w.After, now) }) {
		return nil
	}
	return now
}

// tells reports whether the history can say something about a file of a kind: always of a
// regular file, and of another kind if a record has it.
func (c *chain) tells(kind changes.Kind) bool {
	return kind == changes.File || slices.ContainsFunc(c.writes, func(w Change) bool { return w.Before.Is(kind) || w.After.Is(kind) })
}

// judge finds out what became of each write.
func (c *chain) judge(ctx context.Context) {
	for i, state := range c.fates() {
		r := &c.writes[i]
		r.Kept = r.Before == nil || c.kept(ctx, r.Before)
		r.State = state
		switch {
		case r.Kind == KindCommand && r.ID == "":
			r.State = StateRunning
			continue
		case r.Kind == KindCommand:
			r.State = StateDone // its record was made after the change
			continue
		}
		if r.Before.Same(r.After) && c.found(i).Same(r.After) {
			r.State = StateDone // it changed nothing, so that both are true
		}
	}
}

// kept reports whether the path can be restored to want.
func (c *chain) kept(ctx context.Context, want *Content) bool {
	if !want.Is(changes.File) {
		return !want.Is(changes.Other)
	}
	r, err := c.contents.Content(ctx, want)
	return err == nil && r.Close() == nil
}

// found is what a file was after a write, as far as that was seen.
func (c *chain) found(i int) *Content {
	if i+1 < len(c.writes) {
		return c.writes[i+1].Before
	}
	return c.now
}

// List returns what was written of a selection, in order.
func (s *Store) List(ctx context.Context, sel Selection) ([]Change, error) {
	chains, err := s.chains(ctx, sel)
	if err != nil {
		return nil, err
	}
	records, _, err := s.Records()
	if err != nil {
		return nil, err
	}
	var out []Change
	for i := range records {
		if records[i].Gaps != "" && sel.has(&records[i]) {
			out = append(out, Change{Record: records[i], State: StateDone, Kept: true})
		}
	}
	for _, c := range chains {
		for i := range c.writes {
			if sel.has(&c.writes[i].Record) {
				out = append(out, c.writes[i])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return order(a.ID) - order(b.ID) })
	return out, nil
}

// order returns the sort key of a record: its number. Records without an id come last.
func order(id string) int {
	if id == "" {
		return math.MaxInt
	}
	return number(id)
}

// span is the part of a chain that a selection is about: what the file was before
// and after it.
type span struct {
	*chain
	before, after *Content
	last          *Change
	// broken says why the file did not simply go from before to after; later is the
	// write that follows, nil where there is none.
	broken string
	later  *Change
	// from is the span of the file that is to be renamed back to this path; nil is none. back says that the file
	// at this path is to be renamed back to another one, and gone that this was done.
	from       *span
	back, gone bool
}

// spanOf returns what a selection is about of a chain; nil is nothing, as nothing of
// it was done.
func (c *chain) spanOf(sel Selection) *span {
	done := make([]*Change, 0, len(c.writes))
	for i := range c.writes {
		if c.writes[i].State != StateNotDone {
			done = append(done, &c.writes[i])
		}
	}
	chosen := func(r *Change) bool { return sel.has(&r.Record) }
	from := slices.IndexFunc(done, chosen)
	if from < 0 {
		return nil
	}
	to := from
	for i := range done {
		if chosen(done[i]) {
			to = i
		}
	}
	s := &span{chain: c, before: done[from].Before, after: done[to].After, last: done[to]}
	if to+1 < len(done) {
		s.later = done[to+1]
	}
	for i, r := range done[from:to] {
		next := done[from+i+1]
		switch {
		case s.broken != "":
		case !chosen(next):
			s.broken = fmt.Sprintf("%s%s wrote it too in between", next.ID, ofCall(next))
		case !r.After.Same(next.Before):
			s.broken = fmt.Sprintf("something else changed it between %s and %s", r.ID, next.ID)
		}
	}
	return s
}

func ofCall(c *Change) string {
	if c.Call == "" {
		return ""
	}
	return " (call " + c.Call + ")"
}
