package filewatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// gather is how long changes are gathered before they are told: editors
	// replace a file in several steps.
	gather = 100 * time.Millisecond
	// pollEvery is how often files are looked at whether or not the system told
	// of a change: network file systems tell of none, nor does a system that has
	// run out of watches.
	pollEvery = 5 * time.Second
	// patience is how long a watcher that listens later does without the system's
	// word, and lookEvery how often it looks meanwhile.
	patience  = time.Second
	lookEvery = 50 * time.Millisecond
)

// Watcher watches files until it is closed.
type Watcher struct {
	cancel context.CancelFunc
	done   chan struct{}
	deaf   *atomic.Pointer[error]
}

// Watch calls onChange after any of the files was changed, replaced, created or
// deleted, from one goroutine, until ctx is done or the watcher is closed. The
// files, and the directories that they lie in, need not exist yet. A path may be a
// directory, whose files count then.
//
// Which files those are is asked again with each look, from that goroutine, so that
// it may depend on what is there.
func Watch(ctx context.Context, files func() []string, onChange func()) *Watcher {
	return newWatching(files, onChange, pollEvery).start(ctx)
}

// WatchLater is [Watch] for processes of which most end soon: for the first second it
// looks at the files every 50 milliseconds, and asks the system to tell of changes only
// then. Until then a change that leaves a file's stamp as it was is not seen. Not to be
// told any more takes a process 10 ms and longer, also where it ends.
func WatchLater(ctx context.Context, files func() []string, onChange func()) *Watcher {
	w := notListening(files, onChange, lookEvery)
	w.later = patience
	w.last = w.look()
	return w.start(ctx)
}

// start has a goroutine watch until ctx is done or the result is closed.
func (w *watching) start(ctx context.Context) *Watcher {
	ctx, cancel := context.WithCancel(ctx)
	watcher := &Watcher{cancel: cancel, done: make(chan struct{}), deaf: &w.deaf}
	go func() {
		defer close(watcher.done)
		defer cancel()
		w.run(ctx)
	}()
	return watcher
}

// Close ends watching, and waits until no onChange runs any more: none is called
// after it. It may be called more than once, but not from onChange.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

// Err says why the system does not tell of every change, which is then seen within
// five seconds: mostly because there are more watches than it allows. It is nil where
// the system does, and may change with each look.
func (w *Watcher) Err() error {
	if err := w.deaf.Load(); err != nil {
		return *err
	}
	return nil
}

// Fixed are files that stay the same.
func Fixed(files ...string) func() []string { return func() []string { return files } }

// watching is the state of the watcher's goroutine.
type watching struct {
	list func() []string
	// files are those that are watched now.
	files    []string
	onChange func()
	poll     time.Duration
	gather   time.Duration
	last     stamps
	// later is after which time the system is asked to tell of changes, 0 where it was
	// asked at once.
	later time.Duration
	// notify is nil where the system tells of no changes.
	notify *fsnotify.Watcher
	// dirs are the directories that are watched, as they were then: one that was
	// moved away and made anew must be watched anew.
	dirs map[string]fs.FileInfo
	// deaf is why the system does not tell of every change; nil where it does.
	deaf atomic.Pointer[error]
	// touched says that the system told of a change to one of the files, which
	// counts also if its stamp has not changed.
	touched bool
}

func newWatching(files func() []string, onChange func(), poll time.Duration) *watching {
	w := notListening(files, onChange, poll)
	w.listen()
	w.last = w.look()
	return w
}

func notListening(files func() []string, onChange func(), poll time.Duration) *watching {
	return &watching{list: files, onChange: onChange, poll: poll, gather: gather, dirs: make(map[string]fs.FileInfo)}
}

// listen asks the system to tell of changes.
func (w *watching) listen() {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		w.deaf.Store(&err) // there is the poll
	}
	w.notify = notify
}

// told is what the system tells, and that it lost some of it.
func (w *watching) told() (<-chan fsnotify.Event, <-chan error) {
	if w.notify == nil {
		return nil, nil
	}
	return w.notify.Events, w.notify.Errors
}

