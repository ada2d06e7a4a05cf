package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	logName  = "log.jsonl"
	lockName = "lock"
)

// place is where a content is kept.
type place struct {
	// offset and length are of its line in the log; length 0 is a file of its own.
	offset int64
	length int
	// bytes is what it takes.
	bytes int64
	// used is when it was last what a file was before a write.
	used time.Time
}

// index is what is known of a log that was read up to end.
type index struct {
	dir     string // of the history
	records []Record
	voided  map[string]bool
	places  map[string]place
	// last is the highest number of a record, and damaged how many lines are not
	// what was written.
	last, damaged int
	end           int64
	// torn says that the last line has no newline.
	torn bool
	// bytes is what all contents take.
	bytes int64
	// file is the one that was read.
	file os.FileInfo
}

// read reads what was appended since, or all of it where it is another file.
func (x *index) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if x.file == nil || !os.SameFile(x.file, info) || info.Size() < x.end {
		*x = index{dir: x.dir, voided: make(map[string]bool), places: make(map[string]place)}
	}
	x.file = info
	size := info.Size() - x.end
	if size == 0 {
		return nil
	}
	x.torn = false
	lines := bufio.NewReaderSize(io.NewSectionReader(f, x.end, size), int(min(size, maxLine)+1))
	for {
		text, err := lines.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // no line of ours is so long
			x.torn = true
			x.end += int64(len(text))
			text, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			// It may be in the middle of being written.
			x.torn = x.torn || len(text) > 0
			return nil
		}
		if err != nil {
			return err
		}
		x.torn = false
		x.take(text[:len(text)-1])
		x.end += int64(len(text))
	}
}

// take adds a line that begins at end.
func (x *index) take(text []byte) {
	l, ok := decode(text)
	if !ok {
		x.damaged++
		x.last++ // whatever its number was, none is given twice
		return
	}
	if l.Kind == kindVoid {
		x.voided[l.ID] = true
		return
	}
	x.last = max(x.last, number(l.ID))
	x.records = append(x.records, l.Record)
	if l.Before != nil {
		x.place(&l, len(text))
	}
}

// next is the number of the next record. What is left of a torn line has one too.
func (x *index) next() int {
	if x.torn {
		return x.last + 2
	}
	return x.last + 1
}

func (x *index) place(l *line, length int) {
	was, known := x.places[l.Before.Hash]
	at := was
	at.used = l.Time
	switch {
	case len(l.Inline) > 0: // also of one that is known: then that was damaged
		at = place{offset: x.end, length: length, bytes: was.bytes + int64(len(l.Inline)), used: l.Time}
	case known:
	default:
		info, err := os.Stat(blobPath(x.dir, l.Before.Hash))
		if err != nil {
			return // it is kept no longer
		}
		at.bytes = info.Size()
	}
	x.bytes += at.bytes - was.bytes
	x.places[l.Before.Hash] = at
}

// saved notes that a content is in a file of its own.
func (x *index) saved(hash string, size int64) {
	was := x.places[hash]
	x.bytes += size - was.bytes
	x.places[hash] = place{bytes: size, used: was.used}
}

// openLog opens the log for reading; nil is none yet.
func openLog(dir string) (*os.File, error) {
	f, _, err := privatedir.OpenOwn(filepath.Join(dir, logName), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// refresh reads what was appended to the log since.
func (x *index) refresh() error {
	f, err := openLog(x.dir)
	if err != nil || f == nil {
		return err
	}
	err = x.read(f)
	return errors.Join(err, f.Close())
}

// change opens the log, reads it to its end and calls do, which changes it. The lock is
// held.
func (x *index) change(do func(log *os.File) error) error {
	f, _, err := privatedir.OpenOwn(filepath.Join(x.dir, logName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if x.file == nil {
		err = atomicfile.SyncDir(x.dir) // it may have been made just now
	}
	if err == nil {
		err = x.read(f)
	}
	if err == nil {
		err = do(f)
	}
	return errors.Join(err, f.Close())
}

// append adds a line to the log for good. What cannot be written to its end is taken
// back.
func (x *index) append(f *os.File, l *line) error {
	text, err := l.encode()
	if err != nil {
		return err
	}
	if x.torn { // half a line that a crash left must not stand before this one
		text = append([]byte{'\n'}, text...)
	}
	size := x.file.Size()
	_, err = f.WriteAt(text, size)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return x.read(f)
}

// inline reads a content that stands in the log.
func inline(dir, hash string, at place) ([]byte, error) {
	f, err := openLog(dir)
	if err != nil || f == nil {
		return nil, errors.Join(err, ErrNotKept)
	}
	defer f.Close()
	text := make([]byte, at.length)
	if _, err := f.ReadAt(text, at.offset); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	l, ok := decode(text)
	if !ok || l.Before == nil || l.Before.Hash != hash || len(l.Inline) == 0 {
		return nil, ErrNotKept // the log was written anew meanwhile
	}
	return l.Inline, nil
}
