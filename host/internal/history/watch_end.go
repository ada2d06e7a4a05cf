package history

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// What is kept of moved files at a command's end; of more it is only known where they lie.
const maxMovedBytes, maxMovedFiles = 16 << 20, 2000

// End makes records of what the command changed, which has ended. The sentence says what the history does
// not have of that; it is empty where it has all.
func (w *Watch) End(ctx context.Context) string {
	w.store.watches.Delete(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.settle(ctx)
		w.ended = true
	}
	if w.said == "" {
		return ""
	}
	return "The history does not have all that it changed: " + w.said + "."
}

// settle makes records of what was touched so far. What is touched from then on is as if for the first time.
func (w *Watch) settle(ctx context.Context) {
	if len(w.touched) == 0 && len(w.lacks.list) == 0 {
		return
	}
	lines := w.lines(ctx, false)
	text := w.lacks.String()
	if text != "" {
		lines = append(lines, &line{Record: Record{Kind: KindCommand, Lacks: text}})
	}
	now := time.Now().UTC()
	for _, l := range lines {
		l.Call, l.Tool, l.Time, l.Watch = w.call.ID, w.call.Tool, now, w.ledger.id
	}
	err := w.store.addCommand(ctx, w, lines)
	if err == nil {
		err = w.ledger.end(w.store.dir.path)
	} else {
		text = joinLacks(text, "nothing of it can be kept: "+err.Error())
		w.ledger.leave()
	}
	if err != nil {
		w.store.contents.options.Logger.Warn("the history does not have what a command changed", "call", w.call.ID, "history", w.store.dir.path, "error", err)
	}
	w.said = joinLacks(w.said, text)
	w.store.release(w)
	clear(w.touched)
	clear(w.unsaved)
	w.lacks, w.ledger, w.bytes = lacks{}, ledger{}, 0
}

// isNotDir reports whether something above is no directory any more.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func joinLacks(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// lines are the records of what has changed, in the order of the paths. Looking keeps nothing.
func (w *Watch) lines(ctx context.Context, looking bool) []*line {
	list := make([]*touched, 0, len(w.touched))
	for _, t := range w.touched {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *touched) int { return strings.Compare(a.path, b.path) })
	found := lookAll(ctx, list)
	var lines []*line
	moved := 0
	for i, t := range list {
		f := &found[i]
		if f.same {
			continue
		}
		if f.err != nil {
			w.lacks.add("they cannot be looked at", t.path)
			continue
		}
		if !t.saved() {
			moved++
			w.saveMoved(ctx, t, !looking && moved <= maxMovedFiles)
		}
		if t.was != nil && f.now != nil && t.was.Equal(f.now) || t.was == nil && f.now == nil {
			continue
		}
		before := t.was
		if !t.saved() {
			before = &changes.Node{Kind: changes.Other, What: "a file that is not kept"}
		}
		lines = append(lines, &line{Record: Record{Kind: KindCommand, Path: t.path, Before: before, After: f.now}, Inline: t.inline})
	}
	return lines
}

// sofar are the records of what a command has changed that runs still, in another watch's ledger.
func (w *Watch) sofar(ctx context.Context) []Record {
	lines := w.lines(ctx, true)
	out := make([]Record, 0, len(lines)+1)
	for _, l := range lines {
		l.Call, l.Tool, l.Time = w.call.ID, w.call.Tool, w.ledger.time
		out = append(out, l.Record)
	}
	return out
}

// saveMoved finds out what a file held that was moved, and keeps it where it is not too much.
func (w *Watch) saveMoved(ctx context.Context, t *touched, keep bool) {
	for _, place := range slices.Backward(t.places) {
		f, err := openPlain(place)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err != nil || !t.stamp.content(info) {
			_ = f.Close() // it is another file
			continue
		}
		if keep && w.bytes+info.Size() <= maxMovedBytes {
			w.bytes += info.Size()
			err = w.pack(t, f, info.Size())
		}
		if !t.saved() {
			t.was.Hash, t.was.Size, err = hashOf(ctx, f)
		}
		_ = f.Close() // it was only read
		if err == nil {
			return
		}
	}
	if len(t.places) > 0 {
		w.lacks.add("what they were is gone", t.path)
	}
}

// looked is what lies at a path after a command.
type looked struct {
	now  *changes.Node
	same bool // nothing has changed
	err  error
}

// lookAll looks at all paths, some at a time.
func lookAll(ctx context.Context, list []*touched) []looked {
	out := make([]looked, len(list))
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(list)/16) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				out[i] = list[i].look(ctx)
			}
		})
	}
	work.Wait()
	return out
}

// look looks at what lies at the path now.
func (t *touched) look(ctx context.Context) looked {
	info, err := os.Lstat(t.path)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return looked{same: t.was == nil}
	}
	if err != nil {
		return looked{err: err}
	}
	if t.was != nil && (t.stamp.same(info) || !t.saved() && t.stamp.content(info) && t.stamp.Mode == uint32(info.Mode())) {
		return looked{same: true}
	}
	now, err := nodeOf(t.path, info)
	if err == nil && now.Is(changes.File) {
		err = hashAt(ctx, t.path, now)
	}
	return looked{now: now, err: err}
}

// hashAt completes what is known of a regular file.
func hashAt(ctx context.Context, path string, n *changes.Node) error {
	f, err := openPlain(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n.Hash, n.Size, err = hashOf(ctx, f)
	return err
}
