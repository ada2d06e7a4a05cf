package changes

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// LogName is the name of a [Log] in its directory.
const LogName = "log.jsonl"

// Log is a log file that several processes append lines to, under a lock that the callers take.
// The callers also add and check the checksum of each line, and keep what Take gets. It is for
// one goroutine at a time.
type Log struct {
	// Dir is the directory of the file, and Max the maximum length of a line in bytes.
	Dir string
	Max int
	// Reset is called before the file is read from its start, and when it was removed. Take is
	// called for each line, without its newline, and with its offset in the file. If a line is
	// longer than Max, Take gets only its first Max+1 bytes: no valid line is that long.
	Reset func()
	Take  func(text []byte, offset int64)

	end int64
	// file identifies the file that was read; nil if there was none.
	file os.FileInfo
}

// Exists reports whether the file existed when the log was last read.
func (l *Log) Exists() bool { return l.file != nil }

// Forget makes the next Refresh read the file from its start.
func (l *Log) Forget() { l.file, l.end = nil, 0 }

// Open opens the file for reading. It returns nil if the file does not exist.
func (l *Log) Open() (*os.File, error) {
	f, _, err := privatedir.OpenOwn(filepath.Join(l.Dir, LogName), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Refresh reads the lines that were added since the last read. If there are none, which is usual,
// it costs one system call.
func (l *Log) Refresh() error {
	if l.file != nil {
		info, err := os.Lstat(filepath.Join(l.Dir, LogName))
		if err == nil && os.SameFile(l.file, info) && info.Size() == l.end {
			return nil
		}
	}
	f, err := l.Open()
	if err != nil {
		return err
	}
	if f == nil {
		if l.file != nil { // it was removed
			l.Forget()
			l.Reset()
		}
		return nil
	}
	return errors.Join(l.read(f), f.Close())
}

// read reads the complete lines that were added. It leaves what follows the last newline: another
// process may still be writing it.
func (l *Log) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.end {
		l.end = 0
		l.Reset()
	}
	l.file = info
	size := info.Size() - l.end
	if size == 0 {
		return nil
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(f, l.end, size), int(min(size, int64(l.Max))+1))
	for {
		text, err := lines.ReadSlice('\n')
		length := int64(len(text))
		for errors.Is(err, bufio.ErrBufferFull) {
			var more []byte
			text = append([]byte(nil), text[:min(len(text), l.Max+1)]...)
			more, err = lines.ReadSlice('\n')
			length += int64(len(more))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text[len(text)-1] == '\n' {
			text = text[:len(text)-1]
		}
		l.Take(text, l.end)
		l.end += length
	}
}

// Append appends text, which is complete lines with their newlines, and syncs it to the disk: all
// of it or nothing. The caller holds the lock and has read the log. Append first cuts off half a
// line that a crash left. If it fails, it cuts off what it wrote.
func (l *Log) Append(text []byte) error {
	f, _, err := privatedir.OpenOwn(filepath.Join(l.Dir, LogName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	made := l.file == nil
	err = f.Truncate(l.end)
	if err == nil {
		_, err = f.WriteAt(text, l.end)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && made {
		err = atomicfile.SyncDir(l.Dir)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(l.end), f.Close())
	}
	return errors.Join(l.read(f), f.Close())
}
