package history

import (
	"context"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

const (
	// maxMovedBytes and maxMovedFiles bound the contents of moved files that are kept at a command's end. The
	// other contents exist only at their new paths.
	maxMovedBytes, maxMovedFiles = 16 << 20, 2000
	// maxRead bounds the bytes that are read at a command's end. Files beyond it are identified by their stamps.
	maxRead = 1 << 30
)

// patience is how long [Watch.End] waits for the records.
const patience = 30 * time.Second

// End makes records of what the command changed, once it has ended. It returns a sentence on what is not kept,
// apart from directories that are left out; empty if everything is. If the work takes longer than patience, it
// continues after End has returned.
func (w *Watch) End(ctx context.Context) string {
	w.store.watches.Delete(w)
	said := make(chan string, 1)
	go func() { said <- w.end(ctx) }()
	select {
	case text := <-said:
		return text
	case <-time.After(patience):
		return "The history is still recording what the command changed, which takes long."
	}
}

func (w *Watch) end(ctx context.Context) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.settle(ctx)
		w.ended = true
	}
	if w.said == "" {
		return ""
	}
	return "The history is not complete for this command: " + w.said + "."
}

// settle makes records of all changes so far, and empties the watch for further ones.
func (w *Watch) settle(ctx context.Context) {
	if len(w.touched) == 0 && len(w.gaps.list) == 0 {
		return
	}
	lines := w.lines(ctx, false)
	said := w.gaps.told().String()
	if text := w.gaps.String(); text != "" {
		lines = append(lines, &line{Record: Record{Kind: KindCommand, Gaps: text}})
	}
	now := time.Now().UTC()
	for _, l := range lines {
		l.Call, l.Tool, l.Time, l.Watch = w.call.ID, w.call.Tool, now, w.ledger.id
	}
	err := w.store.addCommand(ctx, w, lines)
	if err == nil {
		err = w.ledger.end(w.store.dir.path)
	} else {
		said = joinGaps(said, "none of its changes can be kept: "+err.Error())
		w.ledger.leave()
	}
	if err != nil {
		w.store.contents.options.Logger.Warn("the history could not record what a command changed", "call", w.call.ID, "history", w.store.dir.path, "error", err)
	}
	w.said = joinGaps(w.said, said)
	w.store.release(w)
	clear(w.touched)
	clear(w.unsaved)
	w.gaps, w.ledger, w.bytes, w.places = gaps{}, ledger{}, 0, 0
}

func joinGaps(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// lines returns the records of what has changed, sorted by path. If looking is set, it keeps no content.
func (w *Watch) lines(ctx context.Context, looking bool) []*line {
	list := make([]*touched, 0, len(w.touched))
	for _, t := range w.touched {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *touched) int { return strings.Compare(a.path, b.path) })
	left := new(budget)
	left.Store(maxRead)
	found := lookAll(ctx, list, left)
	elsewhere := make(map[string]bool) // the hashes of unread files that still exist
	for i := range found {
		if isUnread(found[i].now) {
			elsewhere[found[i].now.Hash] = true
		}
	}
	var lines []*line
	moved := 0
	for i, t := range list {
		f := &found[i]
		if f.same {
			continue
		}
		if f.err != nil {
			w.gaps.add("it cannot be read", t.path)
			continue
		}
		if !t.saved() {
			moved++
			w.saveMoved(ctx, t, !looking && moved <= maxMovedFiles, left)
		}
		if t.losesBits(f) {
			w.gaps.add("its mode is kept only in part", t.path)
		}
		if t.was != nil && f.now != nil && t.was.Equal(f.now) || t.was == nil && f.now == nil {
			continue
		}
		before := t.was
		if !t.saved() {
			before = &changes.Node{Kind: changes.Other, What: "a file that is not kept"}
		}
		if t.lost != "" && !elsewhere[t.was.Hash] {
			w.gaps.add(t.lost, t.path)
		}
		lines = append(lines, &line{Record: Record{Kind: KindCommand, Path: t.path, Before: before, After: f.now}, Inline: t.inline})
	}
	return lines
}

