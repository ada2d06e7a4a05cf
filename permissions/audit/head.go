package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// headSize is the size of the head file. It never changes, so that writing it
// anew needs no room on the disk.
const headSize = 256

// headFile is the format of the head: the last line that was written.
type headFile struct {
	Version int    `json:"version"`
	Seq     uint64 `json:"seq"`
	Hash    string `json:"hash"`
	Segment int    `json:"segment"`
	// Size is the segment's in bytes.
	Size int64 `json:"size"`
}

func formatHead(p place) []byte {
	text := fmt.Sprintf(`{"version":%d,"seq":%d,"hash":"%x","segment":%d,"size":%d}`, version, p.seq, p.hash, p.segment, p.size)
	return []byte(text + strings.Repeat(" ", headSize-1-len(text)) + "\n")
}

func parseHead(text []byte) (place, error) {
	var h headFile
	if err := json.Unmarshal(text, &h); err != nil {
		return place{}, err
	}
	p := place{position: position{seq: h.Seq}, segment: h.Segment, size: h.Size}
	if h.Version != version || h.Segment < 1 || h.Segment > maxSegment || h.Size < 0 ||
		len(h.Hash) != hexDigest || !unhex(&p.hash, []byte(h.Hash)) {
		return place{}, errors.New("it is not a head")
	}
	return p, nil
}

// readHead reads the head file; a missing one is fs.ErrNotExist.
func readHead(f io.ReaderAt) (place, error) {
	var text [headSize + 1]byte
	n, err := f.ReadAt(text[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return place{}, err
	}
	return parseHead(text[:n])
}

// head is the head file, open.
type head struct {
	file *os.File
	info fs.FileInfo // identifies the file
	// written is what this process last wrote to it; nil where the end of the log must be
	// found out anew.
	written []byte
}

// put says in the head file where the log now ends. Without it the log is
// whole all the same: whoever comes next finds the end by reading on.
func (h *head) put(end place) {
	h.written = formatHead(end)
	if _, err := h.file.WriteAt(h.written, 0); err != nil {
		h.written = nil
	}
}

// current reports whether the head is as this process wrote it: another writer moves it
// on. It is asked before every line, so it asks the system for no more than that.
func (h *head) current() bool {
	var text [headSize]byte
	if h.written == nil {
		return false
	}
	_, err := h.file.ReadAt(text[:], 0)
	return err == nil && string(text[:]) == string(h.written)
}

// same reports whether the head is still the file that is open.
func (h *head) same() bool {
	info, err := os.Lstat(h.file.Name())
	return err == nil && os.SameFile(info, h.info)
}

// open opens the head file, or makes it, and reads it. A damaged one counts
// as missing: the end of the log is found by reading on.
func (h *head) open(dir string) (p place, found bool, err error) {
	if h.file != nil {
		_ = h.file.Close() // it may have been replaced
		h.file = nil
	}
	path := filepath.Join(dir, headName)
	h.file, h.info, err = privatedir.OpenOwn(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		h.file, h.info, err = privatedir.OpenOwn(path, os.O_RDWR|os.O_CREATE)
		return place{}, false, err
	}
	if err != nil {
		return place{}, false, err
	}
	p, damaged := readHead(h.file)
	return p, damaged == nil, nil
}