func (w *watching) deafen() {
	if w.notify != nil {
		_ = w.notify.Close() // nothing more is wanted of it
	}
}

// look finds out which files there are to watch and how they are. First it watches
// their directories, so that what is made in one while it was not yet watched is
// seen now.
func (w *watching) look() stamps {
	w.files = w.files[:0]
	for _, file := range w.list() {
		w.files = append(w.files, filepath.Clean(file))
	}
	w.follow()
	return look(w.files)
}

func (w *watching) run(ctx context.Context) {
	defer w.deafen()
	poll := time.NewTicker(w.poll)
	defer poll.Stop()
	var soon, later <-chan time.Time
	if w.later > 0 {
		later = time.After(w.later)
	}
	for {
		events, lost := w.told()
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			w.note(e)
			soon = orAfter(soon, w.gather)
		case err := <-lost:
			w.touched = w.touched || err != nil
			soon = orAfter(soon, w.gather)
		case <-later:
			later = nil
			w.listen()
			poll.Reset(pollEvery)
			w.see(ctx)
		case <-poll.C:
			w.see(ctx)
		case <-soon:
			soon = nil
			w.see(ctx)
		}
	}
}

// orAfter is a timer that is running, or a new one.
func orAfter(running <-chan time.Time, d time.Duration) <-chan time.Time {
	if running != nil {
		return running
	}
	return time.After(d)
}

// note takes an event that may leave no trace in a stamp: a file written twice
// within the clock's tick.
func (w *watching) note(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	w.touched = w.touched || slices.ContainsFunc(w.files, func(file string) bool {
		return e.Name == file || filepath.Dir(e.Name) == file
	})
}

// see looks at the files and tells of a change. A file that comes to be watched
// is one.
func (w *watching) see(ctx context.Context) {
	now := w.look()
	changed := w.touched || !now.same(w.last)
	w.last, w.touched = now, false
	if changed && ctx.Err() == nil {
		w.onChange()
	}
}

// follow watches the directories that changes to the files would show in.
func (w *watching) follow() {
	if w.notify == nil {
		return
	}
	want := make(map[string]fs.FileInfo)
	for _, file := range w.files {
		for _, dir := range dirsOf(file) {
			if info, err := os.Stat(dir); err == nil {
				want[dir] = info
			}
		}
	}
	// The system has ended the watching of what was deleted or moved, also where what
	// is there now has its number.
	watched := w.notify.WatchList()
	for dir, was := range w.dirs {
		if now, ok := want[dir]; !ok || !os.SameFile(was, now) || !slices.Contains(watched, dir) {
			_ = w.notify.Remove(dir) // it may be gone, and its watch with it
			delete(w.dirs, dir)
		}
	}
	w.deaf.Store(nil)
	for dir, info := range want {
		if w.dirs[dir] != nil {
			continue
		}
		if err := w.notify.Add(dir); err == nil {
			w.dirs[dir] = info
		} else if !errors.Is(err, fs.ErrNotExist) { // it may have gone meanwhile
			err = fmt.Errorf("watching %s: %w", dir, err)
			w.deaf.Store(&err)
		}
	}
}

// dirsOf are the directories to watch for a file: where its name is, or will be,
// and where its links lead, or a link to nothing does; if it is a directory, itself.
func dirsOf(file string) []string {
	dirs := []string{existing(filepath.Dir(file))}
	if target, err := filepath.EvalSymlinks(file); err == nil && target != file {
		dirs = append(dirs, filepath.Dir(target))
	} else if to, err2 := os.Readlink(file); err != nil && err2 == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		dirs = append(dirs, existing(filepath.Dir(to)))
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		dirs = append(dirs, file)
	}
	return dirs
}

// existing is the nearest directory from one upwards that exists. Where watching a
// directory opens every file in it, as kqueue does, only the directory itself will
// do; the poll sees it come.
func existing(dir string) string {
	climb := runtime.GOOS == "linux" || runtime.GOOS == "windows"
	for climb && dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
