package filestate

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
	// RecordKind is the kind of the journal record that [Files.Save] is for.
	RecordKind = "files"
	// maxSavedFiles is how many files a record has, the latest used, and maxSavedBytes
	// its size: well below the limit of a journal's line.
	maxSavedFiles = 256
	maxSavedBytes = 128 << 10
)

// savedFile is what was seen of a file, in the journal. Views are not saved: whether a
// resumed conversation still holds them is not known.
type savedFile struct {
	Path       string       `json:"path"`
	Size       int64        `json:"size"`
	ModTime    time.Time    `json:"mod_time"`
	ChangeTime time.Time    `json:"change_time,omitzero"`
	Device     uint64       `json:"device,omitempty"`
	Inode      uint64       `json:"inode,omitempty"`
	Taken      time.Time    `json:"taken"`
	Ranges     []savedRange `json:"ranges,omitempty"`
}

type savedRange struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Hash []byte `json:"hash"`
}

// Save returns what was seen of files as the data of a journal record, for the next
// process that resumes the session; nil if nothing was seen since [Files.Load].
func (s *Files) Save() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unsaved {
		return nil
	}
	var paths []string
	for path, f := range s.files {
		if f.shown {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(s.files[b].used, s.files[a].used) })
	var out []json.RawMessage
	bytes := 0
	for _, path := range paths[:min(len(paths), maxSavedFiles)] {
		text, err := json.Marshal(saved(path, s.files[path]))
		if err != nil { // JSON cannot express one of the times
			continue
		}
		if bytes += len(text); bytes > maxSavedBytes {
			break
		}
		out = append(out, text)
	}
	return out
}

func saved(path string, f *file) savedFile {
	st := f.stamp
	out := savedFile{
		Path: path, Size: st.Size, ModTime: st.ModTime, ChangeTime: st.ChangeTime,
		Device: st.Device, Inode: st.Inode, Taken: st.Taken,
	}
	for _, r := range f.ranges {
		out.Ranges = append(out.Ranges, savedRange{From: r.From, To: r.To, Hash: r.Hash[:]})
	}
	return out
}

// Load adds what an earlier process saved: the whole record, or nothing if part of it
// is invalid.
func (s *Files) Load(record json.RawMessage) error {
	var files []savedFile
	if err := json.Unmarshal(record, &files); err != nil {
		return err
	}
	seen := make([]capability.ReadState, len(files))
	for i := range files {
		var err error
		if seen[i], err = files[i].state(); err != nil {
			return err
		}
	}
	for i := range slices.Backward(files) { // the latest used last
		s.watch(files[i].Path, &seen[i].Stamp)
		s.Shown(files[i].Path, "", seen[i])
	}
	s.unsaved = false
	return nil
}

func (f *savedFile) state() (capability.ReadState, error) {
	out := capability.ReadState{Stamp: capability.Stamp{
		Size: f.Size, ModTime: f.ModTime, ChangeTime: f.ChangeTime,
		Device: f.Device, Inode: f.Inode, Taken: f.Taken,
	}}
	if !filepath.IsAbs(f.Path) || f.Size < 0 {
		return out, fmt.Errorf("invalid file %q of %d bytes", f.Path, f.Size)
	}
	for _, r := range f.Ranges {
		if r.From < 0 || r.From >= r.To || r.To > f.Size || len(r.Hash) != len(capability.Range{}.Hash) {
			return out, fmt.Errorf("%s: invalid range: bytes %d to %d of %d", f.Path, r.From, r.To, f.Size)
		}
		out.Ranges = append(out.Ranges, capability.Range{From: r.From, To: r.To, Hash: [32]byte(r.Hash)})
	}
	return out, nil
}
