package filestate

import (
	"maps"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// maxFiles is how many files are kept, the latest used: each is looked at after every
// call that may have changed it.
const maxFiles = 1024

// Files is the read state of a session: what its model has seen of files, and what each
// file was like that any tool has read. The zero value knows no file. It is safe for
// concurrent use.
//
// It implements [capability.Knowledge] as if all results reached the model at once.
// Calls use a [Call] instead, which waits for that.
type Files struct {
	// Place returns where the content of a file is, in sessions that stage their writes;
	// nil is at the file's own path. It is set before the first use.
	Place func(path string) string

	mu    sync.Mutex
	files map[string]*file // by real path
	uses  uint64
	turn  uint64 // counts turns
	// unsaved is true if something was seen since the last [Files.Load].
	unsaved bool
}

var _ capability.Knowledge = (*Files)(nil)

// NextTurn begins a turn. Calls that a call makes belong to the turn of that call.
func (s *Files) NextTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
}

// Seen implements [capability.Knowledge]. Ranges that were seen overlapping overlap.
func (s *Files) Seen(path string) (capability.ReadState, bool) { return s.seen(path, nil) }

// Shown implements [capability.Knowledge].
func (s *Files) Shown(path, viewed string, seen capability.ReadState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.use(path)
	s.unsaved = true
	f.see(&seen, s.uses, viewed != "")
	if viewed != "" {
		f.addView(view{name: viewed, stamp: seen.Stamp, shown: s.turn})
	}
}

// Again implements [capability.Knowledge].
func (s *Files) Again(path, viewed string, stamp capability.Stamp) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[path]
	return f != nil && f.again(viewed, stamp, s.turn)
}

// Wrote implements [capability.Knowledge].
func (s *Files) Wrote(path string, seen capability.ReadState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.use(path)
	s.unsaved = true
	f.watch(&seen.Stamp)
	f.reset(seen.Stamp)
	f.read = true
	f.add(seen.Ranges, s.uses, true)
}

// Rewrote implements [capability.Knowledge]. If the model has seen the former content,
// the change will be reported to it.
func (s *Files) Rewrote(path string, stamp capability.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil && !f.shown {
		f.watch(&stamp)
	}
}

// Gone forgets the files in a directory that was removed, as its real path, so that their end is
// not reported as a change.
func (s *Files) Gone(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.files, func(path string, _ *file) bool { return paths.Below(path, dir) })
}

// watch has changes after the stamp reported. It begins when a call is about to show a
// file, so that a change within the turn is reported too.
func (s *Files) watch(path string, stamp *capability.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(path).watch(stamp)
}

// use returns the state of a file, a new one if needed. The caller holds the lock.
func (s *Files) use(path string) *file {
	if s.files == nil {
		s.files = make(map[string]*file)
	}
	s.uses++
	f := s.files[path]
	if f == nil {
		f = &file{}
		s.files[path] = f
	}
	f.used = s.uses
	if len(s.files) > maxFiles {
		dropOldest(s.files, f.used)
	}
	return f
}

// dropOldest drops a file that was used before the last use.
func dropOldest(files map[string]*file, last uint64) {
	oldest, read, used := "", true, last
	for path, f := range files {
		if f.used < last && compareAge(f.read, f.used, read, used) < 0 {
			oldest, read, used = path, f.read, f.used
		}
	}
	delete(files, oldest)
}

// seen returns what was seen of a file, later observations included.
func (s *Files) seen(path string, later []observation) (capability.ReadState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := with(s.files[path], later, s.uses)
	if !f.shown {
		return capability.ReadState{}, false
	}
	return f.state(), true
}

// stamp returns the stamp of what was seen of a file, later observations included.
func (s *Files) stamp(path string, later []observation) (capability.Stamp, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := with(s.files[path], later, s.uses)
	return f.stamp, f.shown
}

// with returns a copy of a file's state, nil for none, after later observations.
func with(known *file, later []observation, uses uint64) file {
	var f file
	if known != nil {
		f = *known
	}
	if len(later) == 0 {
		return f
	}
	f.ranges = slices.Clone(f.ranges)
	for i := range later {
		uses++
		if later[i].wrote {
			f.reset(later[i].state.Stamp)
			f.add(later[i].state.Ranges, uses, true)
			continue
		}
		f.see(&later[i].state, uses, later[i].view != "")
	}
	return f
}
