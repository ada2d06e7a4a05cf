package search

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
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

// run goes through the tree with several workers, and through what is staged in it.
func (w *walk) run(ctx context.Context) error {
	staged, err := findStaged(w.root)
	if err == nil && w.root.node.OnDisk() {
		err = (&treeWalk{walk: w, staged: staged}).run(ctx)
	}
	if err != nil || staged == nil {
		return err
	}
	return (&stagedWalk{walk: w, staged: staged}).run(ctx)
}

// treeWalk is one walk under way.
type treeWalk struct {
	*walk
	staged *staged // nil is nothing

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []task // taken from the end, so that few directories are open
	active int    // workers that may still queue something
	err    error  // the first failure; ends the walk
}

// run walks the tree to its end and returns the first failure.
func (w *treeWalk) run(ctx context.Context) error {
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

func (w *treeWalk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.wake.Broadcast()
}

// work takes tasks until none is left and nobody can add one.
func (w *treeWalk) work(ctx context.Context) {
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
func (w *treeWalk) add(ctx context.Context, in *shared, tasks []task, entries *workspace.Entries) error {
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
func (w *treeWalk) do(ctx context.Context, t task, entries *workspace.Entries) error {
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
func (w *treeWalk) open(t task) (*shared, error) {
	s := &shared{}
	s.refs.Store(1)
	if t.in == nil {
		if w.judgeDir != nil {
			_, s.plain = w.mayEnter(t.paths) // that the root may be searched is settled
		}
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
	ok, plain := w.mayEnter(t.paths)
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

// entries goes through one directory.
func (w *treeWalk) entries(ctx context.Context, dir *shared, t task, entries *workspace.Entries) error {
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
func (w *treeWalk) batch(ctx context.Context, dir *shared, t task, wanted chooser, batch []workspace.Entry, entries *workspace.Entries) error {
	var files []string
	var tasks []task
	for _, e := range batch {
		isDir := e.Kind == abi.KindDirectory
		switch {
		case !isDir && e.Kind != abi.KindFile, w.staged.hides(t.paths, e.Name), isVCS(e.Name), !wanted.want(e.Name, isDir):
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
func (w *treeWalk) files(ctx context.Context, t task) error {
	for _, name := range t.files {
		f := file{dir: t.in.Dir, in: t.target, real: t.resolved, name: name}
		if err := w.file(ctx, t.paths, f, t.in.plain); err != nil {
			return err
		}
	}
	return nil
}
