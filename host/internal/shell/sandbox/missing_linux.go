//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/ownfiles"
)

const (
	// maxReturns is how often a name may be made within a span of time: whoever makes it more
	// often than that wants to win against undoing it.
	maxReturns  = 3
	returnsSpan = time.Minute
	// created are the events by which a name comes to be, and moved those by which a folder
	// is no more where it was.
	created    = unix.IN_CREATE | unix.IN_MOVED_TO
	folderGone = unix.IN_MOVE_SELF | unix.IN_DELETE_SELF
)

// missing are the protected names that do not exist when a command begins. No mount can hold
// them, so they are watched, and what is made there is undone at once.
//
// Whether the command made it or somebody else, the kernel does not tell. What this program
// makes for a person, it tells itself; see package ownfiles.
type missing struct {
	quarantine quarantine
	live       *live
	over       *overlays
	watched    []string // the names at the beginning

	mu     sync.Mutex
	names  map[string]*returns
	events *os.File
	// folders are those that are watched, by the numbers of the watches. Unwatched are the paths
	// where none is.
	folders   map[int32]*folder
	unwatched map[string]bool
	opened    []*folder // all that are to be closed
	undone    []Undone
	asides    map[string]*aside
	// begun says that the command was released, and ended that nothing of it runs.
	begun, ended bool
}

// returns are the times at which a name was made, the last ones.
type returns []time.Time

// more notes one more time, and reports whether that are too many.
func (r *returns) more(now time.Time) bool {
	*r = append(slices.DeleteFunc(*r, func(t time.Time) bool { return now.Sub(t) > returnsSpan }), now)
	return len(*r) >= maxReturns
}

// live are the commands of a host that run, in the order in which they began.
type live struct {
	mu   sync.Mutex
	list []*missing
	left time.Time // when the last one ended
}

func (l *live) add(m *missing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, m)
}

func (l *live) remove(m *missing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list, l.left = slices.DeleteFunc(l.list, func(o *missing) bool { return o == m }), time.Now()
}

// isLast reports whether a command is the last one that began, of those that may have made a
// name. What comes back again and again is taken for that one's: if it goes on when that has
// ended, it is the one's before. What that one made may still be told for a moment.
func (l *live) isLast(m *missing, path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.left) < movesTold {
		return false
	}
	for _, o := range slices.Backward(l.list) {
		if slices.Contains(o.watched, path) {
			return o == m
		}
	}
	return false
}

func newMissing(q quarantine, l *live, names []string, over *overlays) *missing {
	m := &missing{
		quarantine: q, live: l, over: over, watched: names, names: make(map[string]*returns), folders: make(map[int32]*folder),
		unwatched: make(map[string]bool), asides: make(map[string]*aside),
	}
	for _, path := range names {
		m.names[path] = new(returns)
		m.unwatched[filepath.Dir(path)] = true
	}
	return m
}

// begin begins to watch, and fails with [ErrChanged] if a name exists by now. Nothing is undone
// unless the command is released.
func (m *missing) begin() error {
	if len(m.names) == 0 {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watching for protected names: %w (the limit fs.inotify.max_user_instances may be reached)", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = os.NewFile(uintptr(fd), "inotify")
	if err := m.rewatch(); err != nil {
		return err
	}
	for path := range m.unwatched {
		return fmt.Errorf("%w: %s is no folder any more", ErrChanged, path)
	}
	for path := range m.names {
		if _, err := m.over.lstat(path); err == nil {
			return fmt.Errorf("%w: %s was made", ErrChanged, path)
		}
	}
	return nil
}

// rewatch watches the folders that are not. Those that are gone it leaves for later.
func (m *missing) rewatch() error {
	for path := range m.unwatched {
		dir, err := m.over.openFolder(path)
		if absent(err) {
			continue
		}
		if err == nil {
			err = m.add(dir)
		}
		if err != nil {
			return fmt.Errorf("watching %s for protected names: %w", path, err)
		}
		delete(m.unwatched, path)
	}
	return nil
}

// add watches a folder.
func (m *missing) add(dir *folder) error {
	raw, err := m.events.SyscallConn()
	if err != nil {
		return err
	}
	number := 0
	controlErr := raw.Control(func(events uintptr) {
		number, err = unix.InotifyAddWatch(int(events), descriptorPath(dir.fd), created|folderGone|unix.IN_ONLYDIR)
	})
	if err := errors.Join(err, controlErr); err != nil {
		dir.close()
		return err
	}
	m.folders[int32(number)], m.opened = dir, append(m.opened, dir)
	return nil
}

// release says that the command may run.
func (m *missing) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.events != nil && !m.begun {
		m.live.add(m)
	}
	m.begun = true
}

