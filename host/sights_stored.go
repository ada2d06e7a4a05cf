package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/capability"
)

const (
	// recordFiles is the kind of the record that says what was seen of files.
	recordFiles = "files"
	// maxStoredFiles is how many files such a record is about, the latest used, and
	// maxStoredBytes what it may take together, well below what one line of a journal
	// may be.
	maxStoredFiles = 256
	maxStoredBytes = 128 << 10
)

// storedFile is what was seen of a file, in the journal. Views are not kept: what a
// conversation that goes on still holds is for whoever goes on with it to know.
type storedFile struct {
	Path       string        `json:"path"`
	Size       int64         `json:"size"`
	ModTime    time.Time     `json:"mod_time"`
	ChangeTime time.Time     `json:"change_time,omitzero"`
	Device     uint64        `json:"device,omitempty"`
	Inode      uint64        `json:"inode,omitempty"`
	Taken      time.Time     `json:"taken"`
	Ranges     []storedRange `json:"ranges,omitempty"`
}

type storedRange struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Hash []byte `json:"hash"`
}

// rememberSights writes down what was seen of files, for the next process that goes on
// with the session. A session that has no name of its own has no next one.
func (s *Session) rememberSights() {
	if s.options.ID == "" || s.stored.folder == nil {
		return
	}
	files := s.sights.latest()
	if files == nil {
		return
	}
	if err := s.remember(recordFiles, files); err != nil {
		s.host.options.Logger.Warn("what was read cannot be remembered: files must be read again before they are written", "session", s.id, "error", err)
	}
}

// latest are the files that are to be remembered, the latest used first; nil where
// that is nothing new.
func (s *seenFiles) latest() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fresh {
		return nil
	}
	var paths []string
	for path, f := range s.files {
		if f.shown {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(s.files[b].at, s.files[a].at) })
	var out []json.RawMessage
	bytes := 0
	for _, path := range paths[:min(len(paths), maxStoredFiles)] {
		text, err := json.Marshal(s.files[path].stored(path))
		if err != nil { // a time that JSON has no words for
			continue
		}
		if bytes += len(text); bytes > maxStoredBytes {
			break
		}
		out = append(out, text)
	}
	return out
}

func (f *seenFile) stored(path string) storedFile {
	st := f.stamp
	out := storedFile{
		Path: path, Size: st.Size, ModTime: st.ModTime, ChangeTime: st.ChangeTime,
		Device: st.Device, Inode: st.Inode, Taken: st.Taken,
	}
	for _, r := range f.ranges {
		out.Ranges = append(out.Ranges, storedRange{From: r.From, To: r.To, Hash: r.Hash[:]})
	}
	return out
}

// recallSights takes up what the last process remembered. What cannot be understood is
// left out: those files must be read again.
func (s *Session) recallSights() {
	records := s.recall(recordFiles)
	if len(records) == 0 {
		return
	}
	if err := s.sights.recall(records[len(records)-1]); err != nil {
		s.host.options.Logger.Warn("what an earlier process of the session had read is not known: its record is not understood", "session", s.id, "error", err)
	}
}

// recall takes up a record, all of it or nothing.
func (s *seenFiles) recall(record json.RawMessage) error {
	var files []storedFile
	if err := json.Unmarshal(record, &files); err != nil {
		return err
	}
	seen := make([]capability.Sight, len(files))
	for i := range files {
		var err error
		if seen[i], err = files[i].sight(); err != nil {
			return err
		}
	}
	for i := range slices.Backward(files) { // the latest used last
		s.watch(files[i].Path, &seen[i].Stamp)
		s.Shown(files[i].Path, "", seen[i])
	}
	s.fresh = false
	return nil
}

func (f *storedFile) sight() (capability.Sight, error) {
	out := capability.Sight{Stamp: capability.Stamp{
		Size: f.Size, ModTime: f.ModTime, ChangeTime: f.ChangeTime,
		Device: f.Device, Inode: f.Inode, Taken: f.Taken,
	}}
	if !filepath.IsAbs(f.Path) || f.Size < 0 {
		return out, fmt.Errorf("%q of %d bytes is no file", f.Path, f.Size)
	}
	for _, r := range f.Ranges {
		if r.From < 0 || r.From >= r.To || r.To > f.Size || len(r.Hash) != len(capability.Range{}.Hash) {
			return out, fmt.Errorf("%s: bytes %d to %d of %d are no range", f.Path, r.From, r.To, f.Size)
		}
		out.Ranges = append(out.Ranges, capability.Range{From: r.From, To: r.To, Hash: [32]byte(r.Hash)})
	}
	return out, nil
}
