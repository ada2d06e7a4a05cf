package host

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// maxStale is how many files one hint names.
const maxStale = 10

// looks are what a file was like, by what costs no reading. A change within the
// clock's smallest step that leaves the size as it was goes unseen.
type looks struct {
	size    int64
	modTime time.Time
	// info tells files apart; nil where the file was not looked at since.
	info fs.FileInfo
}

// like reports whether a file still is what it was.
func (l *looks) like(now fs.FileInfo) bool {
	if now.Size() != l.size || !now.ModTime().Equal(l.modTime) || !now.Mode().IsRegular() {
		return false
	}
	return l.info == nil || os.SameFile(l.info, now)
}

// note remembers that a file was read, under its real path, whether or not the model
// is shown it.
func (s *seenFiles) note(path string, ok *abi.ReadOK) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.use(path)
	f.read = true
	if f.watched && f.was != nil && f.was.size == ok.Size && f.was.modTime.UnixMilli() == ok.ModTime {
		return
	}
	f.watched, f.was = true, nil
	if info, err := s.lstat(path); err == nil && info.Size() == ok.Size && info.ModTime().UnixMilli() == ok.ModTime {
		f.was = &looks{size: info.Size(), modTime: info.ModTime(), info: info}
	} // else it has changed since
}

// lstat looks at a file, where its content lies.
func (s *seenFiles) lstat(path string) (fs.FileInfo, error) {
	if s.place != nil {
		path = s.place(path)
	}
	return os.Lstat(path)
}

// watch has a change of the file told from now on: of what it was like when the stamp
// was taken.
func (f *seenFile) watch(stamp *capability.Stamp) {
	if !f.watched || f.was == nil || f.was.size != stamp.Size || !f.was.modTime.Equal(stamp.ModTime) {
		f.watched, f.was = true, &looks{size: stamp.Size, modTime: stamp.ModTime}
	}
}

// rewritten says that a call wrote a file without the model's learning what it holds.
// The model is told of the change where it has seen what was there.
func (s *seenFiles) rewritten(path string, stamp *capability.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil && !f.shown {
		f.watch(stamp)
	}
}

// stale returns the files that have changed since they were read, the latest read
// first. Each change is told once.
func (s *seenFiles) stale() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed []string
	for path, f := range s.files {
		if f.watched && f.changed(s.lstat(path)) {
			changed = append(changed, path)
		}
	}
	slices.SortFunc(changed, func(a, b string) int { return cmp.Compare(s.files[b].at, s.files[a].at) })
	return changed
}

// changed reports whether a file is not what it was, and from then on watches it as it
// is; one that is gone it does not watch.
func (f *seenFile) changed(now fs.FileInfo, err error) bool {
	if err != nil {
		f.watched, f.was = false, nil
		return true
	}
	same := f.was != nil && f.was.like(now)
	if !same || f.was.info == nil {
		f.was = &looks{size: now.Size(), modTime: now.ModTime(), info: now}
	}
	return !same
}

// staleHint tells the model which of the files it has read are not what it read any
// more, now that the call has ended; empty where there is nothing to tell. Calls
// that only read are not asked: what changed meanwhile was not their doing. Nor are
// those that a call makes, whose results no model sees: that call is.
func (c *call) staleHint() string {
	if c.traits.readOnly || c.turn.within != nil {
		return ""
	}
	paths := c.session().sights.stale()
	if len(paths) == 0 {
		return ""
	}
	named := paths[:min(len(paths), maxStale)]
	text := "Files that were read earlier have changed since, so what was read of them is out of date: " + strings.Join(named, ", ")
	if more := len(paths) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ". Read them again before relying on their content."
}
