package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// putHead says in the head file where the log now ends. Without it the log is
// whole all the same: whoever comes next finds the end by reading on.
func (l *Log) putHead() {
	l.written = formatHead(l.at)
	if _, err := l.head.WriteAt(l.written, 0); err != nil {
		l.written = nil
	}
}

// current reports whether nothing happened to the log since this process wrote
// to it: another writer moves the head on, and who takes the segment away leaves
// nothing at its path. It is asked before every line, so it asks the system for
// no more than that.
func (l *Log) current() bool {
	var text [headSize]byte
	if l.written == nil {
		return false
	}
	if _, err := l.head.ReadAt(text[:], 0); err != nil || string(text[:]) != string(l.written) {
		return false
	}
	info, err := os.Lstat(l.segment.Name())
	return err == nil && info.Size() == l.at.size && os.SameFile(info, l.opened)
}

// sameHead reports whether the head is still the file that is open.
func (l *Log) sameHead() bool {
	info, err := os.Lstat(l.head.Name())
	return err == nil && os.SameFile(info, l.headInfo)
}

// openHead opens the head file, or makes it, and reads it. A damaged one counts
// as missing: the end of the log is found by reading on.
func (l *Log) openHead() (p place, found bool, err error) {
	if l.head != nil {
		_ = l.head.Close() // it may have been replaced
		l.head = nil
	}
	l.head, l.headInfo, err = privatedir.OpenOwn(l.path(headName), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		l.head, l.headInfo, err = privatedir.OpenOwn(l.path(headName), os.O_RDWR|os.O_CREATE)
		return place{}, false, err
	}
	if err != nil {
		return place{}, false, err
	}
	p, damaged := readHead(l.head)
	return p, damaged == nil, nil
}
