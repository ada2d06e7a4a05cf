package search

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

const (
	// maxDepth bounds how deep a tree is walked, and with it how many
	// directories are open at once.
	maxDepth = 512
	// maxQueued is how many tasks wait before a worker that finds more does
	// those itself.
	maxQueued = 4096
	// contentsShare is how many files one worker searches before another may take
	// some.
	contentsShare = 64
)

// walk goes through a tree with several workers. The fields up to visit are set
// by its user.
type walk struct {
	root  root
	judge capability.Judge
	// judgeDir judges directories and prepares the judgement of the files in them;
	// nil where judge is to be asked about each.
	judgeDir capability.JudgeDir
	workers  int
	// ignore says that ignore files are honoured.
	ignore bool
	// share is how many files one worker takes at a time.
	share int
	// in returns what is wanted of a directory, before anything in it is judged.
	in func(dir paths, g *ignores) chooser
	// visit is called for each file, by several goroutines at once.
	visit func(ctx context.Context, f file) error

	denied, unreadable atomic.Int64

	staged *staged // nil is nothing

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []task // taken from the end, so that few directories are open
	active int    // workers that may still queue something
	err    error  // the first failure; ends the walk
}

// run goes through the tree, and through what is staged in it.
func (w *walk) run(ctx context.Context) (err error) {
	if w.staged, err = findStaged(w.root); err != nil {
		return err
	}
	if w.root.node.Node.Exists() {
		err = w.runTree(ctx)
	}
	if err != nil {
		return err
	}
	return w.runStaged(ctx)
}

// runTree walks the tree to its end and returns the first failure.
func (w *walk) runTree(ctx context.Context) error {
	w.wake = sync.NewCond(&w.mu)
	stop := context.AfterFunc(ctx, func() { w.fail(interrupted(ctx)) })
	defer stop()
	w.queue = []task{{paths: paths{target: w.root.node.Target, resolved: w.root.node.Real}}}
	var wg sync.WaitGroup
	for range w.workers {
		wg.Go(func() { w.work(ctx) })
	}
	wg.Wait()
	w.mu.Lock() // against a cancellation that comes now
	defer w.mu.Unlock()
	for _, t := range w.queue { // what a failure left
		t.drop()
	}
	return w.err
}

func (w *walk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.wake.Broadcast()
}

// work takes tasks until none is left and nobody can add one.
func (w *walk) work(ctx context.Context) {
	entries := new(workspace.Entries)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 && w.active > 0 && w.err == nil {
			w.wake.Wait()
		}
		if len(w.queue) == 0 || w.err != nil {
			w.wake.Broadcast()
			return
		}
		t := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.active++
		w.mu.Unlock()
		err := w.do(ctx, t, entries)
		w.mu.Lock()
		w.active--
		if err != nil && w.err == nil {
			w.err = err
		}
	}
}

// add queues tasks in a directory, and does at once those that too many wait for.
func (w *walk) add(ctx context.Context, in *shared, tasks []task, entries *workspace.Entries) error {
	if len(tasks) == 0 {
		return nil
	}
	in.refs.Add(int64(len(tasks)))
	w.mu.Lock()
	room := min(len(tasks), max(0, maxQueued-len(w.queue)))
	w.queue = append(w.queue, tasks[:room]...)
	w.wake.Broadcast()
	w.mu.Unlock()
	for i, t := range tasks[room:] {
		if err := w.do(ctx, t, entries); err != nil {
			for _, left := range tasks[room+i+1:] {
				left.drop()
			}
			return err
		}
	}
	return nil
}

// do does a task. What entries held before is of no use afterwards.
func (w *walk) do(ctx context.Context, t task, entries *workspace.Entries) error {
	defer t.drop()
	if err := interrupted(ctx); err != nil {
		return err
	}
	if t.files != nil {
		return w.files(ctx, t)
	}
	dir, err := w.open(t)
	if err != nil || dir == nil {
		return err
	}
	defer dir.release()
	return w.entries(ctx, dir, t, entries)
}