// watch undoes what is made, until the end. It calls lost with a name that comes back too often
// or cannot be undone.
func (m *missing) watch(lost func(Loss)) error {
	if m.events == nil {
		return nil
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := m.events.Read(buffer)
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("watching for protected names: %w", err)
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0])) //nolint:gosec // the kernel writes whole events
			end := unix.SizeofInotifyEvent + int(event.Len)
			name := string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:end], "\x00"))
			m.happened(event, name, lost)
			rest = rest[end:]
		}
	}
}

// happened deals with one event.
func (m *missing) happened(event *unix.InotifyEvent, name string, lost func(Loss)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	dir := m.folders[event.Wd]
	if event.Mask&(folderGone|unix.IN_IGNORED|unix.IN_Q_OVERFLOW) != 0 {
		if dir != nil {
			m.unwatched[dir.path] = true // another one may come to be there
		}
		m.compare(lost)
		return
	}
	for path, times := range m.names {
		// On some file systems the case of letters does not matter.
		if dir != nil && filepath.Dir(path) == dir.path && strings.EqualFold(filepath.Base(path), name) {
			again := times.more(time.Now())
			m.undo(dir, path, lost)
			if again && m.live.isLast(m, path) {
				lost(Loss{Path: path})
			}
		}
	}
}

// look is compare where a folder is gone: nobody tells of what is made in another one in its
// place, nor that it was removed, as it is held.
func (m *missing) look(lost func(Loss)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	for number, dir := range m.folders {
		var stat unix.Stat_t
		if unix.Fstat(dir.fd, &stat) == nil && stat.Nlink == 0 {
			delete(m.folders, number)
			m.unwatched[dir.path] = true
		}
	}
	if len(m.unwatched) > 0 {
		m.compare(lost)
	}
}

// compare undoes whatever exists, of which events may have been missed.
func (m *missing) compare(lost func(Loss)) {
	if m.ended {
		return
	}
	if err := m.rewatch(); err != nil {
		lost(Loss{Err: err})
	}
	for path := range m.names {
		for _, dir := range m.folders {
			if dir.path == filepath.Dir(path) {
				m.undo(dir, path, lost)
			}
		}
	}
}

// undo moves away what has a name in a folder. What this program made there itself stays, and
// from then on that name is not looked at any more.
func (m *missing) undo(dir *folder, path string, lost func(Loss)) {
	if ownfiles.Made(path) {
		delete(m.names, path)
		return
	}
	to, beside, err := m.quarantine.take(dir, filepath.Base(path))
	switch {
	case err != nil:
		lost(Loss{Path: path, Err: err})
	case to != "":
		if beside != nil {
			m.asides[to] = beside
		}
		m.undone = append(m.undone, Undone{path, to})
	}
}

// end undoes what is left, when nothing of the command runs any more.
func (m *missing) end() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.events == nil || m.ended {
		return nil
	}
	var faults []error
	if m.begun {
		m.compare(func(l Loss) { faults = append(faults, fmt.Errorf("undoing %s: %w", l.Path, l.Err)) })
		m.live.remove(m)
	}
	for i, u := range m.undone {
		if beside := m.asides[u.Kept]; beside != nil {
			m.undone[i].Kept = m.quarantine.carry(beside)
		}
	}
	m.ended = true
	for _, dir := range m.opened {
		dir.close()
	}
	go func() { _ = m.events.Close() }() // the kernel takes milliseconds, in which it tells of what others make
	return errors.Join(faults...)
}

// all is what was undone, each name once.
func (m *missing) all() []Undone {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Undone
	for _, u := range m.undone {
		if at := slices.IndexFunc(list, func(o Undone) bool { return o.Path == u.Path }); at >= 0 {
			list[at].Kept = u.Kept // the last one
			continue
		}
		list = append(list, u)
	}
	return list
}
