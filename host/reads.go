package host

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

const (
	// maxReads is how many files are watched for changes, the latest read: each is
	// looked at after every call that may have changed it.
	maxReads = 1024
	// maxStale is how many files one hint names.
	maxStale = 10
)

// reads are the files that the model has read. The zero value is none. It is safe
// for concurrent use.
type reads struct {
	mu    sync.Mutex
	files map[string]*readFile
	count uint64
}

// readFile is a file as it was when it was last read, or last spoken of.
type readFile struct {
	at   uint64 // counts reads, to forget the oldest
	info fs.FileInfo
}

// note remembers that a file was read, under its real path.
func (r *reads) note(path string, ok abi.ReadOK) {
	info, err := os.Lstat(path)
	if err != nil || info.Size() != ok.Size || info.ModTime().UnixMilli() != ok.ModTime {
		info = nil // it has changed since
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = make(map[string]*readFile)
	}
	r.count++
	r.files[path] = &readFile{at: r.count, info: info}
	if len(r.files) > maxReads {
		r.forgetOldest()
	}
}

func (r *reads) forgetOldest() {
	oldest, at := "", r.count
	for path, f := range r.files {
		if f.at < at {
			oldest, at = path, f.at
		}
	}
	delete(r.files, oldest)
}

// stale returns the files that have changed since they were read, the latest read
// first. Each change is told once.
func (r *reads) stale() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	type change struct {
		path string
		at   uint64
	}
	var changed []change
	for path, f := range r.files {
		now, err := os.Lstat(path)
		if err == nil && f.info != nil && unchanged(f.info, now) {
			continue
		}
		changed = append(changed, change{path, f.at})
		if f.info = now; err != nil {
			delete(r.files, path) // there is nothing to compare with any more
		}
	}
	slices.SortFunc(changed, func(a, b change) int { return cmp.Compare(b.at, a.at) })
	paths := make([]string, len(changed))
	for i, c := range changed {
		paths[i] = c.path
	}
	return paths
}

// unchanged tells by what costs no reading. A change within the clock's smallest
// step that leaves the size as it was goes unseen.
func unchanged(was, now fs.FileInfo) bool {
	return was.Size() == now.Size() && was.ModTime().Equal(now.ModTime()) && was.Mode().Type() == now.Mode().Type() && os.SameFile(was, now)
}

// staleHint tells the model which of the files it has read are not what it read any
// more, now that the call has ended; empty where there is nothing to tell. Calls
// that only read are not asked: what changed meanwhile was not their doing.
func (c *call) staleHint() string {
	if c.traits.readOnly {
		return ""
	}
	paths := c.session().reads.stale()
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