// open opens a task's directory; nil where it is left out.
func (w *walk) open(t task) (*shared, error) {
	s := &shared{}
	s.refs.Store(1)
	if t.in == nil {
		_, s.plain = w.allowed(t) // that the root may be searched is settled
		dir, err := w.root.node.OpenDir()
		if err != nil {
			return nil, err
		}
		s.Dir = dir
		if w.ignore {
			s.ignores = parents(t.resolved, w.root.cwd)
		}
		return s, nil
	}
	ok, plain := w.allowed(t)
	if s.plain = plain; !ok {
		w.denied.Add(1)
		return nil, nil
	}
	if t.depth > maxDepth {
		w.unreadable.Add(1)
		return nil, nil
	}
	dir, err := t.in.OpenDir(t.name)
	if err != nil {
		w.miss(err)
		return nil, nil
	}
	s.Dir, s.ignores = dir, t.in.ignores
	return s, nil
}

// allowed judges a directory.
func (w *walk) allowed(t task) (ok bool, plain func(name string) bool) {
	if w.judgeDir != nil {
		return w.judgeDir(t.access(true))
	}
	return t.in == nil || w.judge(t.access(true)), nil
}

// entries goes through one directory.
func (w *walk) entries(ctx context.Context, dir *shared, t task, entries *workspace.Entries) error {
	batch, all, err := dir.First(entries)
	if w.ignore {
		dir.ignores = load(dir.ignores, dir.Dir, t.resolved, func(name string) bool {
			return !all || slices.ContainsFunc(batch, func(e workspace.Entry) bool { return strings.EqualFold(e.Name, name) })
		})
	}
	wanted := w.in(t.paths, dir.ignores)
	for {
		if err != nil {
			w.miss(err)
			return nil
		}
		if err := w.batch(ctx, dir, t, wanted, batch, entries); err != nil {
			return err
		}
		if err := interrupted(ctx); err != nil || all {
			return err
		}
		if batch, err = dir.Next(entries); errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// batch hands on what is wanted of some entries. The last of the files this worker
// visits itself.
func (w *walk) batch(ctx context.Context, dir *shared, t task, wanted chooser, batch []workspace.Entry, entries *workspace.Entries) error {
	var files []string
	var tasks []task
	for _, e := range batch {
		isDir := e.Kind == abi.KindDirectory
		switch {
		case !isDir && (e.Kind != abi.KindFile || w.staged.hides(t.paths, e.Name)), isVCS(e.Name), !wanted.want(e.Name, isDir):
		case isDir:
			tasks = append(tasks, task{in: dir, name: e.Name, paths: t.child(e.Name), depth: t.depth + 1})
		default:
			files = append(files, e.Name)
		}
	}
	for len(files) > w.share {
		tasks = append(tasks, task{in: dir, files: files[:w.share], paths: t.paths})
		files = files[w.share:]
	}
	if err := w.add(ctx, dir, tasks, entries); err != nil || len(files) == 0 {
		return err
	}
	return w.files(ctx, task{in: dir, files: files, paths: t.paths})
}

// files visits files of one directory.
func (w *walk) files(ctx context.Context, t task) error {
	for _, name := range t.files {
		if plain := t.in.plain; (plain == nil || !plain(name)) && !w.judge(t.child(name).access(false)) {
			w.denied.Add(1)
			continue
		}
		err := w.visit(ctx, file{dir: t.in.Dir, in: t.target, real: t.resolved, name: name})
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return interrupted(ctx)
		default:
			w.miss(err)
		}
	}
	return nil
}

// miss counts what could not be read, unless it is gone or was swapped meanwhile.
func (w *walk) miss(err error) {
	if !isGone(err) {
		w.unreadable.Add(1)
	}
}

// isGone reports whether an entry is no longer what its directory said, which is no
// failure of a walk.
func isGone(err error) bool {
	code := abi.CodeOf(err)
	return code == abi.CodeNotRegular || code == abi.CodeNotFound || code == abi.CodeNotDirectory
}
