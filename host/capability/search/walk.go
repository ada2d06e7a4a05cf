package search

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxDepth bounds how deep a tree is walked, and with it how many
	// directories are open at once.
	maxDepth = 512
	// batchSize is how many entries are read and handed on at a time.
	batchSize = 1024
	fileBatch = 64
	// maxQueued is how many tasks wait before a worker that finds more does
	// those itself.
	maxQueued = 4096
)

// file is one file a walk came to.
type file struct {
	dir  *workspace.Dir
	name string
	path string // as it was named: the root's target and what is below
}

// walk goes through a tree with several workers. The fields up to visit are set
// by its user.
type walk struct {
	root    root
	judge   capability.Judge
	workers int
	// ignore says that ignore files are honoured.
	ignore bool
	// want filters by path, real or as named, before anything is judged.
	want func(path, resolved string, dir bool, g *ignores) bool
	// visit is called for each file, by several goroutines at once.
	visit func(ctx context.Context, f file) error

	denied, unreadable atomic.Int64

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []task // taken from the end, so that few directories are open
	active int    // workers that may still queue something
	err    error  // the first failure; ends the walk
}

// task is one directory to walk, or some files of one to visit.
type task struct {
	in    *shared // nil for the root
	name  string
	files []string
	paths
	depth int
}

// paths are one directory's, as it was named and as it is.
type paths struct{ target, resolved string }

func (p paths) child(name string) paths {
	c := paths{target: join(p.target, name)}
	if c.resolved = c.target; p.resolved != p.target {
		c.resolved = join(p.resolved, name)
	}
	return c
}

func (p paths) access(tree bool) permissions.Access {
	return permissions.Access{Kind: permissions.AccessRead, Target: p.target, Real: p.resolved, Tree: tree}
}

// shared is an open directory that several tasks need.
type shared struct {
	*workspace.Dir
	ignores *ignores
	refs    atomic.Int64
}

func (s *shared) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.Close() // it was only read
	}
}

// run walks the tree to its end and returns the first failure.
func (w *walk) run(ctx context.Context) error {
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

func (t task) drop() {
	if t.in != nil {
		t.in.release()
	}
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
		err := w.do(ctx, t)
		w.mu.Lock()
		w.active--
		if err != nil && w.err == nil {
			w.err = err
		}
	}
}

// add queues a task, or does it at once where enough wait.
func (w *walk) add(ctx context.Context, t task) error {
	t.in.refs.Add(1)
	w.mu.Lock()
	if room := len(w.queue) < maxQueued; room {
		w.queue = append(w.queue, t)
		w.wake.Signal()
		w.mu.Unlock()
		return nil
	}
	w.mu.Unlock()
	return w.do(ctx, t)
}

func (w *walk) do(ctx context.Context, t task) error {
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
	return w.entries(ctx, dir, t)
}

// open opens a task's directory; nil where it is left out.
func (w *walk) open(t task) (*shared, error) {
	s := &shared{}
	s.refs.Store(1)
	if t.in == nil {
		dir, err := w.root.node.OpenDir()
		if err != nil {
			return nil, err
		}
		s.Dir = dir
		if w.ignore {
			s.ignores = load(parents(t.resolved, w.root.cwd), dir, t.resolved)
		}
		return s, nil
	}
	if !w.judge(t.access(true)) {
		w.denied.Add(1)
		return nil, nil
	}
	dir, err := t.in.OpenDir(t.name)
	if err != nil || t.depth > maxDepth {
		w.unreadable.Add(1)
		if err == nil {
			err = dir.Close()
		}
		_ = err // counted
		return nil, nil
	}
	s.Dir = dir
	if s.ignores = t.in.ignores; w.ignore {
		s.ignores = load(t.in.ignores, dir, t.resolved)
	}
	return s, nil
}

// entries goes through one directory.
func (w *walk) entries(ctx context.Context, dir *shared, t task) error {
	for {
		batch, err := dir.ReadDir(batchSize)
		if e := w.batch(ctx, dir, t, batch); e != nil {
			return e
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.unreadable.Add(1)
			}
			break
		}
		if err := interrupted(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) batch(ctx context.Context, dir *shared, t task, batch []fs.DirEntry) error {
	var files []string
	for _, e := range batch {
		name, kind := e.Name(), e.Type()
		if !kind.IsRegular() && !kind.IsDir() || isVCS(name) {
			continue
		}
		p := t.child(name)
		if !w.want(p.target, p.resolved, kind.IsDir(), dir.ignores) {
			continue
		}
		if kind.IsRegular() {
			files = append(files, name)
			continue
		}
		if err := w.add(ctx, task{in: dir, name: name, paths: p, depth: t.depth + 1}); err != nil {
			return err
		}
	}
	for len(files) > 0 {
		n := min(fileBatch, len(files))
		if err := w.add(ctx, task{in: dir, files: files[:n], paths: t.paths}); err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

func (w *walk) files(ctx context.Context, t task) error {
	for _, name := range t.files {
		p := t.child(name)
		if !w.judge(p.access(false)) {
			w.denied.Add(1)
			continue
		}
		err := w.visit(ctx, file{dir: t.in.Dir, name: name, path: p.target})
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return interrupted(ctx)
		case abi.CodeOf(err) == abi.CodeNotRegular: // swapped in meanwhile
		default:
			w.unreadable.Add(1)
		}
	}
	return nil
}