// sofar returns records of what a running command has changed so far. The watch was read from the command's ledger.
func (w *Watch) sofar(ctx context.Context) []Record {
	lines := w.lines(ctx, true)
	out := make([]Record, 0, len(lines)+1)
	for _, l := range lines {
		l.Call, l.Tool, l.Time = w.call.ID, w.call.Tool, w.ledger.time
		out = append(out, l.Record)
	}
	return out
}

// saveMoved finds the content of a file that was moved. It keeps the content if keep is set and the limits allow it,
// and otherwise only identifies it by its hash or stamp.
func (w *Watch) saveMoved(ctx context.Context, t *touched, keep bool, left *budget) {
	for _, place := range slices.Backward(t.places) {
		s, err := spotOf(lookAt(place))
		if err != nil || s.file == nil {
			continue
		}
		if t.stamp.content(s.info) { // else it is another file
			err = w.saveAt(ctx, t, s, keep, left)
		}
		s.close()
		if err == nil && t.saved() {
			return
		}
	}
	if len(t.places) > 0 {
		w.gaps.add("its former content is gone", t.path)
	}
}

func (w *Watch) saveAt(ctx context.Context, t *touched, s spot, keep bool, left *budget) error {
	size := s.info.Size()
	if !left.spend(size) {
		t.stamp.name(t.was)
		return nil
	}
	f, err := s.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if keep && w.bytes+size <= maxMovedBytes && w.pack(t, f, size) == nil { //nolint:contextcheck // it is small, so packing it is not cancelled
		w.bytes += size
		return nil
	}
	t.was.Hash, t.was.Size, err = hashOf(ctx, f)
	return err
}

// budget is how many bytes may still be read at a command's end.
type budget struct{ atomic.Int64 }

// spend reports whether a file of a size may be read, and takes the size from the budget. A file that is too large
// to be kept is not read.
func (b *budget) spend(size int64) bool { return size <= maxKeptFile && b.Add(-size) >= 0 }

// looked is what is at a path after a command.
type looked struct {
	now  *changes.Node
	mode fs.FileMode
	same bool // nothing has changed
	err  error
}

// losesBits reports whether the mode changed in a way that a node cannot express: set-user-ID, set-group-ID or
// sticky bits, or a mode of 0000.
func (t *touched) losesBits(l *looked) bool {
	const more = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	if !t.was.Is(changes.File) && !t.was.Is(changes.Dir) {
		return false
	}
	was, now := fs.FileMode(t.stamp.Mode), l.mode
	if l.now == nil {
		return was&more != 0 || was.Perm() == 0
	}
	return was&more != now&more || (was.Perm() == 0) != (now.Perm() == 0)
}

// lookAll looks at all paths, in parallel.
func lookAll(ctx context.Context, list []*touched, left *budget) []looked {
	out := make([]looked, len(list))
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(list)/16) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				out[i] = list[i].look(ctx, left)
			}
		})
	}
	work.Wait()
	return out
}

// look finds out what is at the path now.
func (t *touched) look(ctx context.Context, left *budget) looked {
	s, err := spotOf(lookAt(t.path))
	switch {
	case err != nil && !isLoop(err):
		return looked{err: err}
	case s.file == nil: // also if a link has replaced a directory above
		return looked{same: t.was == nil}
	}
	defer s.close()
	if t.was != nil && (t.stamp.same(s.info) || !t.saved() && t.stamp.content(s.info) && t.stamp.Mode == uint32(s.info.Mode())) {
		return looked{same: true}
	}
	now := s.node()
	if now.Is(changes.File) {
		err = s.hash(ctx, now, left)
	}
	return looked{now: now, mode: s.info.Mode(), err: err}
}

// hash completes the node of a regular file with the hash of its content, or of its stamp if it is not read.
func (s spot) hash(ctx context.Context, n *changes.Node, left *budget) error {
	if !left.spend(s.info.Size()) {
		stamp := stampOf(s.info)
		stamp.name(n)
		return nil
	}
	f, err := s.open()
	if err != nil {
		return err
	}
	defer f.Close()
	n.Hash, n.Size, err = hashOf(ctx, f)
	return err
}
