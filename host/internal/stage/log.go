package stage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	logName  = "log.jsonl"
	lockName = "lock"
)

// ErrDamaged is that what is staged is not known, since the stage's log is damaged.
var ErrDamaged = errors.New("the log of what is staged is damaged")

// index is what is known of a log that was read up to end.
type index struct {
	entries map[string]*Entry // by path
	// lines is how many were read, and damaged the number of the first that is not
	// what was written; 0 is none.
	lines, damaged int
	end            int64
	// file is the one that was read; nil is none yet.
	file os.FileInfo
}

// refresh reads what came to the log since.
func (x *index) refresh(dir string) error {
	path := filepath.Join(dir, logName)
	if x.file != nil { // most of the time nothing came, which costs one system call
		info, err := os.Lstat(path)
		if err == nil && os.SameFile(x.file, info) && info.Size() == x.end {
			return x.fault()
		}
	}
	f, _, err := privatedir.OpenOwn(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) && x.file == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what is staged: %w", err)
	}
	err = x.read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reading what is staged: %w", err)
	}
	return x.fault()
}

// fault is that of a log that cannot be gone by.
func (x *index) fault() error {
	if x.damaged == 0 {
		return nil
	}
	return fmt.Errorf("%w: line %d of it; toolquay stage discard --all begins anew", ErrDamaged, x.damaged)
}

// read reads the whole lines that came to the log. What follows the last newline may
// be in the middle of being written.
func (x *index) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if x.file == nil || !os.SameFile(x.file, info) || info.Size() < x.end {
		*x = index{entries: make(map[string]*Entry)}
	}
	x.file = info
	text := make([]byte, info.Size()-x.end)
	if _, err := io.ReadFull(io.NewSectionReader(f, x.end, int64(len(text))), text); err != nil {
		return err
	}
	for {
		one, rest, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			return nil
		}
		x.lines++
		if l, ok := decode(one); ok {
			x.take(&l)
		} else if x.damaged == 0 {
			x.damaged = x.lines
		}
		x.end += int64(len(one)) + 1
		text = rest
	}
}

func (x *index) take(l *line) {
	switch l.Kind {
	case kindReset:
		x.entries, x.damaged = make(map[string]*Entry), 0
	case kindApply, kindDiscard:
		delete(x.entries, l.Path)
	case kindStage:
		e := &Entry{Path: l.Path, Content: *l.Content, Base: l.Base, Tool: l.Tool, Time: l.Time, name: l.Name}
		if was := x.entries[l.Path]; was != nil {
			e.Calls = was.Calls
			was.past = append(was.past, was.Content.Hash)
			e.past = was.past // was is of no other use any more
		}
		if l.Call != "" {
			e.Calls = append(slices.Clip(e.Calls), l.Call)
		}
		x.entries[l.Path] = e
	}
}

// append adds a line to the log for good. The lock is held, and the log was read. Half
// a line that a crash left is cut off; what cannot be written to its end is too.
func (x *index) append(dir string, l *line) error {
	text, err := l.encode()
	if err != nil {
		return err
	}
	f, _, err := privatedir.OpenOwn(filepath.Join(dir, logName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	made := x.file == nil
	err = f.Truncate(x.end)
	if err == nil {
		_, err = f.WriteAt(text, x.end)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && made {
		err = atomicfile.SyncDir(dir)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(x.end), f.Close())
	}
	return errors.Join(x.read(f), f.Close())
}

func (x *index) list(sel Selection) []Entry {
	var out []Entry
	for path, e := range x.entries {
		if sel.has(path) {
			out = append(out, *e)
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
