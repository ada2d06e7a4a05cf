package filestate

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// maxOutdated is how many files one hint names.
const maxOutdated = 10

// Note records that a call read a file, under its real path, whether or not the model
// is shown it.
func (s *Files) Note(path string, ok *abi.ReadOK) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.use(path)
	f.read = true
	if f.watched && f.last != nil && f.last.size == ok.Size && f.last.modTime.UnixMilli() == ok.ModTime {
		return
	}
	f.watched, f.last = true, nil
	if info, err := lstat(path, s.Place); err == nil && info.Size() == ok.Size && info.ModTime().UnixMilli() == ok.ModTime {
		f.last = &snapshot{size: info.Size(), modTime: info.ModTime(), info: info}
	} // else it has changed since
}

// lstat looks at a file where its content is.
func lstat(path string, place func(string) string) (fs.FileInfo, error) {
	if place != nil {
		path = place(path)
	}
	return os.Lstat(path)
}

// outdated returns the files that have changed since they were read, the latest read
// first. Each change is reported once.
func (s *Files) outdated() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed []string
	for path, f := range s.files {
		if f.watched && f.changed(lstat(path, s.Place)) {
			changed = append(changed, path)
		}
	}
	slices.SortFunc(changed, func(a, b string) int { return cmp.Compare(s.files[b].used, s.files[a].used) })
	return changed
}

// OutdatedHint tells the model which files have changed since it read them; empty if
// none has.
func (s *Files) OutdatedHint() string {
	paths := s.outdated()
	if len(paths) == 0 {
		return ""
	}
	named := paths[:min(len(paths), maxOutdated)]
	text := "Files that were read earlier have changed since, so what was read of them is out of date: " + strings.Join(named, ", ")
	if more := len(paths) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ". Read them again before relying on their content."
}
